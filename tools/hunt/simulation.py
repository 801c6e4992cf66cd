"""Simulated matches of hunt."""

from collections.abc import Mapping, Sequence
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
) -> list[Match[S, A, V]]:
    """Play `games` matches."""
    rng = Random(seed)
    matches = []

    def decide(match: Match[S, A, V], seat: Seat) -> A:
        sight = match.sight(seat)
        return rng.choices(sight.actions, policies[seat](sight))[0]

    for game in range(games):
        if game % 100 == 0:
            progress(f"match {game:,} of {games:,}")
        *_, match = play_through(Match.start(rules), rng, decide)
        matches.append(match)
    return matches


def mean_score(matches: Sequence[Match[S, A, V]], seat: Seat) -> SampleMean:
    """Return the mean score of `seat`. An unfinished match counts one half."""
    winners = (match.outcome.winner if match.outcome else None for match in matches)
    return SampleMean.from_samples([0.5 if winner is None else float(winner is seat) for winner in winners])


def mean_length(matches: Sequence[Match[S, A, V]]) -> SampleMean:
    """Return the mean number of turns. A turn has two entries."""
    return SampleMean.from_samples([len(match.turns) / 2 for match in matches])
