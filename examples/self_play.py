"""Code that the self-play learners share: games with options, checkpoints, a command line."""

import argparse
from collections.abc import Iterator
from typing import Any, Protocol

import duels

# In chain without a limit, any weakness loses almost every game: a best response can wait for it.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "lights": ("lights", {}),
    "leap": ("leap", {}),
    "short-chain": ("chain", {"cells": 5, "run": 3, "max_boards": 2}),
    "chain": ("chain", {"max_boards": 2}),
}
"""Games and their options, by name."""


class Learn(Protocol):
    """Learns a game and yields the steps taken and the policy at every checkpoint.

    A step is a decision that the learner trains on. The policy is a table, without exploration.
    """

    def __call__(
        self, game: str, checkpoints: list[int], seed: int = 0, **options: Any
    ) -> Iterator[tuple[int, Any]]: ...


def checkpoints_until(steps: int) -> list[int]:
    """Return 0, 1000, 2000, 5000, 10000 and so on, up to `steps`."""
    return [
        0,
        *(digit * 10**power for power in range(3, 10) for digit in (1, 2, 5) if digit * 10**power <= steps),
    ]


def grades(learn: Learn, form: str, steps: int, seed: int) -> Iterator[tuple[int, float]]:
    """Yield the steps taken and the exploitability at every checkpoint."""
    game, options = FORMS[form]
    for taken, policy in learn(game, checkpoints_until(steps), seed, **options):
        yield taken, duels.exploitability(policy, game, **options)


def main(learn: Learn, description: str | None) -> None:
    """Parse the command line, train, and print the exploitability at every checkpoint."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="lights", choices=FORMS)
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for taken, grade in grades(learn, arguments.game, arguments.steps, arguments.seed):
        print(f"{taken:>11,} steps: exploitability {grade:.4f}", flush=True)
