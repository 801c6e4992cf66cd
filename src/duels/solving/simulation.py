"""Plain simulation: whole matches through the rules, each side drawing from its policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from duels.core.match import Match, draw
from duels.core.rules import CHANCE, A, Rules, S, Seat, V
from duels.solving.best_response import Policy


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

    def agrees(self, exact: float, errors: float = 4.0) -> bool:
        """Whether `exact` is within so many standard errors."""
        return abs(self.mean - exact) <= errors * self.error


@dataclass(frozen=True)
class Simulated:
    won: Sampled
    """Player 1's share of the points; a match without a winner counts one half."""
    entries: Sampled
    """How many actions a match has."""


def simulate(
    rules: Rules[S, A, V], policies: Mapping[Seat, Policy[A, V]], games: int, seed: int | str
) -> Simulated:
    rng = Random(seed)
    won, entries = [], []
    for _ in range(games):
        match = _play(rules, policies, rng)
        winner = match.outcome.winner if match.outcome else None
        won.append(0.5 if winner is None else float(winner is Seat.ONE))
        entries.append(float(len(match.turns)))
    return Simulated(Sampled.of(won), Sampled.of(entries))


def _play(rules: Rules[S, A, V], policies: Mapping[Seat, Policy[A, V]], rng: Random) -> Match[S, A, V]:
    match: Match[S, A, V] = Match.start(rules)
    while (actor := match.actor) is not None:
        if actor is CHANCE:
            action: Any = draw(match, rng)
        else:
            sight = match.sight(Seat(actor))
            action = rng.choices(sight.actions, policies[Seat(actor)](sight))[0]
        match = match.play(actor, action)
    return match
