"""MaskablePPO on our environments: how long until an agent plays well, and what share the environment takes.

The time is that of `examples/masked_ppo.py` on lights and leap, over several seeds, until the exact
exploitability is below 0.01. The time of a grade is that of random play. The share is that of all calls to
`DuelEnv` in a run with MaskablePPO's default settings, in every game. `--json FILE` stores the result.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import masked_ppo

import duels
from duels.envs.gymnasium import DuelEnv
from duels.games import GAMES

LEARNED = ("lights", "leap")
SEEDS = range(5)
SMALL = 0.01
EVERY = masked_ppo.ENVS * masked_ppo.STEPS  # steps between two grades: one rollout
MAX_STEPS = 200_000  # a seed that needs more counts as failed
STEPS = 32_768  # of the run with default settings
GRADED: list[tuple[str, dict[str, Any]]] = [
    ("lights", {}),
    ("leap", {}),
    ("chain", {"cells": 5, "run": 3, "max_boards": 2}),
    ("chain", {"max_boards": 2}),
    ("hunt", {"cells": 3, "max_turns": 6}),
    ("hunt", {}),
]


def time_until_small(game: str, seed: int) -> dict[str, Any]:
    """Train until the exploitability is small, and return the CPU seconds of training without grading."""
    learning = masked_ppo.learn(game, list(range(EVERY, MAX_STEPS + 1, EVERY)), seed)
    seconds = 0.0
    while True:
        start = time.process_time()
        learned = next(learning, None)
        seconds += time.process_time() - start
        if learned is None:
            return {"game": game, "seed": seed, "steps": None, "seconds": seconds}
        steps, policy = learned
        if duels.exploitability(policy, game) < SMALL:
            return {"game": game, "seed": seed, "steps": steps, "seconds": seconds}


def time_grading(game: str, form: dict[str, Any]) -> dict[str, Any]:
    """Return the CPU seconds from an agent to its exploitability, and the width of the bounds."""

    def agent(observations: Any, masks: Any) -> Any:
        return masks / masks.sum(axis=1, keepdims=True)

    start = time.process_time()
    bounds = duels.exploitability_bounds(duels.table_of(agent, game, batch=True, **form), game, **form)
    seconds = time.process_time() - start
    return {"game": game, "form": form, "seconds": seconds, "width": bounds.high - bounds.low}


class TimedEnv(DuelEnv):
    """The environment with a clock around every call that the learner makes."""

    seconds = 0.0

    def reset(self, **how: Any) -> Any:
        with self._clock():
            return super().reset(**how)

    def step(self, action: Any) -> Any:
        with self._clock():
            return super().step(action)

    def action_masks(self) -> Any:
        with self._clock():
            return super().action_masks()

    @contextmanager
    def _clock(self) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds += time.process_time() - start


def share_of_environment(game: str) -> dict[str, Any]:
    """Run MaskablePPO with its default settings on one environment."""
    torch.set_num_threads(1)  # small networks gain nothing from more
    env = TimedEnv(game, "random")
    model = MaskablePPO("MlpPolicy", env, seed=0, device="cpu")
    start = time.process_time()
    model.learn(STEPS)
    return {"game": game, "share": env.seconds / (time.process_time() - start)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to this file")
    arguments = parser.parse_args()
    runs = [time_until_small(game, seed) for game in LEARNED for seed in SEEDS]
    for run in runs:
        print(run)
    shares = [share_of_environment(game) for game in GAMES]
    for row in shares:
        print("{game}: the environment takes {share:.1%} of the run".format(**row))
    grading = [time_grading(game, form) for game, form in GRADED]
    for row in grading:
        print("{game} {form}: graded in {seconds:.2f} s".format(**row))
    if arguments.json:
        result = {
            "small": SMALL,
            "max_steps": MAX_STEPS,
            "runs": runs,
            "shares": shares,
            "grading": grading,
        }
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
