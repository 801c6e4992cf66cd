"""What the learners in self-play share: the forms they learn, when they are looked at, a command line."""

import argparse
from collections.abc import Iterator
from typing import Any, Protocol

import duels

# In chain without a limit any weakness costs almost everything, because the best opponent can wait for it.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "lights": ("lights", {}),
    "leap": ("leap", {}),
    "short-chain": ("chain", {"cells": 5, "run": 3, "max_boards": 2}),
    "chain": ("chain", {"max_boards": 2}),
}
"""By name, games and their options."""


class Learn(Protocol):
    """Learns a game; gives the steps taken and the policy, once so many are taken as each look wants.

    A step is a decision that is learned from. The policy is a table, without what it does to explore.
    """

    def __call__(
        self, game: str, looks: list[int], seed: int = 0, **options: Any
    ) -> Iterator[tuple[int, Any]]: ...


def looks_until(steps: int) -> list[int]:
    """0, and from 1,000 on three looks for every power of ten: 1, 2 and 5 times it."""
    return [
        0,
        *(first * 10**power for power in range(3, 10) for first in (1, 2, 5) if first * 10**power <= steps),
    ]


def grades(learn: Learn, form: str, steps: int, seed: int) -> Iterator[tuple[int, float]]:
    """The steps taken and the exploitability of the policy, at every look."""
    game, options = FORMS[form]
    for taken, policy in learn(game, looks_until(steps), seed, **options):
        yield taken, duels.exploitability(policy, game, **options)


def main(learn: Learn, described: str | None) -> None:
    """Let it learn, as the command line says, and print its exploitability at every look."""
    parser = argparse.ArgumentParser(
        description=described, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="lights", choices=FORMS)
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for taken, grade in grades(learn, arguments.game, arguments.steps, arguments.seed):
        print(f"{taken:>11,} steps: exploitability {grade:.4f}", flush=True)
