"""Checks of hunt's strategy by independent methods; needs numpy and numba.

Exact sums over both seats' memories and tokens are compared with plain matches through the rules, the table
of self-play is solved again, and so is the certificate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from duels.core.match import Match, playing
from duels.core.rules import A, Rules, S, Seat, V
from duels.games.hunt import certify
from duels.games.hunt.certify.policies import policy_of_tables
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.self_play import ROUNDING, round_of, shipped_table
from duels.games.hunt.strategy import OFF
from duels.solving.best_response import Policy
from duels.solving.oracle import Check
from duels.solving.progress import Progress, quiet

if TYPE_CHECKING:  # the oracle asks for these checks
    from duels.games.hunt.oracle import HuntOracle

MATCHES = 4000
"""Matches that are played to check the exact sums."""
ERRORS = 4
"""How many standard errors off a mean may be to be taken for right: farther by luck once in thousands."""


def verify(oracle: "HuntOracle", progress: Progress = quiet) -> Iterator[Check]:
    """Play the strategy out in three ways, then recompute its certificate.

    All of it in the game without a limit of turns, whatever the rules at hand.
    """
    limited = oracle.rules.max_turns is not None
    for checks in (check_self_play, check_certificate):
        for check in checks(oracle, progress):
            yield replace(check, name=f"without a limit of turns: {check.name}") if limited else check


def check_certificate(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Bound the best responder to each seat again."""
    found = certify.certificate(oracle.strategy, progress).against
    for seat, claim in certify.claimed().against.items():
        yield Check(
            f"what a best responder wins against {seat.label}'s strategy",
            claim.low <= found[seat].low and found[seat].high <= claim.high,
            f"claimed {claim.in_words()}, found {found[seat].in_words()}",
        )


def check_self_play(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Compare the table of self-play with exact sums, these with plain matches, and solve the table again."""
    from duels.games.hunt.certify.evaluation import evaluate
    from duels.games.hunt.certify.pair_values import furthest, solved

    one, two = (policy_of_tables(oracle.strategy[seat]) for seat in Seat)
    exactly = evaluate(one, two, progress=progress)
    simulated = simulate(QuantumHunt(), dict.fromkeys(Seat, oracle.weights), MATCHES, "hunt", progress)
    entries = 2 * exactly.turns_on_average
    value = oracle.pair.before_turn(Seat.ONE, round_of(()), round_of(()), OFF, OFF)
    yield Check(
        "the opening's value in the table of self-play",
        abs(value - exactly.won) <= ROUNDING + exactly.left,
        f"{value:.4f}, {exactly.won:.4f} by exact sums",
    )
    for name, exact, sampled in (
        ("Player 1's wins when the strategy plays itself", exactly.won, simulated.won),
        ("how many entries such a match has", entries, simulated.entries),
    ):
        yield Check(name, sampled.agrees(exact), f"{exact:.4f} by exact sums, {sampled} in {MATCHES} matches")
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
