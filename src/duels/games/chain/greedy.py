"""A greedy player of Quantum Duel: four in a row."""

from duels.core.rules import Seat, Sight
from duels.games.chain.reasons import list_possible_chains
from duels.games.chain.rules import SYMBOL, Action, Answer, Observe, QuantumChain, State


def score_action(rules: QuantumChain, sight: Sight[Action, State], action: Action) -> float:
    """Complete a chain, else block one, else build one. Always challenge."""
    if not isinstance(action, Observe):
        return float(action is Answer.CHALLENGE)
    cells, seat = sight.view.cells, sight.seat
    own_run = _measure_run(cells, action.cell, seat)
    other_run = _measure_run(cells, action.cell, seat.other)
    if own_run >= rules.run:
        return 100
    if other_run >= rules.run:
        return 50
    return _count_chains(rules, cells, action.cell, seat) * own_run + 0.5 * other_run


def _measure_run(cells: str, cell: int, seat: Seat) -> int:
    """Return the length of the run through `cell` if `seat` observes it."""
    symbol = SYMBOL[seat]
    left, right = cells[: cell - 1], cells[cell:]
    left_run = len(left) - len(left.rstrip(symbol))
    right_run = len(right) - len(right.lstrip(symbol))
    return left_run + 1 + right_run


def _count_chains(rules: QuantumChain, cells: str, cell: int, seat: Seat) -> int:
    """Return how many possible chains of `seat` include `cell`."""
    return sum(cell in window for window in list_possible_chains(rules, cells, seat))
