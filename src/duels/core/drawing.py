"""How a board looks, as a value: what a seat may know in, SVG text out.

Page, review and docs use the same drawing. A game that has none of its own is drawn as its words show it.

A page needs to know no rule. Every cell is a `g.cell` with `data-cell`, its name. What can be done on the
board is a `g.target` with `data-action` (the notation to play) and `data-cells` (the cells it is about):

- Without `data-mode` a target is pressed itself.
- With `data-mode` (flip's Quantum Flip) it shares its cells with other targets, and is not seen. The page
  offers the mode as a switch; then the player picks cells one after another, and the target whose
  `data-cells` are those that were picked is meant. The class `chosen` shows it.

Elements that stay the same thing while they change have a `data-key`, by which a script that patches the page
tells them apart; `boards.css` moves what changed. What only this seat may know has the class `secret`, and
`telling` what is there or not by such a secret; both can be hidden from a neighbour's eyes. `data-veiled` is
then the name of an element whose own name tells a secret.
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
_WIDEST_LETTER = 16.0
_LETTER_ASPECT = 0.6  # width by height of a letter in the fonts named below
_LINE = 1.4


class Drawing(ABC, Generic[A, V]):
    """One game's board, made from its rules."""

    @abstractmethod
    def picture(
        self, sight: Sight[A, V], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        """The board as this seat may see it, WIDTH wide, with these names wherever it speaks of a player.

        With `targets`, what the seat may do now and what has a place on the board can be pressed there.
        """

    def open_picture(
        self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        """The same with the secrets of both seats, for whoever looks back on a match.

        A game with secrets overrides it; without any the board is the same to both.
        """
        return self.picture(one, names=names)

    def draw(self, sight: Sight[A, V], *, targets: bool = False, names: PlayerNames = SEAT_LABELS) -> str:
        """The picture as text: one `<svg>` element."""
        return str(self.picture(sight, targets=targets, names=names))

    def draw_open(self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS) -> str:
        """The open picture as text."""
        return str(self.open_picture(one, two, names=names))

    def is_on_board(self, action: A) -> bool:
        """Whether an action is chosen on the board itself; for any other a page has a button."""
        return False

    def instruction(self, sight: Sight[A, V]) -> str:
        """What the seat to move is to do, in a short sentence or two for whoever looks at the board."""
        return "Choose your move."

    def recap(self, sight: Sight[A, V]) -> str:
        """What the seat has been shown and the drawing no longer shows, as a sentence; or ''."""
        return ""

    def opponent_task(self, sight: Sight[A, V]) -> str:
        """What the other seat is to do while this one waits, as a verb."""
        return "move"

    def last_change(self, sight: Sight[A, V]) -> str:
        """What the last turn did to the board that is no longer seen on it, as a sentence; mostly empty."""
        return ""

    @property
    def guide(self) -> tuple[str, ...]:
        """What the board shows and where it is pressed, in sentences for whoever has read the rule card.

        No rules: those are on the card. A page adds it there.
        """
        return ()

    def example(self, sight: Sight[A, V]) -> str:
        """An entry to show where one is typed: it tells nothing of a secret. Empty where none is needed."""
        return ""


class TextDrawing(Drawing[A, V]):
    """The board in its words, in letters of equal width that fit however long the lines are."""

    def __init__(self, words: Words[A, V]) -> None:
        self._words = words

    def picture(
        self, sight: Sight[A, V], *, targets: bool = False, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        return self._written(str(self._words.board(sight)), targets)

    def open_picture(
        self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS
    ) -> Picture:
        return self._written(str(self._words.open_board(one, two)))

    def _written(self, told: str, targets: bool = False) -> Picture:
        lines = strip_ink(told).strip("\n").split("\n")
        letters = max(1, *map(len, lines))
        size = min(_WIDEST_LETTER / _LETTER_ASPECT, (WIDTH - 2 * _MARGIN) / letters / _LETTER_ASPECT)
        height = 2 * _MARGIN + size * _LINE * len(lines)
        rows = [
            element(
                "text",
                escape(line),
                fill="ink",
                x=_MARGIN,
                y=_MARGIN + size * _LINE * (row + 0.75),
                font_size=size,
                font_family=_FONT,
                **{"xml:space": "preserve"},
            )
            for row, line in enumerate(lines)
            if line
        ]
        label = " / ".join(line.strip() for line in lines)
        return board(height, label, rows, [] if targets else None)
