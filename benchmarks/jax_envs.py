"""Random play in JAX, steps a second: our environments beside Pgx's, compiled by the same XLA in one run.

All are driven by the same random player, which is cheap: Pgx's own spends more time than a step takes on one
random number and two logarithms for every action. Every case is measured for a moment in turn, many rounds
over, and its best round counts. `--json FILE` keeps what was measured; `docs/performance/jax.py` tells it.
"""

import argparse
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from pgx.experimental import auto_reset as pgx_auto_reset

from duels.envs.jax import auto_reset, make
from duels.games import GAMES

BATCHES = (1, 64, 1024, 16_384)
ROUNDS = 8
SECONDS = 0.1
COMPARABLE = {**dict.fromkeys(GAMES, "tic_tac_toe"), "flip": "2048"}
"""The game of Pgx that each of ours is held to: small boards, or a board of one-hot tiles with chance."""

Run = Callable[[], int]  # plays for a while and says how many steps it was


@dataclass
class Case:
    """One thing to measure; `best` is steps a second."""

    group: str
    name: str
    batch: int
    run: Run
    best: float = 0.0

    def measure(self) -> None:
        steps, start = 0, time.perf_counter()
        while True:
            steps += self.run()
            taken = time.perf_counter() - start
            if taken > SECONDS:
                break
        self.best = max(self.best, steps / taken)


def choose(key: Any, masks: Any) -> Any:
    """[env] a legal action, from one random number an environment: the highest of its multiples."""
    actions = masks.shape[-1]
    factors = np.random.default_rng(0).integers(1 << 31, size=actions).astype(np.uint32) * 2 + 1
    bits = jax.random.bits(key, masks.shape[:-1], jnp.uint32)[..., None]
    drawn = ((bits ^ bits >> 15) * factors & np.uint32(0xFFFFFF00)) | np.arange(actions, dtype=np.uint32)
    return (jnp.where(masks, drawn, 0).max(axis=-1) & 0xFF).astype(jnp.int32)


def play(env: Any, step_one: Any, batch: int, count: int) -> Run:
    """Random play, games that end starting again: `count` steps of a batch in one compiled call."""

    def step(states: Any, key: Any) -> tuple[Any, None]:
        for_actions, for_steps = jax.random.split(key)
        actions = choose(for_actions, states.legal_action_mask)
        return jax.vmap(step_one)(states, actions, jax.random.split(for_steps, batch)), None

    def steps(states: Any, key: Any) -> Any:
        if count == 1:
            return step(states, key)[0]
        return jax.lax.scan(step, states, jax.random.split(key, count))[0]

    advance = jax.jit(steps)
    last = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))]
    keys = [jax.random.PRNGKey(number) for number in range(64)]

    def run() -> int:
        last[0] = jax.block_until_ready(advance(last[0], random.choice(keys)))
        return batch * count

    run()  # compiles
    return run


def cases() -> list[Case]:
    """Everything that is measured: whole rollouts, and steps that come back one by one."""
    found = []
    ours = [(name, env, auto_reset(env.step, env.init)) for name in GAMES for env in [make(name)]]
    names = dict.fromkeys(COMPARABLE.values())
    theirs = [(name, env, pgx_auto_reset(env.step, env.init)) for name in names for env in [pgx.make(name)]]
    for batch in BATCHES:
        for group, count in (("step by step", 1), ("rollout", 100 if batch <= 1024 else 20)):
            for name, env, step in (*ours, *theirs):
                found.append(Case(group, name, batch, play(env, step, batch, count)))
    return found


def ratios(measured: list[Case]) -> list[dict[str, Any]]:
    """Each of our games by the one of Pgx that it is held to, and by tic-tac-toe."""
    speeds = {(case.group, case.name, case.batch): case.best for case in measured}
    return [
        {
            "group": group,
            "game": name,
            "peer": peer,
            "batch": batch,
            "ratio": speed / speeds[group, peer, batch],
            "aim": 1 if peer == COMPARABLE[name] else None,
        }
        for (group, name, batch), speed in speeds.items()
        if name in GAMES
        for peer in dict.fromkeys((COMPARABLE[name], "tic_tac_toe"))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="keep everything")
    arguments = parser.parse_args()
    measured = cases()
    for _ in range(ROUNDS):
        for case in measured:
            case.measure()
    for case in measured:
        print(f"{case.group:<14}{case.name:<14}{case.batch:>8,}{case.best:>16,.0f} steps/s")
    held = ratios(measured)
    for row in held:
        verdict = "" if row["aim"] is None else "met" if row["ratio"] >= row["aim"] else "MISSED"
        named = f"{row['group']}, {row['game']} by {row['peer']}, batch of {row['batch']:,}"
        print(f"{named:<64}{row['ratio']:>8.2f}  {verdict}")
    if arguments.json:
        speeds = [
            {"group": case.group, "name": case.name, "batch": case.batch, "speed": float(f"{case.best:.4g}")}
            for case in measured
        ]
        for row in held:
            row["ratio"] = float(f"{row['ratio']:.3g}")
        told = {"rounds": ROUNDS, "seconds": SECONDS, "speeds": speeds, "ratios": held}
        arguments.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
