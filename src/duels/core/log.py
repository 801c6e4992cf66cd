"""The log of a match: everything that was played, kept once for all matches along one line of play."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Any, Generic, TypeVar, overload

from duels.core.rules import Event, S, Seat, Sight

T = TypeVar("T")
E = TypeVar("E")  # an entry: a turn of the match


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


class Log(Generic[E, S]):
    """The entries of a line of play and the state after each; entries are only ever added at the end.

    `tell` says what a group of seats knows of an entry: its action, None if that is hidden from them, and the
    events that they see. Threads may share a log.
    """

    def __init__(self, start: S, tell: Callable[[E, frozenset[Seat]], tuple[Any, tuple[Event, ...]]]) -> None:
        self.entries: list[E] = []
        self.states: list[S] = [start]
        self.sights: dict[Seat, tuple[int, Sight[Any, Any]]] = {}
        """What each seat knew when that was last asked, and after how many entries: pages ask repeatedly."""
        self._tell = tell
        self._told: dict[frozenset[Seat], Told] = {}
        self._growing = Lock()

    def entry(self, place: int) -> E | None:
        """The entry after the first `place` ones, if the log goes on there."""
        entries = self.entries
        return entries[place] if place < len(entries) else None

    def extended(self, length: int, entry: E, state: S) -> "Log[E, S]":
        """A log of these first `length` entries and `entry`: this one, unless it went on otherwise."""
        with self._growing:
            if len(self.entries) > length and self.entries[length] == entry:
                return self  # played before: the state after it is a function of what came before
            if len(self.entries) == length:
                # The state first: `entry` takes no lock, and whoever finds an entry there asks for its state.
                self.states.append(state)
                self.entries.append(entry)
                return self
        branch: Log[E, S] = Log(self.states[0], self._tell)
        branch.entries = [*self.entries[:length], entry]
        branch.states = [*self.states[: length + 1], state]
        return branch

    def told(self, watching: frozenset[Seat], length: int) -> "Told":
        """What these seats have been told, up to entry number `length` at least."""
        told = self._told.get(watching)
        if told and len(told.known_after) > length:
            return told
        with self._growing:
            told = self._told.get(watching)
            if told is None:
                told = self._told[watching] = Told()
            for entry in self.entries[len(told.actions) : length]:
                told.add(*self._tell(entry, watching))
        return told

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.states, self.entries, self._tell)


class Told:
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


def _restored(states: list[Any], entries: list[Any], tell: Any) -> "Log[Any, Any]":
    log: Log[Any, Any] = Log(states[0], tell)
    log.states, log.entries = states, entries
    return log
