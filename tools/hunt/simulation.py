"""Simulated matches of hunt, as an independent measurement of exact results."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import fmean, stdev

from duels.core.match import Match, play_through
from duels.core.rules import A, Rules, S, Seat, V
from duels.solving.best_response import Policy
from duels.solving.oracle import Progress, no_progress

STANDARD_ERRORS = 4
"""The tolerance in standard errors. A correct value fails less than once in ten thousand runs."""


@dataclass(frozen=True)
class SampleMean:
    """The mean of independent samples and its standard error."""

    mean: float
    error: float

    @classmethod
    def from_samples(cls, samples: list[float]) -> "SampleMean":
        return cls(fmean(samples), stdev(samples) / sqrt(len(samples)))

    def agrees(self, exact: float) -> bool:
        """Return whether `exact` is within STANDARD_ERRORS standard errors of the mean."""
        return abs(self.mean - exact) <= STANDARD_ERRORS * self.error

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {STANDARD_ERRORS * self.error:.4f} ({STANDARD_ERRORS} standard errors)"


def simulate(
    rules: Rules[S, A, V],
    policies: Mapping[Seat, Policy[A, V]],
    games: int,
    seed: int | str,
    progress: Progress = no_progress,
) -> tuple[SampleMean, SampleMean]:
    """Play `games` matches. Return Player 1's mean score and the mean number of entries."""
    rng = Random(seed)
    scores, entries = [], []

    def decide(match: Match[S, A, V], seat: Seat) -> A:
        sight = match.sight(seat)
        return rng.choices(sight.actions, policies[seat](sight))[0]

    for game in range(games):
        if game % 100 == 0:
            progress(f"match {game:,} of {games:,}")
        *_, match = play_through(Match.start(rules), rng, decide)
        winner = match.outcome.winner if match.outcome else None
        scores.append(0.5 if winner is None else float(winner is Seat.ONE))
        entries.append(float(len(match.turns)))
    return SampleMean.from_samples(scores), SampleMean.from_samples(entries)
