"""How a game speaks: its questions, boards and messages, as values without any I/O.

A dialogue is a generator that yields a question and is sent the line entered, so terminal, tests
and pages drive the same words. Ink marks in a text say what may be coloured; `strip_ink` drops them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Generic, TypeVar

from duels.core.errors import DuelsError, quote
from duels.core.narration import Narration, TextBoard
from duels.core.notation import parse_whole_number
from duels.core.rules import A, Event, Seat, Sight, V

T = TypeVar("T")

# Negative or too long to be read as a cell or a light, but a number all the same.
_INTEGER = re.compile(r"-?[0-9]+")


class Ink(Enum):
    """What a piece of text is, for a screen to show as it can. Values are private-use marks."""

    ONE = "\ue001"
    TWO = "\ue002"
    CHANGED = "\ue003"
    WON = "\ue004"
    DIM = "\ue005"
    COPIED = "\ue006"
    """What is copied and entered elsewhere: in one piece, however narrow the screen."""
    LOST = "\ue007"

    def __call__(self, text: str) -> str:
        return f"{self.value}{text}{_END}"

    @classmethod
    def for_seat(cls, seat: Seat) -> "Ink":
        """The ink of a seat's symbols."""
        return cls.ONE if seat is Seat.ONE else cls.TWO


_END = "\ue000"
_MARKS = re.compile("[\ue000-\ue007]")


def strip_ink(text: str) -> str:
    """The text itself, without ink."""
    return text if text.isascii() else _MARKS.sub("", text)


def apply_ink(text: str, codes: dict[Ink, str]) -> str:
    """The text with each ink turned into its terminal code; inks may nest."""
    return "".join(
        f"{''.join(codes[ink] for ink in inks)}{piece}\x1b[0m" if inks else piece
        for piece, inks in split_by_ink(text)
    )


def split_by_ink(text: str) -> list[tuple[str, tuple[Ink, ...]]]:
    """The text in pieces, each with the inks that lie on it, the outermost first."""
    found: list[tuple[str, tuple[Ink, ...]]] = []
    inks: tuple[Ink, ...] = ()
    for piece in re.split(f"({_MARKS.pattern})", text):
        if piece == _END:
            inks = inks[:-1]
        elif _MARKS.fullmatch(piece):
            inks += (Ink(piece),)
        elif piece:
            found.append((piece, inks))
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the board an action is made, for whoever points at the board."""

    cells: tuple[int, ...]
    """The numbers of the cells that it is about (`Cell.number`)."""
    kind: str = ""
    """What is done there, where one cell allows several things. Kinds begin with different letters."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something asked of a seat: the prompt, which the entry follows on the same line.

    `notice` says what was wrong with the last entry. A `secret` question's entry and notice are for
    the eyes of that seat only.
    """

    prompt: str
    notice: str = ""
    secret: bool = False


Dialogue = Generator[Question, str, T]


class InvalidEntry(DuelsError):
    """An entry cannot be taken; the message says why and what can."""


def ask_until(prompt: str, read: Callable[[str], T], secret: bool = False, notice: str = "") -> Dialogue[T]:
    """Ask, and ask again after every entry that `read` refuses; `notice` says why it is asked at all."""
    while True:
        entry = yield Question(prompt, notice, secret)
        try:
            return read(entry)
        except InvalidEntry as refusal:
            notice = str(refusal)


def parse_number(entry: str, allowed: str) -> int:
    """The whole number entered; `allowed` completes the refusal of anything else."""
    number = parse_whole_number(entry)
    if number is None:
        why = "out of range" if _INTEGER.fullmatch(entry.strip()) else "not a whole number"
        raise InvalidEntry(f"{quote_entry(entry)} is {why}. {allowed}")
    return number


def parse_yes_no(entry: str) -> bool:
    """Yes or no, in full or by the first letter."""
    word = entry.strip().lower()
    if word in ("yes", "y"):
        return True
    if word in ("no", "n"):
        return False
    raise InvalidEntry(f"{quote_entry(entry)} is neither yes nor no. Please enter yes or no.")


def quote_entry(entry: str) -> str:
    """An entry as a refusal names it."""
    return quote(entry.strip()) if entry.strip() else "An empty line"


def join_or(options: Sequence[object], most: int | None = None) -> str:
    """`3`, `3 or 5`, `3, 5 or 6`; above `most` options the last part is a count: `3, 5 or 4 more`."""
    words = [str(option) for option in options]
    if most is not None and len(words) > most:
        words[most - 1 :] = [f"{len(words) - most + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class Words(ABC, Generic[A, V]):
    """One game's voice, made from its rules.

    Texts end with a newline unless an entry follows on the same line.
    """

    letters: ClassVar[frozenset[str]] = frozenset()
    """Single letters that mean something of the game's own, in lower case: `q` cannot leave there."""

    @abstractmethod
    def opening(self) -> Narration:
        """What to say before the first turn."""

    @abstractmethod
    def ask(self, sight: Sight[A, V]) -> Dialogue[A]:
        """Ask the seat for one legal action; a game may ask nothing where the book does not.

        Prompts are for everybody at the screen: they hold nothing that is this seat's secret. Notices
        may.
        """

    @abstractmethod
    def entries(self, sight: Sight[A, V], action: A) -> tuple[str, ...]:
        """What to enter in `ask` for this action: what a machine player appears to type."""

    @abstractmethod
    def narrate(self, seen: Sequence[Event]) -> Narration:
        """What to say of the last of the events seen so far."""

    @abstractmethod
    def board(self, sight: Sight[A, V]) -> TextBoard:
        """The board as this seat may see it, at any time."""

    @abstractmethod
    def moves(self, sight: Sight[A, V]) -> str:
        """What the seat may do now, in one or a few lines."""

    def open_board(self, one: Sight[A, V], two: Sight[A, V]) -> TextBoard:
        """The board with the secrets of both seats, for looking back at a match that is over."""
        if not one.rules.has_secrets:
            return self.board(one)
        return TextBoard("".join(f"{sight.seat.label}:\n{self.board(sight)}" for sight in (one, two)))

    def place(self, sight: Sight[A, V], action: A) -> Place | None:
        """Where on the board the action is made; None: it is chosen from a list."""
        return None

    def name_action(self, sight: Sight[A, V], action: A) -> str:
        """The action as advice names it: as it is entered (`stay`)."""
        return sight.rules.format(action)

    def label_action(self, sight: Sight[A, V], action: A) -> str:
        """Return a noun for the action, for sentences about it (`light 1`)."""
        return sight.rules.format(action)

    def summarize_actions(self, sight: Sight[A, V], actions: Sequence[A]) -> str:
        """Several actions in a few words (`flip any unseen tile`), or '' where they are best listed."""
        return ""

    def seat_name(self, seat: Seat) -> str:
        """What the game calls a seat: its label, or its token (`X`)."""
        return seat.label

    def recap(self, sight: Sight[A, V]) -> Narration:
        """What the seat has been shown and the board no longer shows."""
        return Narration()

    def render_secret_turn(self, seat: Seat) -> str:
        """What others see where `seat` decides in secret."""
        return ""
