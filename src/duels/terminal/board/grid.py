"""Cells as boxes with shared borders: how large they can be, where each stands, which one lies at a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from duels.core.narration import Cell
from duels.core.words import strip_ink

_SIZES = ((11, 5), (9, 3), (7, 3), (5, 3), (5, 1), (3, 1))
"""Columns and rows inside a box, the largest first."""
# By which of the four lines meet: up, down, left, right.
_CORNERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8

Point = tuple[int, int]
"""Column and row."""


@dataclass(frozen=True)
class BoardGrid:
    """Boxes of one size in rows."""

    rows: tuple[tuple[Cell, ...], ...]
    width: int
    """Inside a box."""
    height: int

    @property
    def size(self) -> Point:
        """Columns and rows that it takes."""
        longest = max((len(row) for row in self.rows), default=0)
        return longest * (self.width + 1) + 1, len(self.rows) * (self.height + 1) + 1

    def lines(self) -> list[str]:
        """The borders, with nothing in the boxes."""
        columns = max((len(row) for row in self.rows), default=0)
        drawn = []
        for row in range(len(self.rows) + 1):
            corners = [self._corner(row, column) for column in range(columns + 1)]
            border = corners[0]
            for column, corner in enumerate(corners[1:]):
                border += ("─" if self._has(row - 1, column) or self._has(row, column) else " ") * self.width
                border += corner
            drawn.append(border)
            if row < len(self.rows):
                sides = [
                    "│" if self._has(row, c - 1) or self._has(row, c) else " " for c in range(columns + 1)
                ]
                drawn += [(" " * self.width).join(sides)] * self.height
        return drawn

    def origin(self, number: int) -> Point:
        """The upper left corner of the inside of a cell's box."""
        row, column = self._where(number)
        return column * (self.width + 1) + 1, row * (self.height + 1) + 1

    def at(self, point: Point) -> Cell | None:
        """The cell whose box lies at a point, its left and upper border included."""
        column, row = point[0] // (self.width + 1), point[1] // (self.height + 1)
        return self.rows[row][column] if point[0] >= 0 and point[1] >= 0 and self._has(row, column) else None

    def towards(self, start: int, step: Point, among: frozenset[int]) -> int | None:
        """The nearest of these cells from `start` on in the direction of `step`; None if there is none."""
        row, column = self._where(start)

        def distance(number: int) -> tuple[int, int] | None:
            down, right = self._where(number)[0] - row, self._where(number)[1] - column
            along = right * step[0] + down * step[1]
            aside = abs(right * step[1]) + abs(down * step[0])
            return (aside, along) if along > 0 else None

        near = {number: away for number in among if (away := distance(number))}
        if near:
            return min(near, key=lambda number: near[number])
        # Past the end of a row the next one begins.
        if step[1]:
            return None
        order = sorted(among)
        return next((n for n in (order if step[0] > 0 else order[::-1]) if (n - start) * step[0] > 0), None)

    def _where(self, number: int) -> Point:
        for row, cells in enumerate(self.rows):
            if cells[0].number <= number <= cells[-1].number:
                return row, number - cells[0].number
        raise ValueError(number)

    def _has(self, row: int, column: int) -> bool:
        return 0 <= row < len(self.rows) and 0 <= column < len(self.rows[row])

    def _corner(self, row: int, column: int) -> str:
        up_left, up_right = self._has(row - 1, column - 1), self._has(row - 1, column)
        down_left, down_right = self._has(row, column - 1), self._has(row, column)
        return _CORNERS[
            _UP * (up_left or up_right)
            + _DOWN * (down_left or down_right)
            + _LEFT * (up_left or down_left)
            + _RIGHT * (up_right or down_right)
        ]


def fit_grid(rows: Sequence[Sequence[Cell]], columns: int, lines: int) -> BoardGrid:
    """The grid with the largest boxes that fit; rows that are too long are broken into equal parts.

    If none fits, the smallest boxes: it is then longer than there is room, and can be scrolled.
    """
    widest = max((len(strip_ink(cell.text)) for row in rows for cell in row), default=1)
    sizes = [size for size in _SIZES if size[0] >= widest] or [_SIZES[-1]]
    grids = [_broken(rows, columns, *size) for size in sizes]
    fitting = [grid for grid in grids if grid.size[1] <= lines]
    whole = [grid for grid in fitting if len(grid.rows) == len(rows)]
    return next(iter(whole or fitting), grids[-1])


def _broken(rows: Sequence[Sequence[Cell]], columns: int, width: int, height: int) -> BoardGrid:
    most = max(1, (columns - 1) // (width + 1))
    return BoardGrid(tuple(part for row in rows for part in _parts(row, most)), width, height)


def _parts(row: Sequence[Cell], most: int) -> list[tuple[Cell, ...]]:
    """A row in as few parts as possible, all as long as the others or a little shorter."""
    count = -(-len(row) // most)
    length = -(-len(row) // count) if count else 0
    cuts = [*range(0, len(row), max(1, length)), len(row)]
    return [tuple(row[start:end]) for start, end in pairwise(cuts)]


def find_changed_cells(before: Sequence[Sequence[Cell]], after: Sequence[Sequence[Cell]]) -> frozenset[int]:
    """The numbers of the cells that have another content now."""
    pairs = zip(chain.from_iterable(before), chain.from_iterable(after), strict=False)
    return frozenset(new.number for old, new in pairs if strip_ink(old.text) != strip_ink(new.text))
