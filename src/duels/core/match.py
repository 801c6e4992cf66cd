"""A match: an immutable history, and the one gate where turn and legality are checked."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from math import lcm
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from duels.core.errors import GameOver, IllegalMove, NotYourTurn
from duels.core.narration import say, verb
from duels.core.rules import BOTH, CHANCE, A, Actor, Ending, Event, Outcome, Rules, S, Seat, Sight, V, as_seat

if TYPE_CHECKING:
    from random import Random


T = TypeVar("T")


class Prefix(Sequence[T]):
    """The first items of a list that only grows: cheap to make, immutable, and equal to a tuple."""

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

    def __reversed__(self) -> Iterator[T]:
        return map(self._items.__getitem__, reversed(range(self._length)))

    def first(self, length: int) -> "Prefix[T]":
        """The first `length` items, without copying."""
        return Prefix(self._items, min(length, self._length))

    def __add__(self, more: Sequence[T]) -> tuple[T, ...]:
        return (*self, *more)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Prefix):
            same: bool = self._items is other._items and self._length == other._length
            return same or tuple(self) == tuple(other)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)  # a copy is of its own, and takes nothing along


class Concession(Enum):
    """Ends a match, whatever the rules say: a seat gives up, or must. The other seat wins.

    A seat may resign on the other's turn too. The value is the line that records write; for whoever is not to
    move it is followed by the seat: `resign 2`.
    """

    RESIGN = "resign"
    FORFEIT = "forfeit"

    @property
    def ending(self) -> Ending:
        """The ending that this brings about."""
        return Ending.RESIGNED if self is Concession.RESIGN else Ending.FORFEITED


_CONCESSION = re.compile(rf"({'|'.join(how.value for how in Concession)})|{Concession.RESIGN.value} +([12])")
_MAX_LISTED = 70  # legal actions that a message lists, enough for every book's game


def parse_concession(line: str) -> tuple[Concession, Seat | None] | None:
    """How somebody gives up, if that is what a line of a record says, and who: None is whoever is to move."""
    found = _CONCESSION.fullmatch(line.strip().lower())
    if not found:
        return None
    return Concession(found[1] or Concession.RESIGN), Seat(int(found[2])) if found[2] else None


@dataclass(frozen=True, slots=True)
class Conceded(Event):
    """A seat resigned, or forfeited the match."""

    seat: Seat
    ending: Ending

    @property
    def outcome(self) -> Outcome:
        """The result: the other seat won."""
        does = ("resigns", "resign") if self.ending is Ending.RESIGNED else ("forfeits", "forfeit")
        return Outcome(self.ending, self.seat.other, say(self.seat, verb(self.seat, *does), "."))


_WATCHING = {seat: frozenset({seat} if seat else ()) for seat in (*Seat, None)}


def _watching(seat: Seat | None) -> frozenset[Seat]:
    return _WATCHING[seat if seat is None or isinstance(seat, Seat) else as_seat(seat)]


@dataclass(frozen=True, slots=True)
class Turn(Generic[A]):
    """One entry of a match's history."""

    actor: Actor
    action: A | Concession
    events: tuple[Event, ...]
    out_of_turn: bool = False
    """Whether the actor resigned while the other was to move."""

    def hidden_from(self, seat: Seat | None) -> bool:
        """Whether `seat` (None: a bystander) may not know which action this was."""
        return self.redact(_watching(seat))[0] is None

    def events_seen_by(self, seat: Seat | None) -> tuple[Event, ...]:
        """The events of this turn that `seat` (None: a bystander) may know of."""
        return self.redact(_watching(seat))[1]

    def redact(self, watching: frozenset[Seat]) -> tuple[A | Concession | None, tuple[Event, ...]]:
        """The action, None where these seats together may not know it, and the events that they may."""
        # Most events are for both seats: that needs no call.
        seen = tuple([event for event in self.events if event.seen_by is BOTH or event.visible_to(watching)])
        return (self.action if len(seen) == len(self.events) else None), seen

    @property
    def revocable(self) -> bool:
        """Whether it can be taken back without agreement: it revealed nothing new to anybody."""
        return self.actor is not CHANCE and not any(event.reveals for event in self.events)


class _Told:
    """What a group of seats knows of a match, entry by entry."""

    def __init__(self) -> None:
        self.actions: list[Any] = []
        """Of every entry, None where it is hidden."""
        self.events: list[Event] = []
        self.events_after = [0]
        """How many events there are after so many entries."""
        self.known_after = [0]
        """After so many entries: the number of the last of which anything was seen."""

    def add(self, action: Any, seen: tuple[Event, ...]) -> None:
        """Add an entry: its action as these seats know it, and the events of it that they saw."""
        self.actions.append(action)
        self.events.extend(seen)
        self.events_after.append(len(self.events))
        self.known_after.append(len(self.actions) if seen else self.known_after[-1])


class _Log(Generic[S, A]):
    """Everything that was played along one line of play, kept once for all matches along it.

    Entries are only ever added at the end. Threads may share a log.
    """

    def __init__(self, states: list[S], entries: list[Turn[A]]) -> None:
        self.states = states
        """At the start, and after each entry."""
        self.entries = entries
        self.sights: dict[Seat, tuple[int, Sight[A, Any]]] = {}
        """What each seat knew when that was last asked, and after how many entries: pages ask repeatedly."""
        self._told: dict[frozenset[Seat], _Told] = {}
        self._growing = Lock()

    def entry(self, place: int) -> Turn[A] | None:
        """The entry after the first `place` ones, if the log goes on there."""
        entries = self.entries
        return entries[place] if place < len(entries) else None

    def extended(self, length: int, entry: Turn[A], state: S) -> "_Log[S, A]":
        """A log of these first `length` entries and `entry`: this one, unless it went on otherwise."""
        with self._growing:
            if len(self.entries) > length and self.entries[length] == entry:
                return self  # played before: the state after it is a function of what came before
            if len(self.entries) == length:
                # The state first: `entry` takes no lock, and whoever finds an entry there asks for its state.
                self.states.append(state)
                self.entries.append(entry)
                return self
        return _Log([*self.states[: length + 1], state], [*self.entries[:length], entry])

    def told(self, watching: frozenset[Seat], length: int) -> _Told:
        """What these seats have been told, up to entry number `length` at least."""
        told = self._told.get(watching)
        if told and len(told.known_after) > length:
            return told
        with self._growing:
            told = self._told.setdefault(watching, _Told())
            for entry in self.entries[len(told.actions) : length]:
                told.add(*entry.redact(watching))
        return told

    def __reduce__(self) -> tuple[Any, ...]:
        return _Log, (self.states, self.entries)  # a lock cannot be copied


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Match(Generic[S, A, V]):
    """One playing of a game, in progress or over. Playing an action returns a new match."""

    rules: Rules[S, A, V]
    _log: _Log[S, A]
    _length: int

    @classmethod
    def start(cls, rules: Rules[S, A, V]) -> "Match[S, A, V]":
        """A new match, before its first move."""
        return cls(rules, _Log([rules.initial()], []), 0)

    def __repr__(self) -> str:
        return f"<Match of {self.rules!r} after {self._length} entries: {self.state!r}>"

    # -- now ------------------------------------------------------------------------------------

    @property
    def actor(self) -> Actor | None:
        """Who decides now; None when the match is over."""
        return None if self._conceded() else self.rules.actor(self.state)

    @property
    def actions(self) -> tuple[A, ...]:
        """What the actor may do, or what chance may bring."""
        return () if self._conceded() else self.rules.actions(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended; None while it goes on."""
        conceded = self._conceded()
        return conceded.outcome if conceded else self.rules.outcome(self.state)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.outcome is not None

    @property
    def state(self) -> S:
        """The state as it is now. It may hold secrets: a player is given a sight."""
        return self._log.states[self._length]

    def sight(self, seat: Seat) -> Sight[A, V]:
        """What `seat` knows now: what a player at that seat decides on."""
        seat = as_seat(seat)
        known = self._log.sights.get(seat)
        if known and known[0] == self._length:
            return known[1]
        sight = self.rules.sight(self.state, seat, self.events_seen_by(seat), self.redacted_history(seat))
        if self._conceded():
            sight = replace(sight, actor=None, actions=(), outcome=self.outcome)
        self._log.sights[seat] = (self._length, sight)
        return sight

    # -- until now ------------------------------------------------------------------------------

    @property
    def turns(self) -> Prefix[Turn[A]]:
        """Everything that was played or drawn, in order."""
        return Prefix(self._log.entries, self._length)

    @property
    def length(self) -> int:
        """How many turns there are."""
        return self._length

    @property
    def last(self) -> Turn[A] | None:
        """The last turn; None at the start."""
        return self._log.entries[self._length - 1] if self._length else None

    @property
    def previous(self) -> "Match[S, A, V] | None":
        """The match before its last turn; None at the start."""
        return self.after(self._length - 1) if self._length else None

    def after(self, turns: int) -> "Match[S, A, V]":
        """The match as it was after so many turns."""
        return Match(self.rules, self._log, range(self._length + 1)[turns])

    def steps(self) -> list["Match[S, A, V]"]:
        """The match after each of its turns, in order, this one last."""
        return [self.after(turns) for turns in range(1, self._length + 1)]

    def events_seen_by(self, seat: Seat | None) -> Prefix[Event]:
        """The events `seat` (None: a bystander) may know of, in order."""
        return self.events_visible_to(_watching(seat))

    def events_visible_to(self, watching: frozenset[Seat]) -> Prefix[Event]:
        """The events that these seats together may know of, in order."""
        told = self._log.told(watching, self._length)
        return Prefix(told.events, told.events_after[self._length])

    def redacted_history(self, seat: Seat | None) -> Prefix[A | None]:
        """The history's actions, None where `seat` (None: a bystander) may not know them."""
        played = self._length - (self._conceded() is not None)
        told = self._log.told(_watching(seat), self._length)
        return Prefix(told.actions, min(played, told.known_after[self._length]))

    def turns_known_to(self, seat: Seat | None) -> Prefix[Turn[A]]:
        """The turns up to the last of which `seat` (None: a bystander) saw anything.

        A seat does not learn that the other has already moved in secret and is now thinking.
        """
        told = self._log.told(_watching(seat), self._length)
        return Prefix(self._log.entries, told.known_after[self._length])

    def _conceded(self) -> Conceded | None:
        # Asked for by almost everything here.
        if self._length and isinstance((last := self._log.entries[self._length - 1]).action, Concession):
            return cast(Conceded, last.events[0])
        return None

    # -- next -----------------------------------------------------------------------------------

    def play(self, actor: Actor, action: A) -> "Match[S, A, V]":
        """Play one action, or one outcome of chance.

        Raises GameOver, NotYourTurn or IllegalMove; this match is never changed.
        """
        actor = self._admit(actor)
        before = self._log.entry(self._length)
        if before and before.action == action and not isinstance(action, Concession):
            # Played before: it is legal, and what follows is known.
            return type(self)(self.rules, self._log, self._length + 1)
        legal = self.rules.actions(self.state)
        if action not in legal:
            allowed = [self.rules.format(a) for a in legal[:_MAX_LISTED]]
            if len(legal) > _MAX_LISTED:
                allowed.append(f"{len(legal) - _MAX_LISTED} more")
            raise IllegalMove(f"{self._name(action)} is not allowed now; allowed: {', '.join(allowed)}.")
        step = self.rules.apply(self.state, action)
        return self._then(Turn(actor, action, step.events), step.state)

    def play_text(self, *entries: str) -> "Match[S, A, V]":
        """Play entries in notation, each by whoever is to act."""
        match = self
        for entry in entries:
            actor = match.actor
            if actor is None:
                raise GameOver("The match is over.")
            if conceded := parse_concession(entry):
                how, seat = conceded
                match = match._concede(seat or actor, how)
            else:
                match = match.play(actor, self.rules.parse(entry))
        return match

    def resign(self, seat: Seat) -> "Match[S, A, V]":
        """Give up the match, on one's own turn or on the other's; not while chance is to decide."""
        return self._concede(seat, Concession.RESIGN)

    def forfeit(self, seat: Seat) -> "Match[S, A, V]":
        """Lose the match on one's own turn, because no legal action came in time."""
        return self._concede(seat, Concession.FORFEIT)

    def _concede(self, seat: Actor, how: Concession) -> "Match[S, A, V]":
        mover = self.actor
        any_time = how is Concession.RESIGN and isinstance(mover, Seat)
        loser = as_seat(seat) if any_time and seat is not CHANCE else self._admit(seat)
        if not isinstance(loser, Seat):
            raise NotYourTurn(f"Only a player can {how.value}, not chance.")
        return self._then(Turn(loser, how, (Conceded(loser, how.ending),), loser is not mover), self.state)

    def _then(self, turn: Turn[A], state: S) -> "Match[S, A, V]":
        log = self._log.extended(self._length, turn, state)
        return type(self)(self.rules, log, self._length + 1)

    def _admit(self, actor: Actor) -> Actor:
        """Who acts, if it is for them to act now."""
        expected = self.actor
        if expected is None:
            raise GameOver("The match is over.")
        if actor is not CHANCE:
            actor = as_seat(actor)
        if actor is not expected:
            name = expected.label if isinstance(expected, Seat) else "chance"
            raise NotYourTurn(f"It is for {name} to act now.")
        return actor

    def _name(self, action: A) -> str:
        try:
            return f"'{self.rules.format(action)}'"
        except Exception:  # not even an action of this game: nothing is known about it
            return repr(action)


AnyMatch = Match[Any, Any, Any]
"""A match of any game."""


def draw(match: Match[S, A, V], rng: "Random") -> A:
    """Draw an outcome at the chance node where `match` stands, with exactly the rules' odds."""
    odds = match.rules.odds(match.state)
    scale = lcm(*(chance.denominator for chance in odds))
    ticket = rng.randrange(scale)
    for outcome, chance in zip(match.actions, odds, strict=True):
        ticket -= chance.numerator * (scale // chance.denominator)
        if ticket < 0:
            return outcome
    raise AssertionError("odds sum to 1")


def play_through(
    match: Match[S, A, V], rng: "Random", decide: Callable[[Match[S, A, V], Seat], A]
) -> Iterator[Match[S, A, V]]:
    """The match as it is and after every further entry until it is over; `rng` draws for chance."""
    yield match
    while (actor := match.actor) is not None:
        match = match.play(actor, decide(match, actor) if isinstance(actor, Seat) else draw(match, rng))
        yield match
