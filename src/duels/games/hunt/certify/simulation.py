"""Plain simulation: whole matches through the rules, each side drawing from its policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from random import Random

from duels.core.match import Match, playing
from duels.core.rules import A, Rules, S, Seat, V
from duels.solving.best_response import Policy
from duels.solving.progress import Progress, quiet

ERRORS = 4
"""How many standard errors off a mean may be to be taken for right: farther by luck once in thousands."""


@dataclass(frozen=True)
class Sampled:
    """A mean of independent draws and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, draws: list[float]) -> "Sampled":
        mean = sum(draws) / len(draws)
        spread = sqrt(sum((value - mean) ** 2 for value in draws) / (len(draws) - 1))
        return cls(mean, spread / sqrt(len(draws)))

    @property
    def margin(self) -> float:
        """How far off an exact value may be to agree."""
        return ERRORS * self.error

    def agrees(self, exact: float) -> bool:
        """Whether `exact` is within the margin."""
        return abs(self.mean - exact) <= self.margin

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.margin:.4f} ({ERRORS} standard errors)"


@dataclass(frozen=True)
class Simulated:
    won: Sampled
    """Player 1's share of the points; a match without a winner counts one half."""
    entries: Sampled
    """How many actions a match has."""


def simulate(
    rules: Rules[S, A, V],
    policies: Mapping[Seat, Policy[A, V]],
    games: int,
    seed: int | str,
    progress: Progress = quiet,
) -> Simulated:
    """Play `games` matches."""
    rng = Random(seed)
    won, entries = [], []

    def decide(match: Match[S, A, V], seat: Seat) -> A:
        sight = match.sight(seat)
        return rng.choices(sight.actions, policies[seat](sight))[0]

    for number in range(games):
        if number % 100 == 0:
            progress(f"match {number:,} of {games:,}")
        *_, match = playing(Match.start(rules), rng, decide)
        winner = match.outcome.winner if match.outcome else None
        won.append(0.5 if winner is None else float(winner is Seat.ONE))
        entries.append(float(len(match.turns)))
    return Simulated(Sampled.of(won), Sampled.of(entries))
