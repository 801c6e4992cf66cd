"""What the server keeps of matches: a log for each that only grows, who sits where, and invitations.

A match is its record: a header, and lines. Its log has an entry for every line, and for whatever else
happened at the board: somebody sat down, offered something, took back. Appending is compare-and-set on the
log's number, so any process may write to any match; whoever comes second reads on and tries again.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat


class EntryKind(Enum):
    """What an entry of a log says. The value is how it is stored."""

    PLAY = "play"
    """A line of the record: an action, what chance brought, or that somebody resigned."""
    SIT = "sit"
    """A person took the seat; the text is a name, or empty."""
    OFFER = "offer"
    """The seat offers something to the other: `takeback N`, `rematch`."""
    REFUSE = "refuse"
    """The seat does not take up what the other offered, or withdraws its own offer."""
    BACK = "back"
    """The record goes back to its first N lines; the text is N."""
    REMATCH = "rematch"
    """There is another match of the same two; the text is its id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a match's log."""

    kind: EntryKind
    text: str
    seat: Seat | None = None


@dataclass(frozen=True)
class NewMatch:
    """A match that is to be kept: its id, its record's header, what its log begins with, who sits where."""

    id: str
    header: str
    entries: tuple[Entry, ...]
    seats: dict[Seat, str]
    """The hashes of the identities at the seats that are taken by people."""
    invite: "Invite | None" = None
    over: bool = False


@dataclass(frozen=True)
class Invite:
    """A seat at a match that is free for whoever brings the token."""

    token: str
    match: str
    seat: Seat
    expires: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class Claim:
    """An identity takes the seat that an invitation holds free."""

    token: str
    identity: str
    now: float


@dataclass(frozen=True)
class Change:
    """What is written at once or not at all: entries at the end of a log that has `number` of them now."""

    match: str
    number: int
    entries: tuple[Entry, ...]
    claim: Claim | None = None
    creates: NewMatch | None = None
    ends: bool = False
    """Whether the match is over with these entries; it stays so."""


@dataclass(frozen=True)
class StoredMatch:
    """A match as a list of matches has it."""

    id: str
    seat: Seat
    since: float
    """When the identity sat down, in seconds since 1970."""
    number: int
    """How many entries its log has."""


@dataclass(frozen=True)
class Stored:
    """All that is kept of a match but its log."""

    header: str
    seats: dict[Seat, str] = field(default_factory=dict)
    invite: Invite | None = None
    """The invitation that can still be taken up, if there is one."""


class Conflict(DuelsError):
    """Somebody else has written to the match, or taken the seat."""


class StoreUnavailable(DuelsError):
    """The store cannot be reached or written to now. Nothing was written."""


Row = tuple[Any, ...]
Heard = Callable[[str | None], None]
"""Is told the id of a match that was written to by anybody; None if it may have been any."""


class Store(ABC):
    """A database of matches. Methods raise StoreUnavailable where it cannot do its work now.

    The SQL here is PostgreSQL's, with `?` for values; SQLite has other names for the tables.
    """

    @abstractmethod
    async def open(self, heard: Heard) -> None:
        """Make ready; from now on `heard` is told of all that is written, in this process or another."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of everything. What was written stays."""

    @abstractmethod
    async def create(self, match: NewMatch) -> None:
        """Keep a new match. When this returns, it is on disk."""

    @abstractmethod
    async def append(self, change: Change) -> None:
        """Write a change. When this returns, it is on disk; Conflict, if the log has another number."""

    @abstractmethod
    async def check(self) -> None:
        """Return if the store can be read and written now."""

    @abstractmethod
    async def rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows of a query."""

    async def find(self, match: str) -> Stored | None:
        """All that is kept of a match but its log; None if there is no such match."""
        rows = await self.rows(
            "SELECT m.header, s.seat, s.identity, i.token, i.match, i.seat, i.expires FROM duels_matches m "
            "LEFT JOIN duels_seats s ON s.match = m.id "
            "LEFT JOIN duels_invites i ON i.match = m.id AND i.expires > 0 WHERE m.id = ?",
            match,
        )
        if not rows:
            return None
        seats = {Seat(row[1]): row[2] for row in rows if row[1]}
        return Stored(rows[0][0], seats, _invite(rows[0][3:]) if rows[0][3] else None)

    async def entries(self, match: str, after: int = 0) -> list[Entry]:
        """The log of a match after its first `after` entries."""
        rows = await self.rows(
            "SELECT kind, text, seat FROM duels_log WHERE match = ? AND number > ? ORDER BY number",
            match,
            after,
        )
        return [Entry(EntryKind(kind), text, Seat(seat) if seat else None) for kind, text, seat in rows]

    async def invite(self, token: str, now: float) -> Invite | None:
        """The invitation with this token, if it can still be taken up."""
        rows = await self.rows(
            "SELECT token, match, seat, expires FROM duels_invites WHERE token = ? AND expires > ?",
            token,
            now,
        )
        return _invite(rows[0]) if rows else None

    async def match_of_invite(self, token: str) -> str | None:
        """The match that an invitation led to, even if it was taken up or is too old."""
        rows = await self.rows("SELECT match FROM duels_invites WHERE token = ?", token)
        return str(rows[0][0]) if rows else None

    async def matches_of(self, identity: str, over: bool, most: int) -> list[StoredMatch]:
        """The matches in which an identity sits that are over, or go on; where it sat down last first.

        Not by what was written last: that would tell of hidden moves.
        """
        rows = await self.rows(
            "SELECT match, seat, since, (SELECT max(number) FROM duels_log l WHERE l.match = s.match) "
            "FROM duels_seats s WHERE identity = ? AND over = ? ORDER BY since DESC LIMIT ?",
            identity,
            over,
            most,
        )
        return [StoredMatch(match, Seat(seat), since, number or 0) for match, seat, since, number in rows]

    async def count_since(self, identity: str, since: float) -> int:
        """How many matches an identity has sat down at since then."""
        query = "SELECT count(*) FROM duels_seats WHERE identity = ? AND since > ?"
        return int((await self.rows(query, identity, since))[0][0])


Steps = Generator[tuple[str, tuple[object, ...]], list[Row], None]
"""The statements of a transaction with their values. It is sent the rows that each returns."""


def creation(match: NewMatch) -> Steps:
    """Keep a new match; Conflict if there is one with its id."""
    now = time.time()
    made = yield (
        "INSERT INTO duels_matches VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
        (match.id, match.header),
    )
    if not made:
        raise Conflict(f"there is a match {match.id} already.")
    yield from _addition(match.id, 0, match.entries, now)
    for seat, identity in match.seats.items():
        row = (match.id, seat.value, identity, now, match.over)
        yield "INSERT INTO duels_seats VALUES (?, ?, ?, ?, ?)", row
    if given := match.invite:
        yield (
            "INSERT INTO duels_invites VALUES (?, ?, ?, ?)",
            (given.token, given.match, given.seat.value, given.expires),
        )


def appending(change: Change) -> Steps:
    """Write a change; Conflict if the log has another number, or the seat was taken."""
    now = time.time()
    # This row is locked until the commit: whoever else writes to the match waits here, then reads the number.
    if not (yield "SELECT id FROM duels_matches WHERE id = ? FOR UPDATE", (change.match,)):
        raise Conflict("there is no such match.")
    found = yield "SELECT coalesce(max(number), 0) FROM duels_log WHERE match = ?", (change.match,)
    number = found[0][0]
    if number != change.number:
        raise Conflict(f"the log has {number} entries, not {change.number}.")
    if given := change.claim:
        taken = yield (
            "UPDATE duels_invites SET expires = 0 "
            "WHERE token = ? AND match = ? AND expires > ? RETURNING seat",
            (given.token, change.match, given.now),
        )
        if not taken:
            raise Conflict("the invitation was taken up already.")
        row = (change.match, taken[0][0], given.identity, now, False)
        yield "INSERT INTO duels_seats VALUES (?, ?, ?, ?, ?)", row
    yield from _addition(change.match, number, change.entries, now)
    if change.ends:
        yield "UPDATE duels_seats SET over = TRUE WHERE match = ?", (change.match,)
    if change.creates:
        yield from creation(change.creates)


def _addition(match: str, number: int, entries: tuple[Entry, ...], now: float) -> Steps:
    for place, entry in enumerate(entries, start=number + 1):
        row = (match, place, entry.kind.value, entry.seat.value if entry.seat else None, entry.text, now)
        yield "INSERT INTO duels_log VALUES (?, ?, ?, ?, ?, ?)", row


def _invite(row: Row) -> Invite:
    token, match, seat, expires = row
    return Invite(token, match, Seat(seat), expires)
