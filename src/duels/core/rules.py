"""The contract of a game's rules.

These docstrings are the specification for people who write games. `core.laws` checks a game against them.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from duels.core.errors import BadOption, DuelsError
from duels.core.narration import Sentence, say
from duels.core.options import OptionKind, OptionValue, list_options
from duels.core.validation import as_int

if TYPE_CHECKING:  # a prompt needs neither module, and both are slow to import
    from fractions import Fraction
    from random import Random

    from duels.core.game import Game

S = TypeVar("S", bound=Hashable)  # a state: frozen, hashable, complete
A = TypeVar("A", bound=Hashable)  # an action of a seat, or an outcome of chance: frozen, hashable
V = TypeVar("V", bound=Hashable)  # the view that one seat has of a state


class Seat(IntEnum):
    """One of the two players. Player 1 moves first.

    >>> Seat.ONE.other, Seat.TWO.label
    (<Seat.TWO: 2>, 'Player 2')
    """

    ONE = 1
    TWO = 2

    @property
    def other(self) -> "Seat":
        """The opponent's seat."""
        return Seat.TWO if self is Seat.ONE else Seat.ONE

    @property
    def label(self) -> str:
        """The seat's name in the rule books: `Player 1`."""
        return f"Player {int(self)}"


def as_seat(value: object) -> Seat:
    """Return a seat or a seat's number, 1 or 2, as a Seat. Raises DuelsError for anything else."""
    if isinstance(value, Seat):
        return value
    number = as_int(value)
    if number in (1, 2):
        return Seat(number)
    raise DuelsError(f"A seat must be Seat.ONE or Seat.TWO (1 or 2), not {value!r}.")


class Chance(Enum):
    """The type of CHANCE, which acts where a coin is flipped or a tile is turned over.

    >>> import duels
    >>> match = duels.start("chain").play_text("3", "5", "4", "challenge")
    >>> match.actor is duels.CHANCE, [match.rules.format(outcome) for outcome in match.actions]
    (True, ['heads', 'tails'])
    """

    CHANCE = "chance"


CHANCE = Chance.CHANCE
"""The actor at a chance node."""
Actor = Seat | Chance
"""A seat, or CHANCE."""
BOTH = frozenset(Seat)
"""Both seats."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a match, and the seats that see it.

    Games subclass it and add fields. An event holds everything that is needed to describe it. The events
    that a seat has seen are all that the seat knows about a match.

    >>> @dataclass(frozen=True)
    ... class CardDealt(Event):
    ...     card: int
    >>> event = CardDealt(7, seen_by=frozenset({Seat.ONE}))
    >>> event.visible_to(frozenset({Seat.ONE})), event.visible_to(frozenset({Seat.TWO}))
    (True, False)
    """

    reveals: ClassVar[bool] = False
    """Whether the event reveals a secret. Taking back such a move then needs the opponent's consent."""
    restarts: ClassVar[bool] = False
    """Whether the event returns the board to the start. Displays may split a long match here."""

    seen_by: frozenset[Seat] = field(default=BOTH, kw_only=True)
    """The seats that see the event."""

    def visible_to(self, seats: frozenset[Seat]) -> bool:
        """Return whether one of these seats sees the event. No seats stand for a bystander."""
        return bool(self.seen_by & seats) or self.seen_by == BOTH


class Ending(Enum):
    """The ways in which a match can end. The value is the word in records.

    >>> Ending.RESIGNED.has_winner, Ending.DRAWN.has_winner
    (True, False)
    """

    WON = "won"
    DRAWN = "drawn"
    CUT_OFF = "cut off"
    """A limit, such as `max_turns`, or an agreement stopped the match without a winner."""
    RESIGNED = "resigned"
    FORFEITED = "forfeited"

    @property
    def has_winner(self) -> bool:
        """Whether such a match has a winner."""
        return self not in (Ending.DRAWN, Ending.CUT_OFF)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a match: its ending, the winner if there is one, and a sentence for people.

    Comparisons ignore the sentence. Raises DuelsError if an ending that needs a winner has none, or if
    another ending has one.

    >>> outcome = Outcome.win(Seat.TWO, "Player 2 took the last light.")
    >>> outcome.code, outcome.score(Seat.ONE), outcome.reason
    ('2 won', Fraction(0, 1), 'Player 2 took the last light.')
    """

    ending: Ending
    winner: Seat | None = None
    sentence: Sentence = field(default=Sentence(()), compare=False)

    def __post_init__(self) -> None:
        if self.ending.has_winner != isinstance(self.winner, Seat):
            needs = "a winner" if self.ending.has_winner else "no winner"
            raise DuelsError(f"An outcome '{self.ending.value}' must have {needs}, not {self.winner!r}.")

    @classmethod
    def win(cls, seat: Seat, reason: str | Sentence) -> "Outcome":
        """Return a win for `seat`."""
        return cls(Ending.WON, seat, _sentence(reason))

    @classmethod
    def draw(cls, reason: str | Sentence) -> "Outcome":
        """Return a draw by the rules of the game."""
        return cls(Ending.DRAWN, None, _sentence(reason))

    @classmethod
    def cut(cls, reason: str | Sentence) -> "Outcome":
        """Return the outcome of a match that a limit or an agreement cut off."""
        return cls(Ending.CUT_OFF, None, _sentence(reason))

    @property
    def reason(self) -> str:
        """The sentence, with `Player 1` and `Player 2` for the players."""
        return self.sentence.render()

    def score(self, seat: Seat) -> "Fraction":
        """Return the score of `seat`: 1 for a win, 0 for a loss, 1/2 if nobody won."""
        from fractions import Fraction

        return Fraction(1, 2) if self.winner is None else Fraction(self.winner is seat)

    @property
    def code(self) -> str:
        """The result in a record: `1 won`, `drawn`, `cut off`, `1 won, 2 resigned`."""
        if self.winner is None:
            return self.ending.value
        won = f"{self.winner.value} {Ending.WON.value}"
        loss = f", {self.winner.other.value} {self.ending.value}"
        return won if self.ending is Ending.WON else won + loss


def _sentence(reason: str | Sentence) -> Sentence:
    return say(reason) if isinstance(reason, str) else reason


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """The result of `Rules.apply`: the next state, and the events in order."""

    state: S
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Sight(Generic[A, V]):
    """Everything that one seat knows at one moment of a match. Players get a sight, never a state.

    >>> import duels
    >>> sight = duels.start("leap").sight(Seat.ONE)
    >>> sight.actor, [sight.rules.format(action) for action in sight.actions]
    (<Seat.ONE: 1>, ['enter'])
    """

    seat: Seat
    view: V
    """The part of the state that this seat may know."""
    actor: Actor | None
    actions: tuple[A, ...]
    """This seat's legal actions, in the rules' order; empty if it is not its turn."""
    events: Sequence[Event] = ()
    """The events that this seat has seen, in order; empty if only the position is known."""
    history: Sequence[A | None] = ()
    """All actions and chance outcomes since the start, with None for those hidden from this seat."""
    outcome: Outcome | None = None
    """The result, or None if the match is not over."""
    rules: "Rules[Any, A, V]" = field(kw_only=True, compare=False, repr=False)
    """The rules of the match."""


class Rules(ABC, Generic[S, A, V]):
    """The rules of a two-player game. The methods are pure: no I/O, no randomness, no side effects.

    Concrete rules are frozen dataclasses whose fields are the options of the game (see `core.options`).
    So rules with equal options are equal, and `repr` is valid Python. Raises BadOption for options that are
    not allowed.

    >>> import duels
    >>> rules = duels.find_game("lights").rules(lights=3)
    >>> state = rules.initial()
    >>> [rules.format(action) for action in rules.actions(state)]
    ['1', '2', '3', '1-2', '2-3']
    >>> state = rules.apply(state, rules.parse("1-2")).state
    >>> rules.actor(state), rules.outcome(state)
    (<Seat.TWO: 2>, None)
    """

    game: ClassVar["Game"]
    """The game that these rules belong to."""
    has_hidden_information: ClassVar[bool]
    """Whether some events are hidden from a seat."""
    can_be_drawn: ClassVar[bool] = False
    """Whether a match can end in a draw. If not, the value of a position is the probability of winning."""
    limit: ClassVar[str | None] = None
    """The name of the option that cuts off a long match, such as `max_turns`, or None.

    The option's default must be None: solvers ignore the limit. Rules with a limit need a `clock`.
    """
    clock: ClassVar[str | None] = None
    """The field of a state that counts towards the limit. It must have no other effect."""
    enough_boards: ClassVar[int | None] = None
    """The number of boards after which a match is long enough, or None if there is no such number.

    From this board on, the players may agree to stop, and a short match ends after it. An event that
    `restarts` the board begins the next one.
    """

    def __post_init__(self) -> None:
        if not hasattr(type(self), "game"):
            raise DuelsError(f"{type(self).__name__} must have a class attribute `game`.")
        for option in list_options(type(self)):
            # Rules are saved in records: store plain numbers and tuples, not NumPy numbers and lists.
            object.__setattr__(self, option.name, option.check(getattr(self, option.name), self.name))
        self._check_limit()

    def _check_limit(self) -> None:
        if self.limit is None:
            return
        kinds = {option.name: option.kind for option in list_options(type(self))}
        if kinds.get(self.limit) is not OptionKind.LIMIT:
            raise BadOption(
                f"The limit of {self.name}, {self.limit}, must be an option with the default None."
            )
        if self.clock is None:
            raise BadOption(f"{self.name} has the limit {self.limit} but no clock: set Rules.clock.")

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    @property
    def limit_value(self) -> int | None:
        """The value of the limit, or None if there is no limit."""
        return getattr(self, self.limit) if self.limit else None

    @abstractmethod
    def initial(self) -> S:
        """Return the state before the first move."""

    @abstractmethod
    def actor(self, state: S) -> Actor | None:
        """Return the actor: a seat, CHANCE, or None if the game is over."""

    @abstractmethod
    def actions(self, state: S) -> tuple[A, ...]:
        """Return the legal actions, or the outcomes of chance, in a fixed order and without duplicates.

        The result is empty if and only if the game is over.
        """

    def odds(self, state: S) -> "tuple[Fraction, ...]":
        """Return the probabilities of `actions(state)` at a chance node: exact, positive, with the sum 1."""
        return ()

    @abstractmethod
    def apply(self, state: S, action: A) -> Step[S]:
        """Carry out an action and return the next state with at least one event.

        `action` must be one of `actions(state)`. This method need not check that: `Match.play` does.
        """

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Return the result, or None if the game is not over (`actor(state)` is not None)."""

    def deal(self, rng: "Random") -> Hashable:
        """Draw all values that are fixed but unseen at the start, such as a shuffled board, or return None.

        The rules draw each value only when it is revealed. A match with a seed deals all values first, with
        the same odds, so that the value of a tile does not depend on when it is turned over.
        """
        return None

    def read_deal(self, deal: Any, drawn: Sequence[tuple[S, A]], state: S) -> A:
        """Return the dealt outcome of the chance node `state`. Only rules that override `deal` need this.

        `drawn` lists the earlier chance nodes and their outcomes. If some of these came from a script or a
        record and differ from the deal, they replace the dealt values.
        """
        raise NotImplementedError

    @abstractmethod
    def view(self, state: S, seat: Seat) -> V:
        """Return the part of the state that `seat` may know.

        A view and the events that the seat sees in a step determine its next view. A step without such
        events does not change the view. So a view depends only on the events seen, and contains no secret
        of the other seat. It determines the actor and the seat's legal actions.
        """

    @abstractmethod
    def all_actions(self) -> tuple[A, ...]:
        """Return every action that a seat can ever take. The index of an action is its integer."""

    def all_outcomes(self) -> tuple[A, ...]:
        """Return every outcome that chance can ever have. The index of an outcome is its integer."""
        return ()

    @abstractmethod
    def parse(self, text: str) -> A:
        """Parse an action or a chance outcome, in any letter case. Raises NotationError."""

    @abstractmethod
    def format(self, action: A) -> str:
        """Return one line of notation that `parse` reads back."""

    @abstractmethod
    def parse_position(self, text: str) -> Sight[A, V]:
        """Parse a position and return the sight of the seat to move.

        Positions that cannot occur in play are accepted. Raises NotationError if `text` is not a position,
        and IllegalMove if it is a list of entries that breaks the rules.
        """

    @abstractmethod
    def format_position(self, sight: Sight[A, V]) -> str:
        """Return one line of notation that `parse_position` reads back as a sight with the same view."""

    def sight(
        self, state: S, seat: Seat, events: Sequence[Event] = (), history: Sequence[A | None] = ()
    ) -> Sight[A, V]:
        """Return the sight of `seat` at `state`, after it has seen `events`."""
        seat = as_seat(seat)
        actor = self.actor(state)
        actions = self.actions(state) if actor is seat else ()
        view, outcome = self.view(state, seat), self.outcome(state)
        return Sight(seat, view, actor, actions, events, history, outcome, rules=self)

    def max_states(self) -> int | None:
        """Return an upper bound on the number of reachable states, or None if no formula is known.

        Methods that list all states check it first.
        """
        return None

    def options(self) -> dict[str, OptionValue]:
        """Return the options that differ from the book's game."""
        return {
            option.name: value
            for option in list_options(type(self))
            if (value := getattr(self, option.name)) != option.default
        }


AnyRules = Rules[Any, Any, Any]
"""Rules of any game."""
AnySight = Sight[Any, Any]
"""A sight of any game."""


class OpenRules(Rules[S, A, S]):
    """Rules of a game without hidden information: both seats see all events and the whole state."""

    has_hidden_information = False

    def view(self, state: S, seat: Seat) -> S:
        return state

    @abstractmethod
    def parse_state(self, text: str) -> S:
        """Parse a state, in any letter case. Raises NotationError."""

    @abstractmethod
    def format_state(self, state: S) -> str:
        """Return one line of notation that `parse_state` reads back."""

    def parse_position(self, text: str) -> Sight[A, S]:
        state = self.parse_state(text)
        actor = self.actor(state)
        return self.sight(state, actor if isinstance(actor, Seat) else Seat.ONE)

    def format_position(self, sight: Sight[A, S]) -> str:
        return self.format_state(sight.view)
