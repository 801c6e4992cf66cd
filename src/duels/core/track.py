"""Positions of the cells of a track on a board, in one row or in several winding rows."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil

from duels.core.svg import WIDTH, cache_shape, decoration, path

_MAX_PITCH = 96
_MAX_CELL_SIZE = 80
_MAX_CELLS_IN_ONE_ROW = 9  # so that cells can be pressed on a phone
_MAX_CELLS_PER_ROW = 7  # in several rows, which bend at both ends


@dataclass(frozen=True, eq=False)  # compared by identity, so that cached shapes are found quickly
class Track:
    """A track of `cells` cells, numbered from 1. Rows run left to right and right to left in turn.

    Neighbours are always side by side or one above the other. If there are several rows, `margin` is the
    space on both sides of them. With `upwards`, the first row is at the bottom.
    """

    cells: int
    row_height: float
    first_row: float
    margin: float
    per_row: int | None = None
    """The maximum number of cells per row, or None for 9 in a single row and 7 in several."""
    upwards: bool = False

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        if self.per_row is None and self.cells <= _MAX_CELLS_IN_ONE_ROW:
            return 1
        return ceil(self.cells / (self.per_row or _MAX_CELLS_PER_ROW))

    @cached_property
    def columns(self) -> int:
        """The number of cells per row; the last row may have fewer."""
        return ceil(self.cells / self.rows)

    @cached_property
    def pitch(self) -> float:
        """The distance between the centres of two neighbours."""
        if self.rows == 1:
            return min(_MAX_PITCH, (WIDTH - 22) / self.columns)
        return min(_MAX_PITCH, (WIDTH - 2 * self.margin) / max(1, self.columns - 1))

    @cached_property
    def size(self) -> float:
        """The side of a square cell. It is smaller than the pitch, so that cells do not touch."""
        return min(self.pitch * 0.88, _MAX_CELL_SIZE)

    @property
    def height(self) -> float:
        """The height of all rows."""
        return self.rows * self.row_height

    def centre(self, cell: int) -> tuple[float, float]:
        """Return the centre of a cell."""
        row, column = divmod(cell - 1, self.columns)
        column = self.columns - 1 - column if row % 2 else column
        display_row = self.rows - 1 - row if self.upwards else row
        x = WIDTH / 2 + (column - (self.columns - 1) / 2) * self.pitch
        return x, self.first_row + display_row * self.row_height

    def line(self, first: int = 1, last: int | None = None) -> str:
        """Return the path data of the line from one cell to another."""
        points = [self.centre(cell) for cell in range(first, (last or self.cells) + 1)]
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    @cache_shape
    def draw_line(self, width: float, opacity: float) -> str:
        """Draw the line through all cells."""
        return decoration(path(self.line(), "line", width, opacity=opacity))

    def bends(self, cell: int) -> bool:
        """Return whether the next cell is in another row."""
        return cell < self.cells and self.centre(cell)[1] != self.centre(cell + 1)[1]


make_track = lru_cache(Track)
"""Return the track with these properties: the same object every time."""
