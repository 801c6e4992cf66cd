"""The cells of a board in its game's words, found in the text, and the lines that stand around them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.words import Words, pieces, plain

_ROW_NAME = re.compile(r"\s*([A-Z])\s*")
_NUMBERS = re.compile(r"(\w+:)?[\d\s]*\d[\d\s]*")  # over or under the cells: each cell carries its own


@dataclass(frozen=True)
class Cell:
    """One cell of a board."""

    number: int
    """Counted from 1, as the board shows them."""
    label: str
    """What people call it: `4`, `B2`."""
    text: str
    """What stands in it, with ink."""

    @property
    def plain(self) -> str:
        """What stands in it."""
        return plain(self.text)


@dataclass(frozen=True)
class BoardText:
    """A board: rows of cells, and the text above and below them. A board without cells is all text."""

    rows: tuple[tuple[Cell, ...], ...]
    above: str
    below: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, in reading order."""
        return tuple(cell for row in self.rows for cell in row)


def read_board(words: Words[Any, Any], text: str) -> BoardText:
    """Find the cells in what `words.board` shows."""
    rows: list[tuple[Cell, ...]] = []
    around: tuple[list[str], list[str]] = ([], [])
    count = 0
    for line in text.split("\n"):
        found = list(words.cell.finditer(plain(line)))
        if not found:
            if not _NUMBERS.fullmatch(plain(line).strip()):
                around[bool(rows)].append(line)
            continue
        named = _ROW_NAME.fullmatch(plain(line)[: found[0].start()])
        cells = []
        for column, match in enumerate(found, start=1):
            count += 1
            label = f"{named[1]}{column}" if named else str(count)
            cells.append(Cell(count, label, _cut(line, *match.span(1))))
        if not rows:
            _drop_heading(around[0])
        rows.append(tuple(cells))
    above, below = ("\n".join(lines).strip("\n") for lines in around)
    return BoardText(tuple(rows), above, below)


def messages(told: str, board: str) -> str:
    """What was told, without the lines that the board shows and the headings over them."""
    shown = {line.strip() for line in plain(board).split("\n") if line.strip()}
    kept: list[str] = []
    for line in told.split("\n"):
        if plain(line).strip() in shown:
            _drop_heading(kept)
        elif line.strip():
            kept.append(line)
    return "\n".join(kept)


def _drop_heading(lines: list[str]) -> None:
    """What stands over a board of its own says nothing beside one that is always there."""
    if lines and plain(lines[-1]).endswith(":"):
        lines.pop()


def _cut(line: str, start: int, end: int) -> str:
    """A part of a line, measured without ink, with the ink that lies on it."""
    at, cut = 0, ""
    for piece, inks in pieces(line):
        part = piece[max(0, start - at) : max(0, end - at)]
        at += len(piece)
        for ink in reversed(inks if part else ()):
            part = ink(part)
        cut += part
    return cut


def changed(before: Sequence[Cell], after: Sequence[Cell]) -> frozenset[int]:
    """The cells in which something else stands now."""
    pairs = zip(before, after, strict=False)
    return frozenset(new.number for old, new in pairs if old.plain != new.plain)
