"""Random play in steps per second: our environments beside their peers, in one run on one machine.

Every case is measured for a moment in turn, over many rounds, by the wall clock. Its best round counts, so
that a busy moment of the machine rarely changes a ratio. Environments of one game are warmed up first, as are
the peers'. `--json FILE` stores the result; `docs/performance/build.py` makes the page from it.
"""

import argparse
import json
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from duels import vector
from duels.games import GAMES

BATCHES = (64, 1024, 16_384)
ROUNDS = 8
SECONDS = 0.1
WARM_UP = 150_000  # steps: environments of one game cache the positions they have met
PGX = ("tic_tac_toe", "connect_four")
AGAINST = 256  # games of the vector environment against `best`

BATCHED, PGX_BATCHED = "batched", "Pgx"
SINGLE, MANY = "against best", f"against best, {AGAINST} games"
PETTINGZOO, PETTINGZOO_OWN = "PettingZoo", "PettingZoo's tictactoe_v3"

Run = Callable[[], int]
"""Plays for a moment and returns the number of steps."""


@dataclass
class Case:
    """Something to measure, with the best speed so far in steps per second."""

    group: str
    name: str
    batch: int
    run: Run
    best: float = 0.0

    def warm_up(self) -> None:
        steps = 0
        while steps < WARM_UP:
            steps += self.run()

    def measure(self) -> None:
        steps, start = 0, time.perf_counter()
        while (taken := time.perf_counter() - start) < SECONDS:
            steps += self.run()
        self.best = max(self.best, steps / taken)


def step_batch(game: str, batch: int) -> Run:
    """Step a batch, with observations and masks in the batch's own arrays."""
    envs = vector.make(game, batch, copy=False)

    def run() -> int:
        envs.observe()
        envs.masks()
        envs.step(envs.sample())
        return batch

    return run


def step_pgx(name: str, batch: int) -> Run:
    """Step a batch of Pgx into donated arrays, with the random player of its documentation."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step_one = auto_reset(env.step, env.init)

    def step(state: Any, key: Any) -> Any:
        for_actions, for_steps = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(for_actions, logits, axis=-1)
        return jax.vmap(step_one)(state, actions, jax.random.split(for_steps, batch))

    advance = jax.jit(step, donate_argnums=0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))
    keys = [jax.random.PRNGKey(number) for number in range(64)]

    def run() -> int:
        nonlocal state
        state = jax.block_until_ready(advance(state, random.choice(keys)))
        return batch

    run()  # compiles
    return run


def step_gymnasium(game: str) -> Run:
    """Step one environment against `best`."""
    from duels.envs.gymnasium import DuelEnv

    env = DuelEnv(game, "best")
    _, info = env.reset(seed=0)

    def run() -> int:
        nonlocal info
        for _ in range(200):
            action = np.random.choice(np.flatnonzero(info["action_mask"]))
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return 200

    return run


def step_gymnasium_vector(game: str) -> Run:
    """Step the vector environment against `best`."""
    from duels.envs.gymnasium import DuelVectorEnv

    envs = DuelVectorEnv(game, AGAINST, "best")
    info = envs.reset(seed=0)[1]
    rng = np.random.default_rng(0)

    def run() -> int:
        nonlocal info
        masks = info["action_mask"]
        info = envs.step((masks * rng.random(masks.shape)).argmax(axis=1))[4]
        return AGAINST

    return run


def step_pettingzoo(env: Any) -> Run:
    """Run the loop of PettingZoo's own performance benchmark."""
    env.reset(seed=0)

    def run() -> int:
        for _ in range(100):
            for _agent in env.agent_iter(2):
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    action = None
                else:
                    action = random.choice(np.flatnonzero(observation["action_mask"]).tolist())
                env.step(action)
                if all(env.terminations.values()) or all(env.truncations.values()):
                    env.reset()
        return 200

    return run


def batched_cases() -> list[Case]:
    cases = [Case(MANY, game, AGAINST, step_gymnasium_vector(game)) for game in GAMES]
    for batch in BATCHES:
        cases += [Case(BATCHED, game, batch, step_batch(game, batch)) for game in GAMES]
        cases += [Case(PGX_BATCHED, peer, batch, step_pgx(peer, batch)) for peer in PGX]
    return cases


def single_cases() -> list[Case]:
    from pettingzoo.classic import tictactoe_v3

    from duels.envs import pettingzoo as ours

    cases = [Case(PETTINGZOO_OWN, "tictactoe_v3", 1, step_pettingzoo(tictactoe_v3.env()))]
    for game in GAMES:
        cases.append(Case(SINGLE, game, 1, step_gymnasium(game)))
        cases.append(Case(PETTINGZOO, game, 1, step_pettingzoo(getattr(ours, f"{game}_v0").env())))
    return cases


def summarize(cases: list[Case]) -> dict[str, Any]:
    """Return the ratios and speeds that the page shows."""
    speeds = {(case.group, case.name, case.batch): case.best for case in cases}
    fastest = {batch: max(speeds[PGX_BATCHED, peer, batch] for peer in PGX) for batch in BATCHES}
    own = speeds[PETTINGZOO_OWN, "tictactoe_v3", 1]
    return {
        "rounds": ROUNDS,
        "seconds": SECONDS,
        "games": [
            {
                "game": game,
                "by_pgx": {
                    str(batch): float(f"{speeds[BATCHED, game, batch] / fastest[batch]:.3g}")
                    for batch in BATCHES
                },
                "by_pettingzoo": float(f"{speeds[PETTINGZOO, game, 1] / own:.3g}"),
                "against_best": float(f"{speeds[SINGLE, game, 1]:.3g}"),
                "many_against_best": float(f"{speeds[MANY, game, AGAINST]:.3g}"),
            }
            for game in GAMES
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the result to this file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    singles = single_cases()
    for case in singles:
        case.warm_up()
    cases = batched_cases() + singles
    for _ in range(ROUNDS):
        for case in cases:
            case.measure()
    text = json.dumps(summarize(cases), indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
