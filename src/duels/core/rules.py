"""What a duel is: the contracts that every game's rules keep and everything else relies on.

The docstrings here are the specification. `core.laws` checks them, for our games and for others'.
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

if TYPE_CHECKING:  # a prompt needs neither number
    from fractions import Fraction
    from random import Random

    from duels.core.game import Game

S = TypeVar("S", bound=Hashable)  # a state: frozen, hashable, everything the rules need, nothing else
A = TypeVar("A", bound=Hashable)  # an action of a seat, or an outcome of chance: frozen, hashable
V = TypeVar("V", bound=Hashable)  # what one seat may know of a state


class Seat(IntEnum):
    """One of the two players. Player 1 moves first."""

    ONE = 1
    TWO = 2

    @property
    def other(self) -> "Seat":
        """The opponent's seat."""
        return Seat.TWO if self is Seat.ONE else Seat.ONE

    @property
    def label(self) -> str:
        """The seat as the books call it: `Player 1`."""
        return f"Player {int(self)}"


def as_seat(value: object) -> Seat:
    """The seat that `value` is: a Seat, or its number, 1 or 2. Anything else is refused, 0 above all."""
    if isinstance(value, Seat):
        return value
    number = as_int(value)
    if number in (1, 2):
        return Seat(number)
    raise DuelsError(f"A seat is Seat.ONE or Seat.TWO (1 or 2), not {value!r}.")


class Chance(Enum):
    """The actor of coins and hidden tiles."""

    CHANCE = "chance"


CHANCE = Chance.CHANCE
"""Who acts where a coin is flipped or a tile turned."""
Actor = Seat | Chance
"""Who acts: a seat, or chance."""
BOTH = frozenset(Seat)
"""Both seats."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, with the seats that may know of it.

    Games subclass it with fields of their own. An event carries all that a screen needs to tell it:
    a seat's whole knowledge of a match is the sequence of the events that it has seen.
    """

    # Told a seat what another knew: it cannot be taken back unless both agree. (Nor can chance.)
    reveals: ClassVar[bool] = False
    # The board is as at the start again: where a long match can be cut into parts.
    restarts: ClassVar[bool] = False

    seen_by: frozenset[Seat] = field(default=BOTH, kw_only=True)

    def visible_to(self, watching: frozenset[Seat]) -> bool:
        """Whether it may be shown to these seats together; to a bystander (nobody) only what both know."""
        return bool(self.seen_by & watching) or self.seen_by == BOTH


class Ending(Enum):
    """The ways a match can end. The value is the word that records use."""

    WON = "won"
    DRAWN = "drawn"
    CUT_OFF = "cut off"
    """A stated limit was reached: nobody won, and the game itself did not end."""
    RESIGNED = "resigned"
    FORFEITED = "forfeited"

    @property
    def has_winner(self) -> bool:
        """Whether somebody won."""
        return self not in (Ending.DRAWN, Ending.CUT_OFF)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended, who won it if anybody did, and a sentence about it for people.

    Nothing is ever decided by the sentence, and two outcomes are equal whatever theirs say.
    """

    ending: Ending
    winner: Seat | None = None
    sentence: Sentence = field(default=Sentence(()), compare=False)

    def __post_init__(self) -> None:
        if self.ending.has_winner != isinstance(self.winner, Seat):
            needs = "a seat that won" if self.ending.has_winner else "no winner"
            raise DuelsError(f"An outcome '{self.ending.value}' has {needs}, not {self.winner!r}.")

    @classmethod
    def win(cls, seat: Seat, reason: str | Sentence) -> "Outcome":
        """`seat` won."""
        return cls(Ending.WON, seat, _sentence(reason))

    @classmethod
    def draw(cls, reason: str | Sentence) -> "Outcome":
        """Nobody won, by the rules of the game."""
        return cls(Ending.DRAWN, None, _sentence(reason))

    @classmethod
    def cut(cls, reason: str | Sentence) -> "Outcome":
        """Nobody won before a stated limit was reached."""
        return cls(Ending.CUT_OFF, None, _sentence(reason))

    @property
    def reason(self) -> str:
        """The sentence as the books call the players."""
        return self.sentence.render()

    def score(self, seat: Seat) -> "Fraction":
        """What the match was worth to `seat`: 1 won, 0 lost, one half if nobody won."""
        from fractions import Fraction

        return Fraction(1, 2) if self.winner is None else Fraction(self.winner is seat)

    @property
    def code(self) -> str:
        """The result as records write it: `1 won`, `drawn`, `cut off`, `1 won, 2 resigned`."""
        if self.winner is None:
            return self.ending.value
        won = f"{self.winner.value} {Ending.WON.value}"
        how = f", {self.winner.other.value} {self.ending.value}"
        return won if self.ending is Ending.WON else won + how


def _sentence(reason: str | Sentence) -> Sentence:
    return say(reason) if isinstance(reason, str) else reason


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What `Rules.apply` gives: the next state and what happened on the way, in order."""

    state: S
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Sight(Generic[A, V]):
    """All that one seat knows at one moment of a match; whoever decides is given this, never a state."""

    seat: Seat
    view: V
    """The position as far as this seat may know it."""
    actor: Actor | None
    actions: tuple[A, ...]
    """What this seat may do now, in the rules' order; empty while it is not its turn."""
    events: Sequence[Event] = ()
    """What it has seen since the start, in order (empty where only the position is known)."""
    history: Sequence[A | None] = ()
    """Every action and chance outcome since the start, None where it was hidden from this seat."""
    outcome: Outcome | None = None
    """How the match ended; None while it goes on."""
    rules: "Rules[Any, A, V]" = field(kw_only=True, compare=False, repr=False)
    """The rules that are played by, which are no secret."""


class Rules(ABC, Generic[S, A, V]):
    """A two-player game. Rules are values: pure methods, no I/O, no randomness, no memory.

    Concrete rules are frozen dataclasses whose fields are their options (`Lights(lights=9)`, see
    `core.options`), so that equal rules compare equal and `repr` can be read back. Options with which
    there would be no game raise BadOption.
    """

    game: ClassVar["Game"]
    """The game that these rules are of: its name and its doors."""
    has_secrets: ClassVar[bool]
    """Whether some event is hidden from a seat."""
    can_be_drawn: ClassVar[bool] = False
    """Whether a match can end drawn: then a value is not a chance to win alone, and is not called one."""
    limit: ClassVar[str | None] = None
    """The option that cuts off play that could go on for ever (`max_turns`), where there is one.

    Its default is None, no limit: perfect play is found without one. It needs a clock.
    """
    clock: ClassVar[str | None] = None
    """The field of a state that counts towards the limit, and does nothing else."""
    longer_forms: ClassVar[tuple[dict[str, int], ...]] = ()
    """Options of longer games, the shortest first, for whoever knows the trick of the book's game."""

    def __post_init__(self) -> None:
        if not hasattr(type(self), "game"):
            raise DuelsError(f"{type(self).__name__} does not say which game it is of: give it a `game`.")
        for option in list_options(type(self)):
            # Rules are written down: no NumPy numbers, no lists.
            object.__setattr__(self, option.name, option.check(getattr(self, option.name), self.name))
        self._check_limit()

    def _check_limit(self) -> None:
        """Refuse a limit that cannot be taken away, or that nothing counts towards."""
        if self.limit is None:
            return
        kinds = {option.name: option.kind for option in list_options(type(self))}
        if kinds.get(self.limit) is not OptionKind.LIMIT:
            raise BadOption(
                f"The limit of {self.name}, {self.limit}, must be an option with the default None."
            )
        if self.clock is None:
            raise BadOption(f"{self.name} has a limit, {self.limit}, and no clock: see Rules.clock.")

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    @property
    def limit_value(self) -> int | None:
        """What the limit is set to; None where play is not limited."""
        return getattr(self, self.limit) if self.limit else None

    @abstractmethod
    def initial(self) -> S:
        """The state before the first move."""

    @abstractmethod
    def actor(self, state: S) -> Actor | None:
        """Who decides now: a seat, CHANCE, or None when the game is over."""

    @abstractmethod
    def actions(self, state: S) -> tuple[A, ...]:
        """What the actor may do, or what chance may bring, in a fixed order, each once.

        Never empty while the game goes on; empty when it is over.
        """

    def odds(self, state: S) -> "tuple[Fraction, ...]":
        """At a chance node: the probability of each of `actions(state)`, exact, positive, sum 1."""
        return ()

    @abstractmethod
    def apply(self, state: S, action: A) -> Step[S]:
        """Carry out one of `actions(state)`: the next state and at least one event.

        Legality is not checked again here: `Match.play` is the gate.
        """

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """How the game ended; None exactly while `actor(state)` is not None."""

    def deal(self, rng: "Random") -> Hashable:
        """What lies hidden from the start, drawn once for a match: a shuffled board; None where nothing does.

        Rules draw lazily: a value is drawn when it is shown, with the same odds. Whoever plays a match for
        people deals first, so that what lies under a tile does not depend on when it is turned.
        """
        return None

    def read_deal(self, deal: Any, drawn: Sequence[tuple[S, A]], state: S) -> A:
        """What `deal` brings at the chance node `state`; only for rules that deal.

        `drawn` are the chance nodes so far, each with what came there: if that was not as dealt (it can be
        given by a script or a record), the deal is put right before it is read.
        """
        raise NotImplementedError

    @abstractmethod
    def view(self, state: S, seat: Seat) -> V:
        """The part of the state that `seat` may know.

        Together with the events of a step that the seat sees, it determines the seat's next view;
        a step of which the seat sees nothing leaves it as it was. So a view is a function of the
        events seen, and holds no secret. It determines who acts and the seat's legal actions.
        """

    @abstractmethod
    def all_actions(self) -> tuple[A, ...]:
        """Every action a seat can ever have; the position in it is the action's integer."""

    def all_outcomes(self) -> tuple[A, ...]:
        """Every outcome chance can ever bring; the position in it is the outcome's integer."""
        return ()

    @abstractmethod
    def parse(self, text: str) -> A:
        """Read an action or chance outcome; raise NotationError where that cannot be done."""

    @abstractmethod
    def format(self, action: A) -> str:
        """One line of notation, which `parse` reads back, in any letter case."""

    @abstractmethod
    def parse_position(self, text: str) -> Sight[A, V]:
        """Read a position as the seat to move knows it.

        Raises NotationError where it cannot be read, IllegalMove where a list of what was seen breaks
        the rules. A position that can be read need not be one that play can reach.
        """

    @abstractmethod
    def format_position(self, sight: Sight[A, V]) -> str:
        """One line of notation, which `parse_position` reads back to a sight with the same view."""

    def sight(
        self,
        state: S,
        seat: Seat,
        events: Sequence[Event] = (),
        history: Sequence[A | None] = (),
    ) -> Sight[A, V]:
        """What `seat` knows at `state`, having seen `events`."""
        seat = as_seat(seat)
        actor = self.actor(state)
        actions = self.actions(state) if actor is seat else ()
        view, outcome = self.view(state, seat), self.outcome(state)
        return Sight(seat, view, actor, actions, events, history, outcome, rules=self)

    def max_states(self) -> int | None:
        """An upper bound on how many states can be reached, where a formula tells one.

        What lists all states asks it first, and refuses at once where they are too many.
        """
        return None

    def options(self) -> dict[str, OptionValue]:
        """The options that differ from the book's game."""
        return {
            option.name: value
            for option in list_options(type(self))
            if (value := getattr(self, option.name)) != option.default
        }


AnyRules = Rules[Any, Any, Any]
"""Rules of any game."""
AnySight = Sight[Any, Any]
"""A sight in any game."""


class OpenRules(Rules[S, A, S]):
    """Rules of a game without secrets: both seats see every event and know the whole state."""

    has_secrets = False

    def view(self, state: S, seat: Seat) -> S:
        return state

    @abstractmethod
    def parse_state(self, text: str) -> S:
        """Read a state from one line; raise NotationError where it cannot be one."""

    @abstractmethod
    def format_state(self, state: S) -> str:
        """One line of notation, which `parse_state` reads back, in any letter case."""

    def parse_position(self, text: str) -> Sight[A, S]:
        state = self.parse_state(text)
        actor = self.actor(state)
        return self.sight(state, actor if isinstance(actor, Seat) else Seat.ONE)

    def format_position(self, sight: Sight[A, S]) -> str:
        return self.format_state(sight.view)
