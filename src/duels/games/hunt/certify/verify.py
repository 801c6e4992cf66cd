"""Checks of hunt's strategy by independent methods; needs numpy and numba.

The table of self-play is compared with plain matches through the rules and solved again, and so is the
certificate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from duels.core.match import Match, play_through
from duels.core.rules import A, Rules, S, Seat, V
from duels.games.hunt import strategy
from duels.games.hunt.certify import pomdp
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.self_play import ROUNDING, shipped_table
from duels.games.hunt.strategy import OFF
from duels.solving.best_response import Policy
from duels.solving.oracle import Check
from duels.solving.progress import Progress, no_progress

if TYPE_CHECKING:  # the oracle asks for these checks
    from duels.games.hunt.oracle import HuntOracle

MATCHES = 4000
"""Matches that are played to check the table of self-play."""
ERRORS = 4
"""How many standard errors off a mean may be to be taken for right: farther by luck once in thousands."""


def verify(oracle: "HuntOracle", progress: Progress = no_progress) -> Iterator[Check]:
    """Play the strategy out and solve its self-play, then recompute its certificate.

    All of it in the game without a limit of turns, whatever the rules at hand.
    """
    limited = oracle.rules.max_turns is not None
    for checks in (check_self_play, check_certificate):
        for check in checks(oracle, progress):
            yield replace(check, name=f"without a limit of turns: {check.name}") if limited else check


def check_certificate(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Bound the best responder to each seat again."""
    found = pomdp.certificate(oracle.strategy, progress).against
    for seat, claim in strategy.claimed().against.items():
        yield Check(
            f"what a best responder wins against {seat.label}'s strategy",
            claim.low <= found[seat].low and found[seat].high <= claim.high,
            f"claimed {claim.in_words()}, found {found[seat].in_words()}",
        )


def check_self_play(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Compare the table of self-play with plain matches, and solve it again."""
    from duels.games.hunt.certify.pair_values import furthest, solved

    value = oracle.pair.before_turn(Seat.ONE, 0, 0, OFF, OFF)
    won, _ = simulate(QuantumHunt(), dict.fromkeys(Seat, oracle.weights), MATCHES, "hunt", progress)
    yield Check(
        "Player 1's wins when the strategy plays itself",
        won.agrees(value),
        f"{value:.4f} by the table, {won} in {MATCHES} matches",
    )
    off = furthest(solved(oracle.strategy, progress), shipped_table())
    detail = f"off by {100 * off:.3f} points at most, by rounding {100 * ROUNDING:.3f}"
    yield Check("the table of self-play, solved again", off <= ROUNDING, detail)


@dataclass(frozen=True)
class Sampled:
    """A mean of independent draws and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, draws: list[float]) -> "Sampled":
        return cls(fmean(draws), stdev(draws) / sqrt(len(draws)))

    def agrees(self, exact: float) -> bool:
        """Whether `exact` is within so many standard errors."""
        return abs(self.mean - exact) <= ERRORS * self.error

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {ERRORS * self.error:.4f} ({ERRORS} standard errors)"


def simulate(
    rules: Rules[S, A, V],
    policies: Mapping[Seat, Policy[A, V]],
    games: int,
    seed: int | str,
    progress: Progress = no_progress,
) -> tuple[Sampled, Sampled]:
    """Play `games` matches. Return Player 1's score, and the number of entries in a match."""
    rng = Random(seed)
    won, entries = [], []

    def decide(match: Match[S, A, V], seat: Seat) -> A:
        sight = match.sight(seat)
        return rng.choices(sight.actions, policies[seat](sight))[0]

    for number in range(games):
        if number % 100 == 0:
            progress(f"match {number:,} of {games:,}")
        *_, match = play_through(Match.start(rules), rng, decide)
        winner = match.outcome.winner if match.outcome else None
        won.append(0.5 if winner is None else float(winner is Seat.ONE))
        entries.append(float(len(match.turns)))
    return Sampled.of(won), Sampled.of(entries)
