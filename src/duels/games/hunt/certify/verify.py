"""Verification of hunt's strategy by independent methods. Needs numpy and numba.

The self-play table is compared with simulated matches and solved again. The certificate is recomputed.
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
from duels.games.hunt.self_play import ROUNDING, load_table
from duels.games.hunt.strategy import OFF
from duels.solving.best_response import Policy
from duels.solving.oracle import Check
from duels.solving.progress import Progress, no_progress

if TYPE_CHECKING:  # the oracle imports this module
    from duels.games.hunt.oracle import HuntOracle

SIMULATED_MATCHES = 4000
"""The number of simulated matches."""
STANDARD_ERRORS = 4
"""The tolerance in standard errors. A correct value fails less than once in ten thousand runs."""


def verify(oracle: "HuntOracle", progress: Progress = no_progress) -> Iterator[Check]:
    """Check the self-play values and the certificate, always for the game without a turn limit."""
    has_turn_limit = oracle.rules.max_turns is not None
    for run_checks in (check_self_play, check_certificate):
        for check in run_checks(oracle, progress):
            yield replace(check, name=f"without a turn limit: {check.name}") if has_turn_limit else check


def check_certificate(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Recompute the bounds of the certificate."""
    bounds = pomdp.make_certificate(oracle.strategy, progress).against
    for seat, claim in strategy.load_certificate().against.items():
        yield Check(
            f"the best response to {seat.label}'s strategy",
            claim.low <= bounds[seat].low and bounds[seat].high <= claim.high,
            f"claimed {claim.in_words()}, found {bounds[seat].in_words()}",
        )


def check_self_play(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Compare the self-play table with simulated matches and with a new solution."""
    from duels.games.hunt.certify.pair_values import find_largest_error, solve_self_play

    value = oracle.pair.before_turn(Seat.ONE, 0, 0, OFF, OFF)
    wins, _ = simulate(
        QuantumHunt(), dict.fromkeys(Seat, oracle.weights), SIMULATED_MATCHES, "hunt", progress
    )
    yield Check(
        "Player 1's wins when the strategy plays itself",
        wins.agrees(value),
        f"{value:.4f} by the table, {wins} in {SIMULATED_MATCHES} matches",
    )
    largest_error = find_largest_error(solve_self_play(oracle.strategy, progress), load_table())
    detail = f"off by {100 * largest_error:.3f} points at most, by rounding {100 * ROUNDING:.3f}"
    yield Check("the table of self-play, solved again", largest_error <= ROUNDING, detail)


@dataclass(frozen=True)
class SampleMean:
    """The mean of independent samples and its standard error."""

    mean: float
    error: float

    @classmethod
    def from_samples(cls, samples: list[float]) -> "SampleMean":
        return cls(fmean(samples), stdev(samples) / sqrt(len(samples)))

    def agrees(self, exact: float) -> bool:
        """Return whether `exact` is within ERRORS standard errors of the mean."""
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
