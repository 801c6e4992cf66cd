"""The grid of a board: cells as boxes with shared borders."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from duels.core.narration import Cell, TextBoard
from duels.core.words import strip_ink

_SIZES = (
    *((23, 11), (19, 9), (15, 7), (13, 6), (11, 5), (9, 4)),  # about square
    *((9, 3), (7, 3), (5, 3), (5, 1), (3, 1)),
)
"""Columns and rows inside a box, largest first."""
# The character for each combination of lines to _UP, _DOWN, _LEFT and _RIGHT.
_BORDERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
MAX_CELLS = 400
"""The largest board that the full screen shows."""
ROWS_AROUND_CELLS = 8  # title, borders, turn, a question of three lines, keys
_MIN_SIZE = (60, 16)  # columns and rows of the terminal
_MAX_BOARD_ROWS = 15  # a longer board is scrolled
_MAX_WHOLE_ROW = 12  # cells

Point = tuple[int, int]
"""A column and a row."""


@dataclass(frozen=True)
class BoardGrid:
    """Rows of cells in boxes of equal size."""

    rows: tuple[tuple[Cell, ...], ...]
    width: int
    """Columns inside a box."""
    height: int
    """Rows inside a box."""

    @property
    def size(self) -> Point:
        longest = max((len(row) for row in self.rows), default=0)
        return longest * (self.width + 1) + 1, len(self.rows) * (self.height + 1) + 1

    @property
    def ease(self) -> tuple[int, int]:
        """How easy the grid is to read: larger boxes are better; among equal boxes, fewer rows."""
        return self.width * self.height, -len(self.rows)

    def draw_borders(self) -> list[str]:
        columns, lines = self.size
        directions = [[0] * columns for _ in range(lines)]
        for row, cells in enumerate(self.rows):
            for column in range(len(cells)):
                left, top = column * (self.width + 1), row * (self.height + 1)
                right, bottom = left + self.width + 1, top + self.height + 1
                for x in range(left, right):
                    for y in (top, bottom):
                        directions[y][x] |= _RIGHT
                        directions[y][x + 1] |= _LEFT
                for y in range(top, bottom):
                    for x in (left, right):
                        directions[y][x] |= _DOWN
                        directions[y + 1][x] |= _UP
        return ["".join(_BORDERS[combination] for combination in line) for line in directions]

    def get_origin(self, number: int) -> Point:
        """Return the upper left corner inside a cell's box."""
        row, column = self._locate(number)
        return column * (self.width + 1) + 1, row * (self.height + 1) + 1

    def find_cell_at(self, point: Point) -> Cell | None:
        """Find the cell at a point. A box includes its left and upper border."""
        column, row = point[0] // (self.width + 1), point[1] // (self.height + 1)
        is_inside = 0 <= row < len(self.rows) and 0 <= column < len(self.rows[row])
        return self.rows[row][column] if is_inside else None

    def find_next_cell(self, start: int, step: Point, candidates: frozenset[int]) -> int | None:
        """Find the candidate nearest to `start` in the direction of `step`."""
        row, column = self._locate(start)
        distances: dict[int, tuple[int, int]] = {}
        for number in candidates:
            down, right = self._locate(number)[0] - row, self._locate(number)[1] - column
            forwards = right * step[0] + down * step[1]
            if forwards > 0:
                distances[number] = abs(right * step[1]) + abs(down * step[0]), forwards
        if distances:
            return min(distances, key=lambda number: distances[number])
        # At the end of a row, continue in the next row.
        if step[1]:
            return None
        order = sorted(candidates)
        return next((n for n in (order if step[0] > 0 else order[::-1]) if (n - start) * step[0] > 0), None)

    def _locate(self, number: int) -> tuple[int, int]:
        """Return the row and the column of a cell."""
        for row, cells in enumerate(self.rows):
            if cells[0].number <= number <= cells[-1].number:
                return row, number - cells[0].number
        raise ValueError(number)


def fit_grid(rows: Sequence[Sequence[Cell]], columns: int, lines: int) -> BoardGrid:
    """Make the grid with the largest boxes that fit. Split rows that are too long.

    A short row stays whole if it fits, because neighbours matter; a long one is split for larger boxes. If no
    size fits, use the smallest boxes; the person can scroll the grid.
    """
    widest = max((len(strip_ink(cell.text)) for row in rows for cell in row), default=1)
    sizes = [size for size in _SIZES if size[0] >= widest] or [_SIZES[-1]]
    grids = [_make_grid(rows, columns, *size) for size in sizes]
    fitting = [grid for grid in grids if grid.size[1] <= lines]
    whole = [grid for grid in fitting if len(grid.rows) == len(rows) and (is_short(rows) or grid.height > 1)]
    return next(iter(whole or fitting), grids[-1])


def is_short(rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether the rows should stay whole, because neighbours matter."""
    return max(map(len, rows), default=0) <= _MAX_WHOLE_ROW


def _make_grid(rows: Sequence[Sequence[Cell]], columns: int, width: int, height: int) -> BoardGrid:
    max_length = max(1, (columns - 1) // (width + 1))
    return BoardGrid(tuple(part for row in rows for part in _split_row(row, max_length)), width, height)


def _split_row(row: Sequence[Cell], max_length: int) -> list[tuple[Cell, ...]]:
    """Split a row into as few parts of about equal length as possible."""
    count = -(-len(row) // max_length)
    length = -(-len(row) // count) if count else 0
    cuts = [*range(0, len(row), max(1, length)), len(row)]
    return [tuple(row[start:end]) for start, end in pairwise(cuts)]


def count_text_rows(board: TextBoard) -> int:
    """Count the rows of the text below the cells, and the gap between cells and text."""
    return board.text.count("\n") + 2 if board.text else 0


def get_min_size(board: TextBoard) -> Point:
    """Return the columns and rows of the smallest terminal that can show a match with this board."""
    columns, rows = _MIN_SIZE
    cell_rows = fit_grid(board.cells, columns, 0).size[1]
    # In a narrow terminal the keys need a second row, and the text moves above the story.
    return columns, max(rows, min(cell_rows, _MAX_BOARD_ROWS) + ROWS_AROUND_CELLS + 1)


def find_changed_cells(
    old_rows: Sequence[Sequence[Cell]], new_rows: Sequence[Sequence[Cell]]
) -> frozenset[int]:
    """Return the numbers of the cells whose text differs between two boards. Colours do not count."""
    pairs = zip(chain.from_iterable(old_rows), chain.from_iterable(new_rows), strict=False)
    return frozenset(new.number for old, new in pairs if strip_ink(old.text) != strip_ink(new.text))
