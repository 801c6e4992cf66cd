"""A quick value of positions, by which luck is taken out of results: the middle of what the table proves.

`judge` looks ahead to narrow that down, which takes a hundred times as long. What luck is measured by has to
be fixed beforehand and close, not exact.
"""

from collections.abc import Callable

from duels.core.rules import Seat
from duels.games.flip.oracle import FlipOracle
from duels.games.flip.rules import State


def quick_value(oracle: FlipOracle) -> Callable[[State], float]:
    """From a state in which a player is to decide, or nobody, to Player 1's probability of winning."""
    rules = oracle.rules

    def state_value(state: State) -> float:
        outcome = rules.outcome(state)
        if outcome:
            return float(outcome.score(Seat.ONE))
        if state.choosing:
            kept = [state_value(rules.apply(state, action).state) for action in rules.actions(state)]
            return max(kept) if state.mover is Seat.ONE else min(kept)
        low, high = oracle.bound(state)
        mine = (low + high) / 2
        return mine if state.mover is Seat.ONE else 1 - mine

    return state_value
