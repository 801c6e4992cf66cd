"""What decisions are graded by: losses, or, where the strategy mixes, how far choices lie below the mixture.

Nothing that a strategy mixes in is a loss, so hardly anything is one. How far choices lie below the mixture
tells more: that is 0 on average for whoever mixes like the strategy.
"""

from typing import Any

from duels.solving.oracle import Oracle, Verdict

GIVEN_AWAY, BELOW_THE_MIXTURE = "given away", "below the mixture"


def measure_of(oracle: Oracle[Any, Any]) -> str:
    """By what this oracle's decisions are graded: GIVEN_AWAY or BELOW_THE_MIXTURE."""
    return BELOW_THE_MIXTURE if oracle.mixes else GIVEN_AWAY


def shortfalls(oracle: Oracle[Any, Any], verdict: Verdict[Any]) -> tuple[float, ...]:
    """How much each action falls short, by the oracle's measure; below the mixture it may be negative."""
    return verdict.below_mixture if oracle.mixes else verdict.losses
