"""Quick estimates of positions for luck-adjusted results: the midpoint of the bounds from the table.

`judge` looks ahead for tighter bounds and takes a hundred times as long. To adjust for luck, an estimate must
not depend on the match, and should be close to the value, but need not be exact.
"""

from collections.abc import Callable

from duels.core.rules import Seat
from duels.games.flip.oracle import FlipOracle
from duels.games.flip.rules import State


def quick_value(oracle: FlipOracle) -> Callable[[State], float]:
    """Return a function that estimates Player 1's chance to win from a state without a chance event."""
    rules = oracle.rules

    def state_value(state: State) -> float:
        outcome = rules.outcome(state)
        if outcome:
            return float(outcome.score(Seat.ONE))
        if state.choosing:
            values = [state_value(rules.apply(state, action).state) for action in rules.actions(state)]
            return max(values) if state.mover is Seat.ONE else min(values)
        low, high = oracle.bound(state)
        chance = (low + high) / 2
        return chance if state.mover is Seat.ONE else 1 - chance

    return state_value
