"""Verification of hunt's strategy by independent methods. Needs numpy and numba.

The self-play table is compared with simulated matches and solved again. The certificate is recomputed.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from duels.games.hunt import strategy
from duels.games.hunt.certify import certificate
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.self_play import ROUNDING, load_table
from duels.solving import check
from duels.solving.oracle import Check, Progress, no_progress

if TYPE_CHECKING:  # the oracle imports this module
    from duels.games.hunt.oracle import HuntOracle

SIMULATED_MATCHES = 4000


def verify(oracle: "HuntOracle", progress: Progress = no_progress) -> Iterator[Check]:
    """Check the self-play values and the certificate, always for the game without a turn limit."""
    has_turn_limit = oracle.rules.max_turns is not None
    for run_checks in (check_self_play, check_certificate):
        for result in run_checks(oracle, progress):
            yield replace(result, name=f"without a turn limit: {result.name}") if has_turn_limit else result


def check_certificate(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Recompute the bounds of the certificate."""
    bounds = certificate.make_certificate(oracle.strategy, progress).against
    for seat, claim in strategy.load_certificate().against.items():
        yield Check(
            f"the best response to {seat.label}'s strategy",
            claim.low <= bounds[seat].low and bounds[seat].high <= claim.high,
            f"claimed {claim.in_words()}, found {bounds[seat].in_words()}",
        )


def check_self_play(oracle: "HuntOracle", progress: Progress) -> Iterator[Check]:
    """Compare the self-play table with simulated matches and with a new solution."""
    from duels.games.hunt.certify.pair_values import find_largest_error, solve_self_play

    yield check.check_self_play(QuantumHunt(), oracle, SIMULATED_MATCHES, progress)
    largest_error = find_largest_error(solve_self_play(oracle.strategy, progress), load_table())
    detail = f"off by {100 * largest_error:.3f} points at most, by rounding {100 * ROUNDING:.3f}"
    yield Check("the table of self-play, solved again", largest_error <= ROUNDING, detail)
