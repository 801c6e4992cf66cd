"""Narration: the events of a match as sentences with slots for the players.

A game describes each event once, as data. A user interface fills the slots when it shows a sentence: `you`
for the reader, names for everybody else. No code parses a rendered sentence.

>>> from duels.core.rules import Seat
>>> won = say(Seat.ONE, wins(Seat.ONE), "by capturing", whose(Seat.TWO), "token!")
>>> won.render()
"Player 1 wins by capturing Player 2's token!"
>>> won.render(PlayerNames("Ann", "Bob", reader=Seat.ONE))
"You win by capturing Bob's token!"
>>> won.render(PlayerNames("Ann", "Bob", reader=Seat.TWO))
'Ann wins by capturing your token!'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # an outcome has a sentence, so the rules import this module
    from duels.core.rules import Seat

_PUNCTUATION = (".", ",", "!", "?", ":", ";")
_CAPITAL_FOLLOWS = (".", "!", "?", ":")


@dataclass(frozen=True, slots=True)
class PlayerNames:
    """How sentences name the players: `you` for the reader, otherwise a name or the seat's label.

    >>> from duels.core.rules import Seat
    >>> names = PlayerNames("Ann", reader=Seat.TWO)
    >>> names.name(Seat.ONE), names.possessive(Seat.ONE), names.possessive(Seat.TWO)
    ('Ann', "Ann's", 'your')
    """

    one: str = ""
    two: str = ""
    reader: "Seat | None" = None

    def name(self, seat: "Seat", begins: bool = False) -> str:
        """Return the name, capitalized as `You` if it begins a sentence."""
        if seat is self.reader:
            return "You" if begins else "you"
        return (self.one, self.two)[seat - 1] or seat.label

    def possessive(self, seat: "Seat", begins: bool = False) -> str:
        """Return the possessive form of the name."""
        return self.name(seat, begins) + ("r" if seat is self.reader else "'s")


SEAT_LABELS = PlayerNames()
"""Player 1 and Player 2, to a reader who is neither."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a sentence whose text depends on the reader."""

    seat: "Seat"
    second: str
    """The text if `seat` is the reader."""
    third: str
    """The text for everybody else; it follows the name if the slot `includes_name`."""
    includes_name: bool

    def render(self, names: PlayerNames) -> str:
        """Fill the slot."""
        if self.seat is names.reader:
            return self.second
        return names.name(self.seat) + self.third if self.includes_name else self.third


def name(seat: "Seat") -> Slot:
    """Return a slot for the player: `Ann`, or `you`. `say` makes one from a seat."""
    return Slot(seat, "you", "", True)


def whose(seat: "Seat") -> Slot:
    """Return a slot for the player before a noun: `Ann's`, or `your`."""
    return Slot(seat, "your", "'s", True)


def owner(seat: "Seat") -> Slot:
    """Return a slot for the possessive without a noun: `Ann's`, or `yours`."""
    return Slot(seat, "yours", "'s", True)


def verb(seat: "Seat", third: str, second: str) -> Slot:
    """Return a slot for a verb: `takes`, or `take` after `you`. Verbs with one form (`took`) need no slot."""
    return Slot(seat, second, third, False)


def wins(seat: "Seat") -> Slot:
    """Return a slot for the verb of a result: `wins`, or `win` after `you`."""
    return verb(seat, "wins", "win")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or several on one line, made by `say`."""

    pieces: "tuple[str | Slot | Sentence, ...]"
    ink: Callable[[str], str] | None = None
    """The `Ink` of the sentence on a terminal."""

    def render(self, names: PlayerNames = SEAT_LABELS) -> str:
        """Fill the slots."""
        text = "".join([piece if isinstance(piece, str) else piece.render(names) for piece in self.pieces])
        return self.ink(text) if self.ink else text

    @property
    def subject(self) -> "Seat | None":
        """The player whose name begins the sentence, or None."""
        first = self.pieces[0] if self.pieces else ""
        if isinstance(first, Slot):
            return first.seat if first.includes_name and not first.third else None
        return first.subject if isinstance(first, Sentence) else None

    def replace(self, old: "Slot | Sentence", new: str) -> "Sentence":
        """Return the sentence with the piece `old` replaced by a text."""
        return Sentence(tuple([new if piece == old else piece for piece in self.pieces]), self.ink)


def say(*pieces: "str | Seat | Slot | Sentence", ink: Callable[[str], str] | None = None) -> Sentence:
    """Make a sentence of texts, seats, slots and sentences.

    A space separates them, except before punctuation. Empty texts are left out.
    """
    parts: list[str | Slot | Sentence] = []
    begins = True
    for piece in pieces:
        if piece == "":
            continue
        if parts and not (isinstance(piece, str) and piece.startswith(_PUNCTUATION)):
            parts.append(" ")
        if isinstance(piece, str | Sentence):
            parts.append(piece)
            begins = isinstance(piece, Sentence) or piece.endswith(_CAPITAL_FOLLOWS)
        else:
            slot = piece if isinstance(piece, Slot) else name(piece)
            parts.append(replace(slot, second=slot.second.capitalize()) if begins else slot)
            begins = False
    return Sentence(tuple(parts), ink)


def victory(seat: "Seat", ink: Callable[[str], str] | None = None) -> Sentence:
    """Return the sentence of a result: `Ann wins!`, or `You win!`."""
    return say(seat, wins(seat), "!", ink=ink)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a board."""

    number: int
    """From 1 in reading order, as in `ActionCells.cells`."""
    label: str
    """The cell's name: `4`, `B2`."""
    text: str
    """The cell's content, with ink."""


@dataclass(frozen=True, slots=True)
class Row:
    """The contents of cells side by side, and their layout as a line of text.

    >>> str(Row(("X", " ", "3")))
    '[X][ ][3]\\n'
    """

    texts: tuple[str, ...]
    opening: str = "["
    between: str = "]["
    closing: str = "]"
    name: str = ""
    """The prefix of the cells' labels, as in `B1` and `B2`. Without it, numbers run through all rows."""
    above: str = ""
    """A line of numbers over the cells; omitted if each cell is drawn with its label."""
    below: str = ""
    """A line of numbers under the cells; omitted if each cell is drawn with its label."""

    def __str__(self) -> str:
        return f"{self.above}{self.opening}{self.between.join(self.texts)}{self.closing}\n{self.below}"


@dataclass(frozen=True, slots=True)
class TextBoard:
    """A board: rows of cells and the text below them. Both are optional.

    `str` returns the whole board as text.
    """

    text: str = ""
    rows: tuple[Row, ...] = ()
    heading: str = ""
    """Lines over the rows; omitted if the cells are drawn."""

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


Line = str | Sentence | TextBoard
"""A line of a narration: a text, a sentence, or a board. A display with its own board leaves it out.

A plain text is the same for every reader; an empty one is a blank line."""


@dataclass(frozen=True, slots=True)
class Narration:
    r"""The description of an event, line by line, with the position of the board.

    >>> from duels.core.rules import Seat
    >>> taken = say(Seat.ONE, verb(Seat.ONE, "takes", "take"), "two.")
    >>> narration = Narration([taken, TextBoard("oooo  4 left\n")])
    >>> narration.render()
    'Player 1 takes two.\noooo  4 left\n'
    >>> narration.render_news(PlayerNames("Ann", "Bob", reader=Seat.ONE))
    ['You take two.']
    """

    lines: Sequence[Line] = ()
    """The news, in words that suit every reader, with the boards that a plain terminal shows."""
    book: Sequence[Line] | None = None
    """The rule book's exact words, if it has any for this event."""
    reader: "Seat | None" = None
    """The player whom the book's words address as `you`, or None."""
    book_names_seats: bool = False
    """Whether the book's words say `Player 1`, which does not fit players with names."""
    suspense: bool = False
    """Whether to pause after this event, as after a coin flip."""

    @property
    def sentences(self) -> list[Sentence]:
        """The news without boards and blank lines."""
        news = [line for line in self.lines if line and not isinstance(line, TextBoard)]
        return [line if isinstance(line, Sentence) else Sentence((line,)) for line in news]

    def render(self, names: PlayerNames | None = None) -> str:
        """Return the text with boards, for the reader in `names`: the book's words if they fit, or ours.

        Without `names`, the book's words always fit, because they address the player who moves.
        """
        names = names or PlayerNames(reader=self.reader)
        return "".join(
            [
                str(line)
                if isinstance(line, TextBoard)
                else f"{line if isinstance(line, str) else line.render(names)}\n"
                for line in self._select_lines(names)
            ]
        )

    def render_news(self, names: PlayerNames = SEAT_LABELS) -> list[str]:
        """Return the lines for a reader who sees the board: the book's words if they fit, or ours."""
        narration = Narration(self._select_lines(names))
        return [sentence.render(names) for sentence in narration.sentences]

    def _select_lines(self, names: PlayerNames) -> Sequence[Line]:
        """Return the book's words, or ours if there are none or they do not fit the reader and the names."""
        if self.book is None or self.reader not in (None, names.reader):
            return self.lines
        return self.lines if self.book_names_seats and (names.one or names.two) else self.book
