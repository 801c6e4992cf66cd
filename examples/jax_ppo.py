"""PPO in self-play, compiled as a whole with the games that it learns from, in the manner of PureJaxRL.

python examples/jax_ppo.py            lights, five seeds: the exploitability of each, 0 for perfect play
python examples/jax_ppo.py leap       another game that has tables

One function trains: rollouts, advantages and updates are scans in it, and `vmap` trains all seeds at once.
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
# Perfect play has to know what to do wherever it is led: much entropy makes sure that all positions are met.
TRACE, CLIP, ENTROPY, RATE = 0.7, 0.2, 0.1, 3e-3


class Played(NamedTuple):
    """One step of every game, as the player to move saw it."""

    observation: Any
    mask: Any
    action: Any
    log_odds: Any
    value: Any
    gained: Any
    """The reward of the player who moved."""
    over: Any
    same: Any
    """1 if the same player moves next, -1 if the other does."""


def initial(key: Any, sizes: tuple[int, ...]) -> Any:
    """The weights of a network with these layers."""
    keys = jax.random.split(key, len(sizes) - 1)
    make_weights = jax.nn.initializers.orthogonal(jnp.sqrt(2.0))
    layers = [make_weights(key, shape) for key, shape in zip(keys, pairwise(sizes), strict=True)]
    layers[-1] = layers[-1] * 0.01
    return [(weights, jnp.zeros(weights.shape[1])) for weights in layers]


def network(layers: Any, observation: Any, mask: Any) -> tuple[Any, Any]:
    """The logits of the legal actions, and the value of the position to the player who is to move."""
    hidden = observation.astype(jnp.float32)
    for weights, bias in layers[:-1]:
        hidden = jnp.tanh(hidden @ weights + bias)
    weights, bias = layers[-1]
    out = hidden @ weights + bias
    return jnp.where(mask, out[..., :-1], -1e9), jnp.tanh(out[..., -1])


def trainer(env: Env, updates: int) -> Any:
    """A function from a key to trained weights."""
    step = jax.vmap(auto_reset(env.step, env.init))
    optimiser = optax.chain(
        optax.clip_by_global_norm(0.5),
        optax.adam(optax.linear_schedule(RATE, 0.0, updates * EPOCHS * MINIBATCHES)),
    )

    def play(layers: Any, states: Any, key: Any) -> tuple[Any, Played]:
        for_actions, for_steps = jax.random.split(key)
        mask = states.legal_action_mask
        logits, value = network(layers, states.observation, mask)
        action = jax.random.categorical(for_actions, logits)
        log_odds = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
        after = step(states, action, jax.random.split(for_steps, ENVS))
        gained = jnp.take_along_axis(after.rewards, states.current_player[:, None], axis=1)[:, 0]
        same = jnp.where(after.current_player == states.current_player, 1.0, -1.0)
        over = after.terminated | after.truncated
        return after, Played(states.observation, mask, action, log_odds, value, gained, over, same)

    def advantages(played: Played, last: Any) -> Any:
        """Of every step to who moved: what comes after is worth the opposite where the other moves."""

        def back(carry: tuple[Any, Any], now: Played) -> tuple[tuple[Any, Any], Any]:
            ahead, value = carry
            goes_on = jnp.where(now.over, 0.0, now.same)
            advantage = now.gained + goes_on * value - now.value + goes_on * TRACE * ahead
            return (advantage, now.value), advantage

        return jax.lax.scan(back, (jnp.zeros(ENVS), last), played, reverse=True)[1]

    def loss(layers: Any, batch: tuple[Played, Any, Any]) -> Any:
        played, advantage, target = batch
        logits, value = network(layers, played.observation, played.mask)
        log_all = jax.nn.log_softmax(logits)
        log_odds = jnp.take_along_axis(log_all, played.action[:, None], axis=1)[:, 0]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = jnp.exp(log_odds - played.log_odds)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
        entropy = -(jnp.exp(log_all) * jnp.where(played.mask, log_all, 0.0)).sum(axis=1)
        return -gain.mean() + 0.5 * jnp.square(value - target).mean() - ENTROPY * entropy.mean()

    def learn(carry: Any, batch: Any) -> tuple[Any, None]:
        layers, memory = carry
        changes, memory = optimiser.update(jax.grad(loss)(layers, batch), memory)
        return (optax.apply_updates(layers, changes), memory), None

    def epoch(carry: Any, key: Any, batch: Any) -> Any:
        order = jax.random.permutation(key, ENVS * STEPS)
        parts = jax.tree.map(lambda part: part[order].reshape(MINIBATCHES, -1, *part.shape[1:]), batch)
        return jax.lax.scan(learn, carry, parts)

    def update(carry: Any, key: Any) -> tuple[Any, None]:
        layers, memory, states = carry
        for_play, for_epochs = jax.random.split(key)
        states, played = jax.lax.scan(
            lambda states, key: play(layers, states, key), states, jax.random.split(for_play, STEPS)
        )
        _, last = network(layers, states.observation, states.legal_action_mask)
        advantage = advantages(played, last)
        flat = jax.tree.map(
            lambda part: part.reshape(-1, *part.shape[2:]), (played, advantage, advantage + played.value)
        )
        (layers, memory), _ = jax.lax.scan(
            lambda carry, key: epoch(carry, key, flat), (layers, memory), jax.random.split(for_epochs, EPOCHS)
        )
        return (layers, memory, states), None

    def train(key: Any) -> Any:
        for_weights, for_games, for_updates = jax.random.split(key, 3)
        layers = initial(for_weights, (*env.observation_shape, HIDDEN, HIDDEN, env.num_actions + 1))
        states = jax.vmap(env.init)(jax.random.split(for_games, ENVS))
        carry = layers, optimiser.init(layers), states
        return jax.lax.scan(update, carry, jax.random.split(for_updates, updates))[0][0]

    return train


def learned(game: str, seeds: int, updates: int, **options: Any) -> list[float]:
    """The exploitability that every seed is left with."""
    keys = jnp.stack([jax.random.PRNGKey(seed) for seed in range(seeds)])
    trained = jax.jit(jax.vmap(trainer(make(game, **options), updates)))(keys)
    look = jax.jit(network)
    grades = []
    for seed in range(seeds):
        layers = jax.tree.map(lambda part, seed=seed: part[seed], trained)

        def agent(observations: Any, masks: Any, layers: Any = layers) -> Any:
            return np.asarray(look(layers, observations, masks.astype(bool))[0].argmax(axis=1))

        table = duels.table_of(agent, game, batch=True, **options)
        grades.append(float(duels.exploitability(table, game, **options)))
    return grades


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("game", nargs="?", default="lights")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=100)
    arguments = parser.parse_args()
    grades = learned(arguments.game, arguments.seeds, arguments.updates)
    steps = arguments.updates * ENVS * STEPS
    print(
        f"{arguments.game}, {steps:,} steps: exploitability {', '.join(f'{grade:.3g}' for grade in grades)}"
    )


if __name__ == "__main__":
    main()
