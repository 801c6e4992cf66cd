"""The words of a game: its questions, boards and messages, without I/O.

A dialogue is a generator that yields a question and receives the line entered. The terminal, the pages and
the tests run the same dialogues. Ink marks in a text are for colours; `strip_ink` removes them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from duels.core.errors import DuelsError, NotationError, quote, shorten_list
from duels.core.narration import SEAT_LABELS, Narration, PlayerNames, TextBoard
from duels.core.notation import parse_whole_number
from duels.core.rules import A, Event, Rules, Seat, Sight, V

T = TypeVar("T")

# Unlike `parse_whole_number`, this accepts negative and long numbers, for a better message.
_INTEGER = re.compile(r"-?[0-9]+")
_MAX_LISTED = 20  # actions that a refusal lists; the command `moves` lists all


class Ink(Enum):
    """The meaning of a piece of text, which a screen shows as a colour. Values are private-use characters."""

    ONE = "\ue001"
    TWO = "\ue002"
    CHANGED = "\ue003"
    WON = "\ue004"
    DIM = "\ue005"
    COPIED = "\ue006"
    """Text to copy, which is never wrapped."""
    LOST = "\ue007"

    def __call__(self, text: str) -> str:
        return f"{self.value}{text}{_END}"

    @classmethod
    def for_seat(cls, seat: Seat) -> "Ink":
        """Return the ink of a seat's symbols."""
        return cls.ONE if seat is Seat.ONE else cls.TWO


_END = "\ue000"
_MARKS = re.compile("[\ue000-\ue007]")


def strip_ink(text: str) -> str:
    """Return the text without ink."""
    return text if text.isascii() else _MARKS.sub("", text)


def apply_ink(text: str, codes: dict[Ink, str]) -> str:
    """Replace each ink by its terminal code; inks may nest."""
    return "".join(
        f"{''.join(codes[ink] for ink in inks)}{piece}\x1b[0m" if inks else piece
        for piece, inks in split_by_ink(text)
    )


def split_by_ink(text: str) -> list[tuple[str, tuple[Ink, ...]]]:
    """Split the text into pieces, each with its inks, the outermost first."""
    pieces: list[tuple[str, tuple[Ink, ...]]] = []
    inks: tuple[Ink, ...] = ()
    for piece in re.split(f"({_MARKS.pattern})", text):
        if piece == _END:
            inks = inks[:-1]
        elif _MARKS.fullmatch(piece):
            inks += (Ink(piece),)
        elif piece:
            pieces.append((piece, inks))
    return pieces


@dataclass(frozen=True, slots=True)
class ActionCells:
    """The cells by which a player chooses an action on the board."""

    cells: tuple[int, ...]
    """The numbers of the cells (`Cell.number`)."""
    kind: str = ""
    """The kind of action, if the cells allow several. Kinds begin with different letters."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt for a seat; the entry follows on the same line.

    `notice` explains why the last entry was rejected. If `secret`, only this seat may see the entry and the
    notice. `solo_prompt` replaces the prompt for a person who plays against a machine at a terminal, where
    nobody else sees it; if it is empty, the book's prompt is used there too.
    """

    prompt: str
    notice: str = ""
    secret: bool = False
    solo_prompt: str = ""

    def for_solo(self) -> "Question":
        """Return the question for a person who plays against a machine."""
        return replace(self, prompt=self.solo_prompt or self.prompt)


Dialogue = Generator[Question, str, T]


class InvalidEntry(DuelsError):
    """An entry is not accepted; the message says why, and what is allowed."""


def ask_until(
    prompt: str, read: Callable[[str], T], secret: bool = False, notice: str = "", solo_prompt: str = ""
) -> Dialogue[T]:
    """Ask until `read` accepts the entry instead of raising InvalidEntry. Return the result of `read`."""
    while True:
        entry = yield Question(prompt, notice, secret, solo_prompt)
        try:
            return read(entry)
        except InvalidEntry as refusal:
            notice = str(refusal)


def parse_number(entry: str, allowed: str) -> int:
    """Return the whole number entered. Raises InvalidEntry, which ends with `allowed`."""
    number = parse_whole_number(entry)
    if number is None:
        problem = "out of range" if _INTEGER.fullmatch(entry.strip()) else "not a whole number"
        raise InvalidEntry(f"{quote_entry(entry)} is {problem}. {allowed}")
    return number


def parse_yes_no(entry: str) -> bool:
    """Return whether the entry is yes or y; no or n is False. Raises InvalidEntry."""
    word = entry.strip().lower()
    if word in ("yes", "y"):
        return True
    if word in ("no", "n"):
        return False
    raise InvalidEntry(f"{quote_entry(entry)} is neither yes nor no. Please enter yes or no.")


def quote_entry(entry: str) -> str:
    """Quote an entry for a message."""
    return quote(entry.strip()) if entry.strip() else "An empty line"


def join_or(options: Sequence[object], limit: int | None = None) -> str:
    """Join options: `3`, `3 or 5`, `3, 5 or 6`. Above `limit`, end with a count: `3, 5 or 4 others`."""
    words = [str(option) for option in options]
    if limit is not None and len(words) > limit:
        words[limit - 1 :] = [f"{len(words) - limit + 1} others"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def join_and(words: list[str]) -> str:
    """Join words with commas and `and`: `1, 2 and 3`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class Words(ABC, Generic[A, V]):
    """The words of one game, made from its rules.

    A game must define `narrate` and `board`. By default, players enter actions in notation. Texts end with a
    newline unless an entry follows on the same line.
    """

    letters: ClassVar[frozenset[str]] = frozenset()
    """Lower-case letters with a meaning in the game, so that they are not commands, such as `q`."""
    answer_kinds: ClassVar[tuple[tuple[str, type], ...]] = (("your action in the game's notation", object),)
    """How a language model writes each kind of action, such as `keep and the tile whose value you keep`."""

    def __init__(self, rules: Rules[Any, A, V]) -> None:
        self.rules = rules

    @abstractmethod
    def narrate(self, seen: Sequence[Event]) -> Narration:
        """Describe the last of the events seen so far."""

    @abstractmethod
    def board(self, sight: Sight[A, V]) -> TextBoard:
        """Return the board from the seat's point of view, whether or not it is to move."""

    def opening(self) -> Narration:
        """Return the text before the first turn."""
        board = self.board(self.rules.sight(self.rules.initial(), Seat.ONE))
        return Narration([f"Welcome to {self.rules.game.title}!", "", board, ""])

    def ask(self, sight: Sight[A, V]) -> Dialogue[A]:
        """Ask the seat for a legal action, or return it without a question if the book asks none.

        Prompts are visible to everybody at the screen, so they must not contain secrets. Notices may.
        """

        def read(entry: str) -> A:
            names = [self.rules.format(action) for action in sight.actions]
            allowed = f"Enter {join_or(shorten_list(names, _MAX_LISTED))}."
            try:
                action = self.rules.parse(entry)
            except NotationError as error:
                is_short = len(names) <= _MAX_LISTED
                raise InvalidEntry(
                    f"{quote_entry(entry)} is not a move. {allowed}" if is_short else str(error)
                ) from None
            if action not in sight.actions:
                raise InvalidEntry(f"{quote_entry(entry)} is not allowed now. {allowed}")
            return action

        return ask_until(self.prompt(sight), read, self.is_secret(sight))

    def prompt(self, sight: Sight[A, V]) -> str:
        """Return the prompt of the default `ask`."""
        return f"{self.player(sight.seat)}, your move: "

    def is_secret(self, sight: Sight[A, V]) -> bool:
        """Return whether only this seat may see its entry in the default `ask`; if unsure, True."""
        return self.rules.has_hidden_information

    def entries(self, sight: Sight[A, V], action: A) -> tuple[str, ...]:
        """Return the entries in `ask` that choose this action."""
        return (self.rules.format(action),)

    def moves(self, sight: Sight[A, V]) -> str:
        """Return a text of a few lines that lists the seat's legal actions."""
        return f"Possible moves: {', '.join(map(self.rules.format, sight.actions)) or 'none'}\n"

    def player(self, seat: Seat) -> str:
        """Return the seat's name in its colour."""
        return Ink.for_seat(seat)(self.seat_name(seat))

    def answer_forms(self, sight: Sight[A, V]) -> dict[str, list[A]]:
        """Return the legal actions by the way a language model writes them."""
        return {
            form: [action for action in sight.actions if isinstance(action, kind)]
            for form, kind in self.answer_kinds
        }

    def facts(self, sight: Sight[A, V]) -> list[str]:
        """Return sentences that tell a language model more about the position than the board shows."""
        return []

    def solo_board(self, sight: Sight[A, V], opponent: str) -> TextBoard | None:
        """Return the board to show before each question to a person who plays against a machine.

        `opponent` is the name of the other player. Without hidden information there is no such board: the
        narration shows the board.
        """
        return None

    def open_board(
        self, one: Sight[A, V], two: Sight[A, V], *, names: PlayerNames = SEAT_LABELS
    ) -> TextBoard:
        """Return the board with the hidden information of both seats, for a review."""
        if not self.rules.has_hidden_information:
            return self.board(one)
        boards = [f"{names.name(sight.seat, begins=True)}:\n{self.board(sight)}" for sight in (one, two)]
        return TextBoard("".join(boards))

    def action_cells(self, sight: Sight[A, V], action: A) -> ActionCells | None:
        """Return the cells of an action, or None if players choose it from a list."""
        return None

    def name_action(self, sight: Sight[A, V], action: A) -> str:
        """Return the action in the form of an entry, for advice."""
        return self.rules.format(action)

    def label_action(self, sight: Sight[A, V], action: A) -> str:
        """Return a noun for the action, for sentences about it (`light 1`)."""
        return self.rules.format(action)

    def summarize_actions(self, sight: Sight[A, V], actions: Sequence[A]) -> str:
        """Return several actions in a few words (`flip any unseen tile`), or '' to list them."""
        return ""

    def seat_name(self, seat: Seat) -> str:
        """Return the game's name for a seat: its label, or its token (`X`)."""
        return seat.label

    def recap(self, sight: Sight[A, V]) -> Narration:
        """Narrate past observations of the seat that the board no longer shows."""
        return Narration()

    def render_secret_turn(self, seat: Seat) -> str:
        """Return the text that others see when `seat` decides in secret."""
        return f"{self.player(seat)}, your move: {Ink.DIM('(hidden)')}\n"
