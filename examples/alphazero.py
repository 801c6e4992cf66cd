"""AlphaZero in ten minutes: self-play with DeepMind's mctx, graded exactly.

python examples/alphazero.py                  lights, leap and a short chain, five seeds each
python examples/alphazero.py lights --seeds 1
python examples/alphazero.py --plot alphazero.svg

It prints the exploitability of the network, without search, after every tenth iteration.
"""

import argparse
import time
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import optax
from jax_ppo import initialize_weights, network

import duels
from duels.envs.jax import Env, auto_reset, make

GAMES, STEPS, SIMULATIONS, EPOCHS, BATCH, RATE = 256, 16, 16, 2, 512, 3e-3
HIDDEN = 128
OPTIMIZER = optax.adam(RATE)
RANDOM_MOVES = 0.4  # visits positions that good play avoids; the best opponent does not avoid them
FORMS: dict[str, dict[str, Any]] = {
    "lights": {},
    "leap": {},
    "chain": {"cells": 5, "run": 3, "max_boards": 2, "limit_ends": "draw"},
}


def expand(env: Env, layers: Any, key: Any, actions: Any, states: Any) -> tuple[Any, Any]:
    """Play an action in every search. `discount` is 1 where the same player moves again."""
    after = jax.vmap(env.step)(states, actions, jax.random.split(key, len(actions)))
    logits, values = network(layers, after.observation, after.legal_action_mask)
    rewards = jnp.take_along_axis(after.rewards, states.current_player[:, None], axis=1)[:, 0]
    output = mctx.RecurrentFnOutput(
        reward=rewards, discount=after.discount, prior_logits=logits, value=values
    )
    return output, after


def play(env: Env, layers: Any, states: Any, key: Any) -> tuple[Any, Any]:
    """Search and play one move in every game. Return the states after it, and what it teaches."""
    search_key, choice_key, random_key, step_key = jax.random.split(key, 4)
    logits, values = network(layers, states.observation, states.legal_action_mask)
    # After `auto_reset`, the flags are those of the game before. A search would take the new game for ended.
    ongoing = jnp.zeros(GAMES, bool)
    root = mctx.RootFnOutput(
        prior_logits=logits, value=values, embedding=states.replace(terminated=ongoing, truncated=ongoing)
    )
    searched = mctx.gumbel_muzero_policy(
        layers, search_key, root, partial(expand, env), SIMULATIONS, ~states.legal_action_mask
    )
    random_actions = jax.random.categorical(random_key, jnp.where(states.legal_action_mask, 0.0, -jnp.inf))
    is_random = jax.random.uniform(choice_key, (GAMES,)) < RANDOM_MOVES
    actions = jnp.where(is_random, random_actions, searched.action)
    after = jax.vmap(auto_reset(env.step, env.init))(states, actions, jax.random.split(step_key, GAMES))
    # AlphaZero learns from results. Random moves would distort those, so we learn from the search's values.
    qvalues = searched.search_tree.summary().qvalues
    value = jnp.take_along_axis(qvalues, searched.action[:, None], axis=1)[:, 0]
    return after, (states.observation, states.legal_action_mask, searched.action_weights, value)


def loss(layers: Any, batch: Any) -> Any:
    observations, masks, policies, targets = batch
    logits, values = network(layers, observations, masks)
    # The squared error of a value near 1 or -1 has almost no gradient, so wrong values would stay.
    won, target = (jnp.clip(values, -1 + 1e-6, 1 - 1e-6) + 1) / 2, (targets + 1) / 2
    value_loss = -(target * jnp.log(won) + (1 - target) * jnp.log(1 - won))
    return optax.softmax_cross_entropy(logits, policies).mean() + value_loss.mean()


@cache
def make_iteration(env: Env) -> Any:
    """Return a compiled function that plays STEPS moves in every game and learns from them."""

    def learn(carry: Any, batch: Any) -> tuple[Any, None]:
        layers, optimizer_state = carry
        updates, optimizer_state = OPTIMIZER.update(jax.grad(loss)(layers, batch), optimizer_state)
        return (optax.apply_updates(layers, updates), optimizer_state), None

    def iterate(layers: Any, optimizer_state: Any, states: Any, key: Any) -> Any:
        play_key, order_key = jax.random.split(key)
        states, examples = jax.lax.scan(partial(play, env, layers), states, jax.random.split(play_key, STEPS))
        flat = jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:]), examples)
        orders = jax.vmap(lambda key: jax.random.permutation(key, GAMES * STEPS))(
            jax.random.split(order_key, EPOCHS)
        ).reshape(-1, BATCH)
        batches = jax.tree.map(lambda part: part[orders], flat)
        (layers, optimizer_state), _ = jax.lax.scan(learn, (layers, optimizer_state), batches)
        return layers, optimizer_state, states

    return jax.jit(iterate)


def train(game: str, seed: int, iterations: int, every: int = 10) -> Iterator[tuple[int, float]]:
    """Yield the number of moves played and the exploitability, before training and while it lasts."""
    env = make(game, **FORMS[game])
    weights_key, init_key, key = jax.random.split(jax.random.key(seed), 3)
    layers = initialize_weights(weights_key, (*env.observation_shape, HIDDEN, HIDDEN, env.num_actions + 1))
    optimizer_state = OPTIMIZER.init(layers)
    states = jax.vmap(env.init)(jax.random.split(init_key, GAMES))
    for iteration in range(iterations + 1):
        if iteration % every == 0:
            yield iteration * GAMES * STEPS, grade(game, layers)
        layers, optimizer_state, states = make_iteration(env)(
            layers, optimizer_state, states, jax.random.fold_in(key, iteration)
        )


def grade(game: str, layers: Any) -> float:
    """Return the exploitability of the network's best action, without search."""

    def agent(observations: Any, masks: Any) -> Any:
        return np.asarray(network(layers, jnp.asarray(observations), masks.astype(bool))[0].argmax(axis=1))

    rules = {name: value for name, value in FORMS[game].items() if name != "limit_ends"}
    table = duels.table_of(agent, game, batch=True, **FORMS[game])
    return float(duels.exploitability(table, game, **rules))


def draw(curves: dict[str, list[list[tuple[int, float]]]], file: str) -> None:
    """Draw the curve of every seed, one game beside the other."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "duels"  # makes the file reproducible
    import matplotlib.pyplot as plt

    figure, row = plt.subplots(1, len(curves), figsize=(3 * len(curves), 3), sharey=True, squeeze=False)
    for axes, (game, seeds) in zip(row[0], curves.items(), strict=True):
        for seed in seeds:
            axes.plot(
                [moves / 1000 for moves, _ in seed], [grade for _, grade in seed], marker=".", alpha=0.7
            )
        axes.set(title=game, xlabel="thousand moves")
    row[0][0].set_ylabel("exploitability")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games", nargs="*", default=list(FORMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    curves: dict[str, list[list[tuple[int, float]]]] = {}
    for game in arguments.games:
        start = time.perf_counter()
        for seed in range(arguments.seeds):
            curve = list(train(game, seed, arguments.iterations))
            curves.setdefault(game, []).append(curve)
            print(f"{game}, seed {seed}: {' '.join(f'{grade:.3g}' for _, grade in curve)}", flush=True)
        print(f"{game}: {curve[-1][0]:,} moves per seed, {time.perf_counter() - start:.0f} seconds in all")
    if arguments.plot:
        draw(curves, arguments.plot)


if __name__ == "__main__":
    main()
