"""flip's oracle for thousands of questions: compiled where it need not look ahead. Needs the extra `fast`."""

from importlib.util import find_spec

from duels.games.flip.bounds import Interval
from duels.games.flip.oracle import FlipOracle
from duels.games.flip.rules import SEEN_AS, UNKNOWN, Action, QuantumTiles, State
from duels.games.flip.table import Table

MOST_SIDE = 5
"""Larger boards are too large for its tables."""


def fits(rules: QuantumTiles) -> bool:
    """Whether it can be had: it needs compiled code, and a board that is not too large."""
    return find_spec("numba") is not None and rules.side <= MOST_SIDE


def make_oracle(rules: QuantumTiles) -> FlipOracle | None:
    """The oracle for these rules; None where the usual one is all there is."""
    return QuickOracle(rules, Table.of(rules)) if fits(rules) else None


class QuickOracle(FlipOracle):
    """The same oracle; a test holds it to that."""

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        import numpy as np

        from duels.games.flip.kernels.tables import bound_tables

        super().__init__(rules, table)
        self._tables = bound_tables(rules).arrays
        self._numbers = {action: number for number, action in enumerate(rules.all_actions())}
        values = range(1, rules.values + 1)
        marks = (UNKNOWN, *map(str, values), *(SEEN_AS[value - 1] for value in values))
        self._faces = {mark: face for face, mark in enumerate(marks)}
        self._lows, self._highs = np.empty((2, 1, len(self._numbers)))
        self._known = np.empty((1, 3))

    def _intervals(self, state: State, actions: tuple[Action, ...], steps: int) -> list[Interval]:
        import numpy as np

        from duels.games.flip.kernels.intervals import judge

        if steps:
            return super()._intervals(state, actions, steps)
        mover = state.mover - 1
        judge(
            self._tables,
            np.array([[self._faces[tile] for tile in state.tiles]]),
            np.array([state.scores[mover]]),
            np.array([[state.quantum[mover], state.quantum[1 - mover]]], np.int8),
            np.array([state.lifted or (-1, -1)]),
            self._lows,
            self._highs,
            self._known,
        )
        if not self._known[0, 2]:
            return super()._intervals(state, actions, steps)
        lows, highs = self._lows[0].tolist(), self._highs[0].tolist()
        places = [self._numbers[action] for action in actions]
        return [(lows[place], highs[place]) for place in places]
