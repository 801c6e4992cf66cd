"""A greedy player of Quantum Duel: four in a row."""

from duels.core.rules import Seat, Sight
from duels.games.chain.reasons import list_possible_chains
from duels.games.chain.rules import SYMBOL, Action, Answer, Observe, QuantumChain, State


class Greedy:
    def __init__(self, rules: QuantumChain) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, State], action: Action) -> float:
        """Complete a chain, else block one, else build one. Always challenge."""
        if not isinstance(action, Observe):
            return float(action is Answer.CHALLENGE)
        cells, seat = sight.view.cells, sight.seat
        own_run = self._measure_run(cells, action.cell, seat)
        other_run = self._measure_run(cells, action.cell, seat.other)
        if own_run >= self.rules.run:
            return 100
        if other_run >= self.rules.run:
            return 50
        return self._count_chains(cells, action.cell, seat) * own_run + 0.5 * other_run

    def _measure_run(self, cells: str, cell: int, seat: Seat) -> int:
        """Return the length of the run through `cell` if `seat` observes it."""
        symbol = SYMBOL[seat]
        before = cells[: cell - 1]
        after = cells[cell:]
        left = len(before) - len(before.rstrip(symbol))
        right = len(after) - len(after.lstrip(symbol))
        return left + 1 + right

    def _count_chains(self, cells: str, cell: int, seat: Seat) -> int:
        """Return how many possible chains of `seat` include `cell`."""
        return sum(cell in window for window in list_possible_chains(self.rules, cells, seat))


GREEDY = Greedy
