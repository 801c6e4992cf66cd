"""A player of four in a row that looks at the line it is building and the one it must stop."""

from duels.core.rules import Seat, Sight
from duels.games.chain.reasons import possible_chains
from duels.games.chain.rules import SYMBOL, Action, Answer, Observe, QuantumChain, State


class Greedy:
    def __init__(self, rules: QuantumChain) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, State], action: Action) -> float:
        """Complete a chain, else stop the other's, else build; doubt whatever can be doubted."""
        if not isinstance(action, Observe):
            return float(action is Answer.CHALLENGE)
        cells, seat = sight.view.cells, sight.seat
        mine = self._longest_with(cells, action.cell, seat)
        theirs = self._longest_with(cells, action.cell, seat.other)
        if mine >= self.rules.run:
            return 100
        if theirs >= self.rules.run:
            return 50
        return self._room(cells, action.cell, seat) * mine + 0.5 * theirs

    def _longest_with(self, cells: str, cell: int, seat: Seat) -> int:
        """The length of the run through `cell` if `seat` took it."""
        symbol = SYMBOL[seat]
        before = cells[: cell - 1]
        after = cells[cell:]
        left = len(before) - len(before.rstrip(symbol))
        right = len(after) - len(after.lstrip(symbol))
        return left + 1 + right

    def _room(self, cells: str, cell: int, seat: Seat) -> int:
        """How many places for a chain of `seat` go through `cell`."""
        return sum(cell in window for window in possible_chains(self.rules, cells, seat))


GREEDY = Greedy
