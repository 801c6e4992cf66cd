"""Drawings: boards as SVG, drawn from the information of one seat.

Web pages, reviews and docs use the same drawing. A game that defines none shows its text board.

A page needs no knowledge of the rules. Every cell is a `g.cell` with its name in `data-cell`. A legal action
is a `g.target` with the notation in `data-action` and its cells in `data-cells`:

- Without `data-mode`, the player clicks the target.
- With `data-mode` (flip's Quantum Flip), the target shares its cells with other targets and is invisible. The
  page offers the mode as a switch. Then the player picks cells one after another, which selects the target
  with these `data-cells`. The class `chosen` shows it.

Elements that persist from move to move have a `data-key`. The script that patches the page finds them by it,
and `boards.css` animates the changes.

Elements that only this seat may see have the class `secret`. Elements whose presence depends on a secret have
the class `telling`. A page can hide both kinds from people beside the player. While they are hidden,
`data-veiled` replaces the label of an element whose own label contains a secret.
"""

from abc import ABC, abstractmethod
from html import escape
from typing import Generic

from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import A, Sight, V
from duels.core.svg import WIDTH, Picture, board, element
from duels.core.words import Words, strip_ink

_FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_MARGIN = 24
_MAX_LETTER_WIDTH = 16.0
_LETTER_ASPECT = 0.6  # width divided by height of a letter in _FONT
_LINE_HEIGHT = 1.4


class Drawing(ABC, Generic[A, V]):
    """Draws the board of one game."""

    @abstractmethod
    def draw(self, sight: Sight[A, V], *, targets: bool = False, names: PlayerNames = SEAT_LABELS) -> Picture:
        """Draw the board as the seat sees it. `names` are the players' names.

        With `targets`, the player can click the legal actions for which `is_on_board` is true.
        """

    def draw_open(self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS) -> Picture:
        """Draw the board with the hidden information of both seats, for a review.

        Games with hidden information override this method.
        """
        return self.draw(one, names=names)

    def is_on_board(self, action: A) -> bool:
        """Return whether an action is chosen on the board; otherwise a page has a button for it."""
        return False

    def instruction(self, sight: Sight[A, V]) -> str:
        """Return one or two short sentences that tell the player to move what to do."""
        return "Choose your move."

    def recap(self, sight: Sight[A, V]) -> str:
        """Return a sentence about past observations that the board no longer shows, or ''."""
        return ""

    def opponent_task(self, sight: Sight[A, V]) -> str:
        """Return a verb for the opponent's task while this seat waits."""
        return "move"

    def last_change(self, sight: Sight[A, V]) -> str:
        """Return a sentence about a change in the last turn that the board does not show, or ''."""
        return ""

    @property
    def guide(self) -> tuple[str, ...]:
        """Sentences on how to read and click the board, which a page adds to the rule card."""
        return ()

    def example(self, sight: Sight[A, V]) -> str:
        """Return a sample entry for an input field, without secrets, or ''."""
        return ""


class TextDrawing(Drawing[A, V]):
    """The board as text in a monospace font that fits the width."""

    def __init__(self, words: Words[A, V]) -> None:
        self._words = words

    def draw(self, sight: Sight[A, V], *, targets: bool = False, names: PlayerNames = SEAT_LABELS) -> Picture:
        return self._draw_text(str(self._words.board(sight)), targets)

    def draw_open(self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS) -> Picture:
        return self._draw_text(str(self._words.open_board(one, two, names=names)))

    def _draw_text(self, text: str, targets: bool = False) -> Picture:
        lines = strip_ink(text).strip("\n").split("\n")
        letters = max(1, *map(len, lines))
        size = min(_MAX_LETTER_WIDTH / _LETTER_ASPECT, (WIDTH - 2 * _MARGIN) / letters / _LETTER_ASPECT)
        height = 2 * _MARGIN + size * _LINE_HEIGHT * len(lines)
        rows = [
            element(
                "text",
                escape(line),
                fill="ink",
                x=_MARGIN,
                y=_MARGIN + size * _LINE_HEIGHT * (row + 0.75),
                font_size=size,
                font_family=_FONT,
                **{"xml:space": "preserve"},
            )
            for row, line in enumerate(lines)
            if line
        ]
        label = " / ".join(line.strip() for line in lines)
        return board(height, label, rows, [] if targets else None)
