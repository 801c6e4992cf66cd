"""flip's oracle for thousands of questions: compiled, but for a second step ahead. Needs the extra `fast`."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from duels.games.flip.bounds import Bounds, Interval, Position
from duels.games.flip.oracle import FlipOracle
from duels.games.flip.rules import SEEN_AS, UNKNOWN, Action, QuantumTiles, State

if TYPE_CHECKING:
    from duels.games.flip.kernels.tables import BoundTables

MOST_SIDE = 5
"""Larger boards are too large for its tables."""
_NONE_SEEN = ((-1, 0), (-1, 0))  # tiles and values


def fits(rules: QuantumTiles) -> bool:
    """Whether there is such an oracle: it needs compiled code, and a board that is not too large."""
    return find_spec("numba") is not None and rules.side <= MOST_SIDE


def make_oracle(rules: QuantumTiles) -> FlipOracle | None:
    """The oracle for these rules; None where the usual one is all there is."""
    return QuickOracle(rules) if fits(rules) else None


class QuickBounds(Bounds):
    """The same bounds; compiled, but for positions that no match leads to and a second step ahead."""

    def __init__(self, rules: QuantumTiles, tables: "BoundTables") -> None:
        super().__init__(rules, tables.table)
        self._tables = tables.arrays

    def of(self, at: Position) -> Interval:
        return self._compiled(at, 0) or super().of(at)

    def _narrowed(self, at: Position, steps: int) -> Interval:
        return (self._compiled(at, steps) if steps == 1 else None) or super()._narrowed(at, steps)

    def _compiled(self, at: Position, steps: int) -> Interval | None:
        """The interval after no or one step; None if compiled code does not know it."""
        from duels.games.flip.kernels.intervals import bound

        if len(at.seen) > 2:
            return None
        (one, first), (two, second) = (*at.seen, *_NONE_SEEN)[:2]
        low, high, known = bound(
            self._tables,
            at.unknown,
            at.code,
            at.score,
            at.mine,
            at.theirs,
            (one, two),
            (first, second),
            steps,
        )
        return (low, high) if known else None


class QuickOracle(FlipOracle):
    """The same oracle; a test holds it to that."""

    def __init__(self, rules: QuantumTiles) -> None:
        import numpy as np

        from duels.games.flip.kernels.tables import bound_tables

        tables = bound_tables(rules)
        super().__init__(rules, tables.table)
        self.bounds = QuickBounds(rules, tables)
        self._tables = tables.arrays
        values = range(1, rules.values + 1)
        marks = (UNKNOWN, *map(str, values), *(SEEN_AS[value - 1] for value in values))
        self._faces = {mark: face for face, mark in enumerate(marks)}
        self._lows, self._highs = np.empty((2, 1, len(rules.all_actions())))
        self._known = np.empty((1, 3))

    def _at_once(self, state: State, actions: tuple[Action, ...]) -> tuple[Interval, list[Interval]]:
        import numpy as np

        from duels.games.flip.kernels.intervals import judge

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
        least, most, known = self._known[0].tolist()
        if not known:
            return super()._at_once(state, actions)
        # What is not legal is -1; legal actions are listed in the order of all.
        ways = zip(self._lows[0].tolist(), self._highs[0].tolist(), strict=True)
        return (least, most), [interval for interval in ways if interval[0] >= 0]
