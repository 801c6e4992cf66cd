"""A board in text: rows of cells and the text around them. Screens that draw cells take them from here."""

from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a board."""

    number: int
    """Counted from 1 in reading order, as `Place.cells` counts them."""
    label: str
    """The cell's name: `4`, `B2`."""
    text: str
    """Its content, with ink."""


@dataclass(frozen=True, slots=True)
class Row:
    """The contents of cells side by side, and how a line of text shows them.

    >>> str(Row(("X", " ", "3")))
    '[X][ ][3]\\n'
    """

    texts: tuple[str, ...]
    opening: str = "["
    between: str = "]["
    closing: str = "]"
    name: str = ""
    """Begins the labels of the cells: `B1`, `B2`. Without a name cells are numbered from row to row."""
    above: str = ""
    """A line over the cells that numbers them; left out where each cell is drawn with its label."""
    below: str = ""
    """The same under the cells."""

    def __str__(self) -> str:
        return f"{self.above}{self.opening}{self.between.join(self.texts)}{self.closing}\n{self.below}"


@dataclass(frozen=True, slots=True)
class TextBoard:
    """A board: the rows of cells, and the text below them. A board without cells is text alone.

    `str` gives the whole board as text.
    """

    text: str = ""
    rows: tuple[Row, ...] = ()
    heading: str = ""
    """Lines over the rows; left out where the cells are drawn."""

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells, row by row."""
        numbers = count(1)
        return tuple(
            tuple(
                Cell(number, f"{row.name}{column}" if row.name else str(number), text)
                for column, (text, number) in enumerate(zip(row.texts, numbers, strict=False), start=1)
            )
            for row in self.rows
        )

    def __str__(self) -> str:
        return f"{self.heading}{''.join(map(str, self.rows))}{self.text}"
