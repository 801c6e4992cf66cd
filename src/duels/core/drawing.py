"""How a board looks, as a value: what a seat may know in, SVG text out.

Page, review and docs use the same drawing. A game that has none of its own is drawn as its words show it.
"""

from abc import ABC, abstractmethod
from html import escape
from typing import Generic

from duels.core.rules import A, Sight, V
from duels.core.words import Words, plain

WIDTH = 624
"""Every board is as wide as its card, in units of the drawing."""
_MARGIN = 24
_WIDEST_LETTER = 16.0
_LETTER_ASPECT = 0.6  # width by height of a letter in the fonts named below
_LINE = 1.4


class Drawing(ABC, Generic[A, V]):
    """One game's board, made from its rules."""

    @abstractmethod
    def draw(self, sight: Sight[A, V]) -> str:
        """One `<svg>` element, WIDTH wide: the board as this seat may see it."""


class TextDrawing(Drawing[A, V]):
    """The board in its words, in letters of equal width that fit however long the lines are."""

    def __init__(self, words: Words[A, V]) -> None:
        self._words = words

    def draw(self, sight: Sight[A, V]) -> str:
        lines = plain(self._words.board(sight)).strip("\n").split("\n")
        letters = max(1, *map(len, lines))
        size = min(_WIDEST_LETTER / _LETTER_ASPECT, (WIDTH - 2 * _MARGIN) / letters / _LETTER_ASPECT)
        height = 2 * _MARGIN + size * _LINE * len(lines)
        rows = "".join(
            f'<text x="{_MARGIN}" y="{_MARGIN + size * _LINE * (row + 0.75):.1f}" xml:space="preserve">'
            f"{escape(line)}</text>"
            for row, line in enumerate(lines)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
            f'aria-label="{escape(" / ".join(line.strip() for line in lines))}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{size:.1f}" '
            f'fill="currentColor">{rows}</svg>'
        )
