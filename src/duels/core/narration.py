"""Narration: what happened in a match, as sentences with slots for the players.

A game says each event once, as data. A surface fills the slots when it shows a sentence: `you` for its
reader, names for everybody else. Nothing reads a rendered sentence back.

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
from typing import TYPE_CHECKING

from duels.core.text_board import TextBoard

if TYPE_CHECKING:  # an outcome has a sentence, so the rules import this module
    from duels.core.rules import Seat

_PUNCTUATION = (".", ",", "!", "?", ":", ";")
_CAPITAL_FOLLOWS = (".", "!", "?", ":")


@dataclass(frozen=True, slots=True)
class PlayerNames:
    """What the players are called: each by a name, or else by the seat's label, and the reader `you`.

    >>> from duels.core.rules import Seat
    >>> names = PlayerNames("Ann", reader=Seat.TWO)
    >>> names.name(Seat.ONE), names.possessive(Seat.ONE), names.possessive(Seat.TWO)
    ('Ann', "Ann's", 'your')
    """

    one: str = ""
    two: str = ""
    reader: "Seat | None" = None

    def name(self, seat: "Seat", begins: bool = False) -> str:
        """The name; `begins` if it stands at the beginning of a sentence, or alone."""
        if seat is self.reader:
            return "You" if begins else "you"
        return (self.one, self.two)[seat - 1] or seat.label

    def possessive(self, seat: "Seat", begins: bool = False) -> str:
        """The same of an owner."""
        return self.name(seat, begins) + ("r" if seat is self.reader else "'s")


SEAT_LABELS = PlayerNames()
"""Player 1 and Player 2, to a reader who is neither."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a sentence that depends on its reader."""

    seat: "Seat"
    second: str
    """The text if `seat` is the reader."""
    third: str
    """The text for everybody else; it follows the name if the slot is `named`."""
    named: bool

    def render(self, names: PlayerNames) -> str:
        """Fill the slot."""
        if self.seat is names.reader:
            return self.second
        return names.name(self.seat) + self.third if self.named else self.third


def name(seat: "Seat") -> Slot:
    """The player: `Ann`, or `you`. A seat among the pieces of a sentence is the same."""
    return Slot(seat, "you", "", True)


def whose(seat: "Seat") -> Slot:
    """The player before a noun: `Ann's`, or `your`."""
    return Slot(seat, "your", "'s", True)


def owner(seat: "Seat") -> Slot:
    """The player who has something: `Ann's`, or `yours`."""
    return Slot(seat, "yours", "'s", True)


def verb(seat: "Seat", third: str, second: str) -> Slot:
    """What the player does: `takes`, or `take` after `you`. A verb with one form (`took`) needs no slot."""
    return Slot(seat, second, third, False)


def wins(seat: "Seat") -> Slot:
    """The verb of a result: `wins`, or `win` after `you`."""
    return verb(seat, "wins", "win")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or several on one line, made by `say`."""

    pieces: "tuple[str | Slot | Sentence, ...]"
    ink: Callable[[str], str] | None = None
    """The `Ink` in which a terminal shows it."""

    def render(self, names: PlayerNames = SEAT_LABELS) -> str:
        """Fill the slots."""
        text = "".join([piece if isinstance(piece, str) else piece.render(names) for piece in self.pieces])
        return self.ink(text) if self.ink else text

    @property
    def subject(self) -> "Seat | None":
        """The player whose name it begins with."""
        first = self.pieces[0] if self.pieces else ""
        if isinstance(first, Slot):
            return first.seat if first.named and not first.third else None
        return first.subject if isinstance(first, Sentence) else None

    def replace(self, old: "Slot | Sentence", new: str) -> "Sentence":
        """Return the sentence with a text in place of one of its pieces."""
        return Sentence(tuple([new if piece == old else piece for piece in self.pieces]), self.ink)


def say(*pieces: "str | Seat | Slot | Sentence", ink: Callable[[str], str] | None = None) -> Sentence:
    """Make a sentence of texts, seats, slots and sentences.

    A space separates them, except before punctuation. Empty texts are left out.
    """
    made: list[str | Slot | Sentence] = []
    begins = True
    for piece in pieces:
        if piece == "":
            continue
        if made and not (isinstance(piece, str) and piece.startswith(_PUNCTUATION)):
            made.append(" ")
        if isinstance(piece, str | Sentence):
            made.append(piece)
            begins = isinstance(piece, Sentence) or piece.endswith(_CAPITAL_FOLLOWS)
        else:
            slot = piece if isinstance(piece, Slot) else name(piece)
            made.append(replace(slot, second=slot.second.capitalize()) if begins else slot)
            begins = False
    return Sentence(tuple(made), ink)


def victory(seat: "Seat", ink: Callable[[str], str] | None = None) -> Sentence:
    """The result in a sentence: `Ann wins!`, or `You win!`."""
    return say(seat, wins(seat), "!", ink=ink)


Line = str | Sentence | TextBoard
"""A line of a narration, or a board, which is left out where the board is in sight anyway.

A plain text reads the same to everybody; an empty one is a blank line."""


@dataclass(frozen=True, slots=True)
class Narration:
    r"""What a game says of an event, line by line, and where the board belongs.

    >>> from duels.core.rules import Seat
    >>> taken = say(Seat.ONE, verb(Seat.ONE, "takes", "take"), "two.")
    >>> narration = Narration([taken, TextBoard("oooo  4 left\n")])
    >>> narration.render()
    'Player 1 takes two.\noooo  4 left\n'
    >>> narration.render_news(PlayerNames("Ann", "Bob", reader=Seat.ONE))
    ['You take two.']
    """

    lines: Sequence[Line] = ()
    """The news, in sentences that suit every reader."""
    book: Sequence[Line] | None = None
    """The book's exact words, if it has its own."""
    to: "Seat | None" = None
    """The player whom a plain prompt addresses, in the book's words if it has its own; None: nobody."""
    suspense: bool = False
    """Whether something is in the air, such as a coin."""

    @property
    def sentences(self) -> list[Sentence]:
        """The news without boards and blank lines."""
        news = [line for line in self.lines if line and not isinstance(line, TextBoard)]
        return [line if isinstance(line, Sentence) else Sentence((line,)) for line in news]

    def render(self) -> str:
        """Return the text for a plain prompt, with boards: the book's words, or else ours."""
        names = PlayerNames(reader=self.to)
        lines = self.lines if self.book is None else self.book
        return "".join(
            [
                str(line)
                if isinstance(line, TextBoard)
                else f"{line if isinstance(line, str) else line.render(names)}\n"
                for line in lines
            ]
        )

    def render_news(self, names: PlayerNames = SEAT_LABELS) -> list[str]:
        """Return the lines for a reader who sees the board: the book's words if they suit, or else ours."""
        suits = self.book is not None and self.to in (None, names.reader)
        narration = Narration(self.book or ()) if suits else self
        return [sentence.render(names) for sentence in narration.sentences]
