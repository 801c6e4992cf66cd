"""Steps per second of random play in JAX: our environments and Pgx's, in one run.

All are driven by the same random player, which is cheap: Pgx's own spends more time than a step takes on one
random number and two logarithms for every action. Everything runs on one core and counts by its CPU time;
cases of a kind are measured for a moment in turn, many rounds over, and the best call of each counts. So a
busy machine hardly changes the ratios. `--json FILE` stores the result.
"""

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from duels.envs.jax import auto_reset, make
from duels.games import GAMES

BATCHES = (64, 1024, 16_384)
ROUNDS = 20
SECONDS = 0.05
COMPARABLE = {**dict.fromkeys(GAMES, "tic_tac_toe"), "flip": "2048"}
"""The game of Pgx that each of ours is held to: small boards, or a board of one-hot tiles with chance."""


@dataclass
class Case:
    """One case: a call that makes a number of steps and returns their CPU time."""

    group: str
    name: str
    batch: int
    steps: int
    call: Callable[[], float]
    best: float = 0.0
    """Steps a second."""

    def measure(self) -> None:
        until = time.process_time() + SECONDS
        while True:
            self.best = max(self.best, self.steps / self.call())
            if time.process_time() > until:
                break


def choose(bits: Any, masks: Any) -> Any:
    """Return a legal action per environment, from one random number each."""
    actions = masks.shape[-1]
    factors = np.random.default_rng(0).integers(1 << 31, size=actions).astype(np.uint32) * 2 + 1
    mixed = (bits ^ bits >> 15)[:, None]
    drawn = (mixed * factors & np.uint32(0xFFFFFF00)) | np.arange(actions, dtype=np.uint32)
    return (jnp.where(masks, drawn, 0).max(axis=-1) & 0xFF).astype(jnp.int32)


def player(key: Any, masks: Any) -> tuple[Any, Any]:
    """Return legal actions and step keys, [env]."""
    bits = jax.random.bits(key, (len(masks), 3), jnp.uint32)
    return choose(bits[:, 0], masks), bits[:, 1:]


def make_single_step_calls(init: Any, step: Any, batch: int) -> Callable[[], float]:
    """Return calls that make one step of a batch, without the player's time."""
    advance, act = jax.jit(jax.vmap(step)), jax.jit(player)
    states = init(jax.random.split(jax.random.PRNGKey(0), batch))
    keys = _keys()

    def call() -> float:
        nonlocal states
        chosen = jax.block_until_ready(act(next(keys), states.legal_action_mask))
        start = time.process_time()
        states = jax.block_until_ready(advance(states, *chosen))
        return time.process_time() - start

    call()  # compiles
    return call


def rollouts(init: Any, step: Any, batch: int, count: int) -> Callable[[], float]:
    """Return calls that make `count` steps of a batch, compiled with the player."""

    def choose_and_step(states: Any, key: Any) -> tuple[Any, None]:
        return jax.vmap(step)(states, *player(key, states.legal_action_mask)), None

    advance = jax.jit(
        lambda states, key: jax.lax.scan(choose_and_step, states, jax.random.split(key, count))[0]
    )
    states = init(jax.random.split(jax.random.PRNGKey(0), batch))
    keys = _keys()

    def call() -> float:
        nonlocal states
        start = time.process_time()
        states = jax.block_until_ready(advance(states, next(keys)))
        return time.process_time() - start

    call()  # compiles
    return call


def _keys() -> Iterator[Any]:
    """Create keys in advance."""
    return itertools.cycle([jax.random.PRNGKey(number) for number in range(64)])


def environments() -> Iterator[tuple[str, Any, Any]]:
    """Return `init` and an auto-resetting `step` of every environment, by name."""
    # Importing Pgx starts XLA, which then takes a thread for every core it may use.
    import pgx
    from pgx.experimental import auto_reset as pgx_auto_reset

    for name in GAMES:
        env = make(name)
        yield name, jax.jit(jax.vmap(env.init)), auto_reset(env.step, env.init)
    for name in dict.fromkeys(COMPARABLE.values()):
        env = pgx.make(name)
        yield name, jax.jit(jax.vmap(env.init)), pgx_auto_reset(env.step, env.init)


def measure_cases() -> Iterator[Case]:
    """Measure single steps and whole rollouts."""
    envs = list(environments())
    for batch in BATCHES:
        count = 100 if batch <= 1024 else 20
        alone = [
            Case("step by step", name, batch, batch, make_single_step_calls(init, step, batch))
            for name, init, step in envs
        ]
        whole = [
            Case("rollout", name, batch, batch * count, rollouts(init, step, batch, count))
            for name, init, step in envs
        ]
        for comparable in (alone, whole):
            for _ in range(ROUNDS):
                for case in comparable:
                    case.measure()
            yield from comparable


def ratios(cases: list[Case]) -> list[dict[str, Any]]:
    """Return the speed of each of our games as a multiple of the comparable game of Pgx."""
    speeds = {(case.group, case.name, case.batch): case.best for case in cases}
    return [
        {
            "group": group,
            "game": name,
            "peer": COMPARABLE[name],
            "batch": batch,
            "ratio": float(f"{speed / speeds[group, COMPARABLE[name], batch]:.3g}"),
        }
        for (group, name, batch), speed in speeds.items()
        if name in GAMES
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the result to this file")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    text = json.dumps(
        {"rounds": ROUNDS, "seconds": SECONDS, "ratios": ratios(list(measure_cases()))}, indent=1
    )
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
