"""Positions of the cells of a track on a board: one row, or several rows that wind."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

from duels.core.svg import WIDTH

_WIDEST = 96  # between the middles of two cells
_LARGEST = 80  # the side of a cell
_SIDE_BY_SIDE = 9  # cells that still can be pressed in one row on a phone


@dataclass(frozen=True, eq=False)  # drawings remember what they drew on a track by the track itself
class Track:
    """`cells` cells, numbered from 1, from left to right and back again.

    A neighbour is always beside, above or below. `margin` is left on both sides where there is more than one
    row; `upwards` puts the first row at the bottom.
    """

    cells: int
    row_height: float
    first_row: float
    per_row: int = _SIDE_BY_SIDE
    margin: float = 44
    upwards: bool = False

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return ceil(self.cells / self.per_row)

    @cached_property
    def columns(self) -> int:
        """The number of cells per row; the last row may have fewer."""
        return ceil(self.cells / self.rows)

    @cached_property
    def pitch(self) -> float:
        """The distance between the centres of two neighbours."""
        if self.rows == 1:
            return min(_WIDEST, (WIDTH - 22) / self.columns)
        return min(_WIDEST, (WIDTH - 2 * self.margin) / max(1, self.columns - 1))

    @cached_property
    def size(self) -> float:
        """The side of a square cell, with some space to the next."""
        return min(self.pitch * 0.88, _LARGEST)

    @property
    def height(self) -> float:
        """The height of all rows."""
        return self.rows * self.row_height

    def at(self, cell: int) -> tuple[float, float]:
        """Return the centre of a cell."""
        row, column = divmod(cell - 1, self.columns)
        column = self.columns - 1 - column if row % 2 else column
        line = self.rows - 1 - row if self.upwards else row
        x = WIDTH / 2 + (column - (self.columns - 1) / 2) * self.pitch
        return x, self.first_row + line * self.row_height

    def line(self, first: int = 1, last: int | None = None) -> str:
        """Return the path data of the line from one cell to another."""
        points = [self.at(cell) for cell in range(first, (last or self.cells) + 1)]
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    def bends(self, cell: int) -> bool:
        """Return whether the next cell is in another row."""
        return cell < self.cells and self.at(cell)[1] != self.at(cell + 1)[1]
