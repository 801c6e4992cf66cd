"""PPO in self-play in the style of PureJaxRL: learner and games are compiled together.

python examples/jax_ppo.py            lights, five seeds: print the exploitability of each
python examples/jax_ppo.py leap       another game that has tables

Rollouts, advantages and updates are scans in one function. `vmap` trains all seeds at once.
"""

import argparse
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import duels
from duels.envs.jax import Env, auto_reset, make

ENVS, STEPS, EPOCHS, MINIBATCHES = 256, 32, 4, 4
HIDDEN = 64
# High entropy makes training visit all positions, which perfect play needs.
GAE_LAMBDA, CLIP, ENTROPY, RATE = 0.7, 0.2, 0.1, 3e-3


class Transition(NamedTuple):
    """One step of every game, as the player to move saw it."""

    observation: Any
    mask: Any
    action: Any
    log_prob: Any
    value: Any
    reward: Any
    """The reward of the player who moved."""
    done: Any
    turn_sign: Any
    """1 if the same player moves next, -1 if the opponent does."""


def initialize_weights(key: Any, sizes: tuple[int, ...]) -> Any:
    """Return initial weights of a network with these layers."""
    keys = jax.random.split(key, len(sizes) - 1)
    make_weights = jax.nn.initializers.orthogonal(jnp.sqrt(2.0))
    layers = [make_weights(key, shape) for key, shape in zip(keys, pairwise(sizes), strict=True)]
    layers[-1] = layers[-1] * 0.01
    return [(weights, jnp.zeros(weights.shape[1])) for weights in layers]


def network(layers: Any, observation: Any, mask: Any) -> tuple[Any, Any]:
    """Return the logits of the legal actions and the value to the player to move."""
    hidden = observation.astype(jnp.float32)
    for weights, bias in layers[:-1]:
        hidden = jnp.tanh(hidden @ weights + bias)
    weights, bias = layers[-1]
    outputs = hidden @ weights + bias
    return jnp.where(mask, outputs[..., :-1], -1e9), jnp.tanh(outputs[..., -1])


def trainer(env: Env, updates: int) -> Any:
    """Return a function from a key to trained weights."""
    step = jax.vmap(auto_reset(env.step, env.init))
    optimizer = optax.chain(
        optax.clip_by_global_norm(0.5),
        optax.adam(optax.linear_schedule(RATE, 0.0, updates * EPOCHS * MINIBATCHES)),
    )

    def play(layers: Any, states: Any, key: Any) -> tuple[Any, Transition]:
        action_key, step_key = jax.random.split(key)
        mask = states.legal_action_mask
        logits, value = network(layers, states.observation, mask)
        action = jax.random.categorical(action_key, logits)
        log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
        after = step(states, action, jax.random.split(step_key, ENVS))
        reward = jnp.take_along_axis(after.rewards, states.current_player[:, None], axis=1)[:, 0]
        turn_sign = jnp.where(after.current_player == states.current_player, 1.0, -1.0)
        done = after.terminated | after.truncated
        return after, Transition(states.observation, mask, action, log_prob, value, reward, done, turn_sign)

    def advantages(transitions: Transition, last_value: Any) -> Any:
        """Return the advantage of every step to its mover. The sign flips when the turn changes."""

        def accumulate(carry: tuple[Any, Any], transition: Transition) -> tuple[tuple[Any, Any], Any]:
            next_advantage, next_value = carry
            sign = jnp.where(transition.done, 0.0, transition.turn_sign)
            error = transition.reward + sign * next_value - transition.value
            advantage = error + sign * GAE_LAMBDA * next_advantage
            return (advantage, transition.value), advantage

        return jax.lax.scan(accumulate, (jnp.zeros(ENVS), last_value), transitions, reverse=True)[1]

    def loss(layers: Any, batch: tuple[Transition, Any, Any]) -> Any:
        transitions, advantage, target = batch
        logits, value = network(layers, transitions.observation, transitions.mask)
        log_probs = jax.nn.log_softmax(logits)
        log_prob = jnp.take_along_axis(log_probs, transitions.action[:, None], axis=1)[:, 0]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = jnp.exp(log_prob - transitions.log_prob)
        surrogate = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
        entropy = -(jnp.exp(log_probs) * jnp.where(transitions.mask, log_probs, 0.0)).sum(axis=1)
        return -surrogate.mean() + 0.5 * jnp.square(value - target).mean() - ENTROPY * entropy.mean()

    def learn(carry: Any, batch: Any) -> tuple[Any, None]:
        layers, optimizer_state = carry
        changes, optimizer_state = optimizer.update(jax.grad(loss)(layers, batch), optimizer_state)
        return (optax.apply_updates(layers, changes), optimizer_state), None

    def epoch(carry: Any, key: Any, batch: Any) -> Any:
        order = jax.random.permutation(key, ENVS * STEPS)
        parts = jax.tree.map(lambda part: part[order].reshape(MINIBATCHES, -1, *part.shape[1:]), batch)
        return jax.lax.scan(learn, carry, parts)

    def update(carry: Any, key: Any) -> tuple[Any, None]:
        layers, optimizer_state, states = carry
        play_key, epochs_key = jax.random.split(key)
        states, transitions = jax.lax.scan(
            lambda states, key: play(layers, states, key), states, jax.random.split(play_key, STEPS)
        )
        _, last_value = network(layers, states.observation, states.legal_action_mask)
        advantage = advantages(transitions, last_value)
        flat = jax.tree.map(
            lambda part: part.reshape(-1, *part.shape[2:]),
            (transitions, advantage, advantage + transitions.value),
        )
        (layers, optimizer_state), _ = jax.lax.scan(
            lambda carry, key: epoch(carry, key, flat),
            (layers, optimizer_state),
            jax.random.split(epochs_key, EPOCHS),
        )
        return (layers, optimizer_state, states), None

    def train(key: Any) -> Any:
        weights_key, games_key, updates_key = jax.random.split(key, 3)
        layers = initialize_weights(
            weights_key, (*env.observation_shape, HIDDEN, HIDDEN, env.num_actions + 1)
        )
        states = jax.vmap(env.init)(jax.random.split(games_key, ENVS))
        carry = layers, optimizer.init(layers), states
        return jax.lax.scan(update, carry, jax.random.split(updates_key, updates))[0][0]

    return train


def train_and_grade(game: str, seeds: int, updates: int, **options: Any) -> list[float]:
    """Train all seeds and return the exploitability of each."""
    keys = jnp.stack([jax.random.PRNGKey(seed) for seed in range(seeds)])
    trained = jax.jit(jax.vmap(trainer(make(game, **options), updates)))(keys)
    evaluate = jax.jit(network)
    grades = []
    for seed in range(seeds):
        layers = jax.tree.map(lambda part, seed=seed: part[seed], trained)

        def agent(observations: Any, masks: Any, layers: Any = layers) -> Any:
            return np.asarray(evaluate(layers, observations, masks.astype(bool))[0].argmax(axis=1))

        table = duels.table_of(agent, game, batch=True, **options)
        grades.append(float(duels.exploitability(table, game, **options)))
    return grades


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("game", nargs="?", default="lights")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=100)
    arguments = parser.parse_args()
    grades = train_and_grade(arguments.game, arguments.seeds, arguments.updates)
    steps = arguments.updates * ENVS * STEPS
    print(
        f"{arguments.game}, {steps:,} steps: exploitability {', '.join(f'{grade:.3g}' for grade in grades)}"
    )


if __name__ == "__main__":
    main()
