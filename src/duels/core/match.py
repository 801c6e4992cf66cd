"""Matches: immutable histories. Only `Match.play` checks whose turn it is and which actions are legal."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from math import lcm
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from duels.core.errors import GameOver, IllegalMove, NotYourTurn, shorten_list
from duels.core.narration import say, verb
from duels.core.rules import CHANCE, A, Actor, Ending, Event, Outcome, Rules, S, Seat, Sight, V, as_seat

if TYPE_CHECKING:
    from random import Random


T = TypeVar("T")


class Prefix(Sequence[T]):
    """An immutable view of the first items of a list that only grows. It equals a tuple of these items."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[T], length: int) -> None:
        self._items = items
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(map(self._items.__getitem__, range(*index.indices(self._length))))
        return self._items[range(self._length)[index]]

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    def first(self, length: int) -> "Prefix[T]":
        """Return the first `length` items without copying them."""
        return Prefix(self._items, min(length, self._length))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Prefix):
            return tuple(self) == tuple(other)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)  # a pickle must not contain the rest of the list


class EarlyEnd(Enum):
    """A way to end a match before the rules end it: a seat gives up, or both agree to stop.

    The value is the entry in a record. If a seat resigns on its opponent's turn, the entry names the seat:
    `resign 2`.
    """

    RESIGN = "resign"
    FORFEIT = "forfeit"
    STOP = "stop by agreement"

    @property
    def ending(self) -> Ending:
        """The ending of the match."""
        return _ENDINGS[self]


_ENDINGS = {
    EarlyEnd.RESIGN: Ending.RESIGNED,
    EarlyEnd.FORFEIT: Ending.FORFEITED,
    EarlyEnd.STOP: Ending.CUT_OFF,
}
_EARLY_END = re.compile(rf"({'|'.join(kind.value for kind in EarlyEnd)})|{EarlyEnd.RESIGN.value} +([12])")
MAX_LISTED_ACTIONS = 70
"""The maximum number of legal actions in a message: enough for the books' games."""


def parse_early_end(line: str) -> tuple[EarlyEnd, Seat | None] | None:
    """Return the early end that a line of a record states, with its seat. Return None for other entries.

    The seat is None if the line names none. Then the player to move gives up, or both players agree to stop.
    """
    parts = _EARLY_END.fullmatch(line.strip().lower())
    if not parts:
        return None
    return EarlyEnd(parts[1] or EarlyEnd.RESIGN), Seat(int(parts[2])) if parts[2] else None


@dataclass(frozen=True, slots=True)
class EndedEarly(Event):
    """`seat` resigned or forfeited the match, or was to move when both players agreed to stop."""

    seat: Seat
    ending: Ending

    @property
    def outcome(self) -> Outcome:
        """The result of the match: the other seat won, or nobody if both agreed to stop."""
        if self.ending is Ending.CUT_OFF:
            return Outcome.cut("The players agreed to stop.")
        verb_forms = ("resigns", "resign") if self.ending is Ending.RESIGNED else ("forfeits", "forfeit")
        return Outcome(self.ending, self.seat.other, say(self.seat, verb(self.seat, *verb_forms), "."))


def _make_group(seat: Seat | None) -> frozenset[Seat]:
    return frozenset() if seat is None else frozenset({as_seat(seat)})


@dataclass(frozen=True, slots=True)
class Turn(Generic[A]):
    """One entry of a match: an action or a chance outcome, and its events."""

    actor: Actor
    action: A | EarlyEnd
    events: tuple[Event, ...]
    out_of_turn: bool = False
    """Whether the turn answers no question: a resignation on the opponent's turn, or an agreement to stop."""

    def hidden_from(self, seat: Seat | None) -> bool:
        """Return whether the action is hidden from `seat`. If `seat` is None, it stands for a bystander."""
        return self.redact(_make_group(seat))[0] is None

    def events_seen_by(self, seat: Seat | None) -> tuple[Event, ...]:
        """Return the events of this turn that `seat` saw. If `seat` is None, it stands for a bystander."""
        return self.redact(_make_group(seat))[1]

    def redact(self, seats: frozenset[Seat]) -> tuple[A | EarlyEnd | None, tuple[Event, ...]]:
        """Return the action and events that these seats together saw. A hidden action is None."""
        seen = tuple(event for event in self.events if event.visible_to(seats))
        return (self.action if len(seen) == len(self.events) else None), seen

    @property
    def revocable(self) -> bool:
        """Whether the turn can be taken back without agreement, because it revealed nothing."""
        return self.actor is not CHANCE and not any(event.reveals for event in self.events)


class _Transcript:
    """The entries and events of a match that a group of seats has seen."""

    def __init__(self) -> None:
        self.actions: list[Any] = []
        """The action of each entry; None if it is hidden."""
        self.events: list[Event] = []
        self.event_counts = [0]
        """The number of events, indexed by the number of entries."""
        self.known_lengths = [0]
        """The number of the last entry with a visible event, indexed by the number of entries."""

    def add(self, action: Any, seen: tuple[Event, ...]) -> None:
        self.actions.append(action)
        self.events.extend(seen)
        self.event_counts.append(len(self.events))
        self.known_lengths.append(len(self.actions) if seen else self.known_lengths[-1])


class _Log(Generic[S, A]):
    """The states and entries of one line of play, shared by all matches along it.

    Entries are only added at the end. Threads may share a log.
    """

    def __init__(self, states: list[S], entries: list[Turn[A]]) -> None:
        self.states = states
        """The initial state, then the state after each entry."""
        self.entries = entries
        self._transcripts: dict[frozenset[Seat], _Transcript] = {}
        self._lock = Lock()

    def extend(self, length: int, entry: Turn[A], state: S) -> "_Log[S, A]":
        """Return a log of the first `length` entries and `entry`: this log if possible, else a copy."""
        with self._lock:
            if len(self.entries) > length and self.entries[length] == entry:
                return self
            if len(self.entries) == length:
                self.states.append(state)
                self.entries.append(entry)
                return self
        return _Log([*self.states[: length + 1], state], [*self.entries[:length], entry])

    def get_transcript(self, seats: frozenset[Seat], length: int) -> _Transcript:
        """Return a transcript of at least `length` entries."""
        transcript = self._transcripts.get(seats)
        if transcript and len(transcript.known_lengths) > length:
            return transcript
        with self._lock:
            transcript = self._transcripts.setdefault(seats, _Transcript())
            for entry in self.entries[len(transcript.actions) : length]:
                transcript.add(*entry.redact(seats))
        return transcript

    def __reduce__(self) -> tuple[Any, ...]:
        return _Log, (self.states, self.entries)  # a lock cannot be copied


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Match(Generic[S, A, V]):
    """A match, in progress or over. Matches are immutable: `play` returns a new match.

    >>> import duels
    >>> match = duels.start("lights", lights=3)
    >>> match = match.play(duels.Seat.ONE, match.actions[0])
    >>> match.actor, [match.rules.format(action) for action in match.actions]
    (<Seat.TWO: 2>, ['2', '3', '2-3'])
    >>> match.play_text("2-3").outcome.code
    '2 won'
    """

    rules: Rules[S, A, V]
    _log: _Log[S, A]
    _length: int

    @classmethod
    def start(cls, rules: Rules[S, A, V]) -> "Match[S, A, V]":
        """Return a new match before its first move."""
        return cls(rules, _Log([rules.initial()], []), 0)

    def __repr__(self) -> str:
        return f"<Match of {self.rules!r} after {self._length} entries: {self.state!r}>"

    # -- current position ------------------------------------------------------------------------------------

    @property
    def actor(self) -> Actor | None:
        """The actor: a seat, CHANCE, or None if the match is over."""
        return None if self._get_early_end() else self.rules.actor(self.state)

    @property
    def actions(self) -> tuple[A, ...]:
        """The legal actions, or the possible outcomes of chance; empty if the match is over."""
        return () if self._get_early_end() else self.rules.actions(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """The result, or None if the match is not over."""
        early_end = self._get_early_end()
        return early_end.outcome if early_end else self.rules.outcome(self.state)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.outcome is not None

    @property
    def state(self) -> S:
        """The current state, with the secrets of both seats. Give players a `sight` instead."""
        return self._log.states[self._length]

    @property
    def board_number(self) -> int:
        """The number of the current board: 1, and one more after each event that restarts the board."""
        return 1 + sum(event.restarts for event in self.events_seen_by(None))

    @property
    def can_stop(self) -> bool:
        """Whether the players may agree to stop now (see `Rules.enough_boards`)."""
        enough = self.rules.enough_boards
        return enough is not None and isinstance(self.actor, Seat) and self.board_number >= enough

    def sight(self, seat: Seat) -> Sight[A, V]:
        """Return everything that `seat` knows now."""
        seat = as_seat(seat)
        sight = self.rules.sight(self.state, seat, self.events_seen_by(seat), self.redacted_history(seat))
        if self._get_early_end():
            sight = replace(sight, actor=None, actions=(), outcome=self.outcome)
        return sight

    # -- history ------------------------------------------------------------------------------

    @property
    def turns(self) -> Prefix[Turn[A]]:
        """All actions and chance outcomes so far, in order."""
        return Prefix(self._log.entries, self._length)

    @property
    def length(self) -> int:
        """The number of turns so far."""
        return self._length

    @property
    def last(self) -> Turn[A] | None:
        """The last turn, or None at the start."""
        return self._log.entries[self._length - 1] if self._length else None

    @property
    def previous(self) -> "Match[S, A, V] | None":
        """The match before its last turn, or None at the start."""
        return self.after(self._length - 1) if self._length else None

    def after(self, turns: int) -> "Match[S, A, V]":
        """Return the match as it was after this number of turns."""
        return Match(self.rules, self._log, range(self._length + 1)[turns])

    def steps(self) -> list["Match[S, A, V]"]:
        """Return the match after each of its turns, in order, ending with this one."""
        return [self.after(turns) for turns in range(1, self._length + 1)]

    def events_seen_by(self, seat: Seat | None) -> Prefix[Event]:
        """Return the events that `seat` saw, in order. If `seat` is None, it stands for a bystander."""
        return self.events_visible_to(_make_group(seat))

    def events_visible_to(self, seats: frozenset[Seat]) -> Prefix[Event]:
        """Return the events that these seats together saw, in order."""
        transcript = self._log.get_transcript(seats, self._length)
        return Prefix(transcript.events, transcript.event_counts[self._length])

    def redacted_history(self, seat: Seat | None) -> Prefix[A | None]:
        """Return the actions so far, with None for each action that is hidden from `seat`.

        If `seat` is None, it stands for a bystander. The history ends with the last action that has an event
        visible to the seat. It does not contain an early end.
        """
        played = self._length - (self._get_early_end() is not None)
        transcript = self._log.get_transcript(_make_group(seat), self._length)
        return Prefix(transcript.actions, min(played, transcript.known_lengths[self._length]))

    def turns_known_to(self, seat: Seat | None) -> Prefix[Turn[A]]:
        """Return the turns up to the last one with an event that `seat` saw.

        If `seat` is None, it stands for a bystander. Later turns are left out, so that a seat does not learn
        that its opponent has already made a secret move.
        """
        transcript = self._log.get_transcript(_make_group(seat), self._length)
        return Prefix(self._log.entries, transcript.known_lengths[self._length])

    def _get_early_end(self) -> EndedEarly | None:
        # Called by nearly every method here, so it must be quick.
        if self._length and isinstance((last := self._log.entries[self._length - 1]).action, EarlyEnd):
            return cast(EndedEarly, last.events[0])
        return None

    # -- moves -----------------------------------------------------------------------------------

    def play(self, actor: Actor, action: A) -> "Match[S, A, V]":
        """Play an action or a chance outcome and return the new match.

        Raises GameOver if the match is over, NotYourTurn if `actor` is not to act, and IllegalMove if the
        action is not one of `actions`.
        """
        actor = self._check_turn(actor)
        legal = self.rules.actions(self.state)
        if action not in legal:
            allowed = shorten_list([self.rules.format(other) for other in legal], MAX_LISTED_ACTIONS)
            raise IllegalMove(f"{self._name(action)} is not allowed now; allowed: {', '.join(allowed)}.")
        step = self.rules.apply(self.state, action)
        return self._append(Turn(actor, action, step.events), step.state)

    def play_text(self, *entries: str) -> "Match[S, A, V]":
        """Play entries in notation, each for the player to move or for chance.

        Raises the same errors as `play`, and NotationError.
        """
        match = self
        for entry in entries:
            actor = match.actor
            if actor is None:
                raise GameOver("The match is over.")
            if early_end := parse_early_end(entry):
                kind, seat = early_end
                match = match.stop() if kind is EarlyEnd.STOP else match._concede(seat or actor, kind)
            else:
                match = match.play(actor, self.rules.parse(entry))
        return match

    def resign(self, seat: Seat) -> "Match[S, A, V]":
        """Resign for `seat`, on either player's turn.

        Raises GameOver if the match is over, and NotYourTurn at a chance node.
        """
        return self._concede(seat, EarlyEnd.RESIGN)

    def forfeit(self, seat: Seat) -> "Match[S, A, V]":
        """End the match because `seat`, which is to move, sent no legal action in time.

        Raises GameOver if the match is over, and NotYourTurn if `seat` is not to move.
        """
        return self._concede(seat, EarlyEnd.FORFEIT)

    def stop(self) -> "Match[S, A, V]":
        """End the match without a winner, because both players agreed to stop.

        Raises GameOver if the match is over, and IllegalMove if the players may not stop now.
        """
        mover, enough = self.actor, self.rules.enough_boards
        if mover is None:
            raise GameOver("The match is over.")
        if enough is None:
            raise IllegalMove(f"You cannot agree to stop a match of {self.rules.name}.")
        if (number := self.board_number) < enough:
            raise IllegalMove(f"You can agree to stop from board {enough} on. This is board {number}.")
        if not isinstance(mover, Seat):
            raise IllegalMove("You cannot agree to stop while chance decides.")
        event = EndedEarly(mover, Ending.CUT_OFF)
        return self._append(Turn(mover, EarlyEnd.STOP, (event,), out_of_turn=True), self.state)

    def _concede(self, seat: Actor, early_end: EarlyEnd) -> "Match[S, A, V]":
        mover = self.actor
        any_time = early_end is EarlyEnd.RESIGN and isinstance(mover, Seat)
        loser = as_seat(seat) if any_time and seat is not CHANCE else self._check_turn(seat)
        if not isinstance(loser, Seat):
            raise NotYourTurn(f"Only a player can {early_end.value}, not chance.")
        event = EndedEarly(loser, early_end.ending)
        return self._append(Turn(loser, early_end, (event,), loser is not mover), self.state)

    def _append(self, turn: Turn[A], state: S) -> "Match[S, A, V]":
        log = self._log.extend(self._length, turn, state)
        return type(self)(self.rules, log, self._length + 1)

    def _check_turn(self, actor: Actor) -> Actor:
        expected = self.actor
        if expected is None:
            raise GameOver("The match is over.")
        if actor is not CHANCE:
            actor = as_seat(actor)
        if actor is not expected:
            name = expected.label if isinstance(expected, Seat) else "chance"
            raise NotYourTurn(f"It is {name}'s turn.")
        return actor

    def _name(self, action: A) -> str:
        try:
            return f"'{self.rules.format(action)}'"
        except Exception:  # it need not be an action of this game
            return repr(action)


AnyMatch = Match[Any, Any, Any]
"""A match of any game."""


def draw(match: Match[S, A, V], rng: "Random") -> A:
    """Draw an outcome at a chance node, with the exact odds of the rules.

    >>> from random import Random
    >>> import duels
    >>> match = duels.start("chain").play_text("3", "5", "4", "challenge")
    >>> match.rules.format(draw(match, Random(1)))
    'heads'
    """
    odds = match.rules.odds(match.state)
    scale = lcm(*(probability.denominator for probability in odds))
    ticket = rng.randrange(scale)
    for outcome, probability in zip(match.actions, odds, strict=True):
        ticket -= probability.numerator * (scale // probability.denominator)
        if ticket < 0:
            return outcome
    raise AssertionError("odds sum to 1")


def play_through(
    match: Match[S, A, V], rng: "Random", decide: Callable[[Match[S, A, V], Seat], A]
) -> Iterator[Match[S, A, V]]:
    """Yield the match, then the match after each further entry until it is over.

    `decide` chooses the actions of both seats, and `rng` draws for chance.
    """
    yield match
    while (actor := match.actor) is not None:
        match = match.play(actor, decide(match, actor) if isinstance(actor, Seat) else draw(match, rng))
        yield match
