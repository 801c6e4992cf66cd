"""The database of the server: the logs of matches, the players at their seats, and invitations.

A match has a record header and a log that only grows. Log entries are turns of the record and other events,
such as offers and takebacks. An append names the expected length of the log and fails if it is different
(compare-and-set). Any process can therefore write to any match: the slower one reads the new entries and
tries again.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat


class EntryKind(Enum):
    """The kind of a log entry. The value is stored in the database."""

    PLAY = "play"
    """A turn of the record: an action, a chance outcome, a resignation or an agreement to stop."""
    SIT = "sit"
    """A person took the seat. The text is the person's name, or empty."""
    OFFER = "offer"
    """The seat made an offer: `takeback N`, `rematch` or `stop`."""
    REFUSE = "refuse"
    """The seat declined the opponent's offer or withdrew its own."""
    BACK = "back"
    """Only the first N turns of the record remain. The text is N."""
    REMATCH = "rematch"
    """A rematch was created. The text is its id."""
    SCORE = "score"
    """The match is a rematch. The text is the number of earlier wins of each seat, such as `2 1`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a match's log."""

    kind: EntryKind
    text: str
    seat: Seat | None = None


@dataclass(frozen=True)
class NewMatch:
    """A match to be stored."""

    id: str
    header: str
    entries: tuple[Entry, ...]
    seats: dict[Seat, str]
    """The identity of the person at each taken seat."""
    invite: "Invite | None" = None
    over: bool = False


@dataclass(frozen=True)
class Invite:
    """A token that gives access to a free seat."""

    token: str
    match: str
    seat: Seat
    expires: float
    """Seconds since 1970, or 0 if the invitation has been accepted."""

    @property
    def is_open(self) -> bool:
        """Whether the invitation can still be accepted."""
        return self.expires > time.time()


@dataclass(frozen=True)
class Claim:
    """A request of an identity for the seat of an invitation."""

    token: str
    identity: str
    now: float


@dataclass(frozen=True)
class Change:
    """A transaction on one match: entries to append, and their effects on seats and other matches."""

    match: str
    number: int
    """The expected number of entries before the change."""
    entries: tuple[Entry, ...]
    claim: Claim | None = None
    creates: NewMatch | None = None
    ends_match: bool = False
    """Whether the match is over after these entries. It then stays over."""
    closes_invite: bool = False
    """Whether nobody can accept the match's invitation any more."""


@dataclass(frozen=True)
class StoredMatch:
    """A match in a list of an identity's matches."""

    id: str
    seat: Seat | None
    """The seat, or None if the row is damaged."""
    since: datetime
    """When the identity took the seat."""
    number: int
    """The number of log entries."""


@dataclass(frozen=True)
class MatchInfo:
    """The stored data of a match without its log."""

    header: str
    seats: dict[Seat, str]
    invite: Invite | None
    """The invitation, if nobody has accepted it yet."""


class Conflict(DuelsError):
    """Another process has written to the match or taken the seat first."""


class DamagedLog(DuelsError):
    """Entries of a match's log are missing or cannot be read. The message does not quote them."""


class StoreUnavailable(DuelsError):
    """The database cannot be reached or written to. Nothing was written."""


class StoreDamaged(StoreUnavailable):
    """The database was emptied, replaced or moved, or lacks tables. Moves may be lost."""


Row = tuple[Any, ...]
ChangeCallback = Callable[[str | None], None]
"""Called with the id of a changed match, or with None if any match may have changed."""


class Store(ABC):
    """A database of matches. All methods raise StoreUnavailable if the database does not work.

    Queries are written for PostgreSQL with `?` as placeholder. SqliteStore translates them.
    """

    serves_other_processes = False
    """Whether this store is meant for several server processes."""

    @abstractmethod
    async def open(self, on_change: ChangeCallback) -> None:
        """Open the store. `on_change` is called after every write, by this process or another."""

    @abstractmethod
    async def close(self) -> None:
        """Finish pending writes and close the store."""

    @abstractmethod
    async def write(self, match: str, steps: "TransactionSteps") -> None:
        """Run a transaction on a match and commit it durably. Raises Conflict if a step does."""

    @abstractmethod
    async def check(self) -> None:
        """Check that the store can be read and written. Raises StoreUnavailable if not."""

    @abstractmethod
    async def fetch_rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows of a query."""

    async def create(self, match: NewMatch) -> None:
        """Store a new match durably. Raises Conflict if the id exists."""
        await self.write(match.id, plan_create(match))

    async def append(self, change: Change) -> None:
        """Write a change durably. Raises Conflict if the log has another length or the seat is taken."""
        await self.write(change.match, plan_append(change))

    async def find_match(self, match: str) -> MatchInfo | None:
        """Return a match without its log, or None if there is no such match."""
        rows = await self.fetch_rows(
            "SELECT m.header, s.seat, s.identity, i.token, i.match, i.seat, i.expires FROM duels_matches m "
            "LEFT JOIN duels_seats s ON s.match = m.id "
            "LEFT JOIN duels_invites i ON i.match = m.id AND i.expires > 0 WHERE m.id = ?",
            match,
        )
        if not rows:
            return None
        seats = {Seat(row[1]): row[2] for row in rows if row[1]}
        return MatchInfo(rows[0][0], seats, _make_invite(rows[0][3:]) if rows[0][3] else None)

    async def list_entries(self, match: str, skip: int = 0) -> list[Entry]:
        """Return the log of a match without its first `skip` entries.

        Raises DamagedLog if an entry is missing or cannot be read, or if there are fewer than `skip`.
        """
        rows = await self.fetch_rows(
            "SELECT number, kind, text, seat FROM duels_log WHERE match = ? AND number >= ? ORDER BY number",
            match,
            skip,
        )
        first = max(skip, 1)
        if [row[0] for row in rows] != [*range(first, first + len(rows))] or (skip and not rows):
            raise DamagedLog("Entries of the log are missing.")
        return [_make_entry(row) for row in (rows[1:] if skip else rows)]

    async def find_invite(self, token: str) -> Invite | None:
        """Return the invitation with this token, even an accepted or expired one."""
        query = "SELECT token, match, seat, expires FROM duels_invites WHERE token = ? AND seat IN (1, 2)"
        rows = await self.fetch_rows(query, token)
        return _make_invite(rows[0]) if rows else None

    async def find_device(self, match: str, identity: str) -> Seat | None:
        """Return the seat that another device shares with this identity."""
        query = "SELECT seat FROM duels_devices WHERE match = ? AND identity = ? AND seat IN (1, 2)"
        rows = await self.fetch_rows(query, match, identity)
        return Seat(rows[0][0]) if rows else None

    async def list_matches(self, identity: str, over: bool, limit: int) -> list[StoredMatch]:
        """Return an identity's finished or running matches, the most recently joined first.

        The order does not depend on the last write, which would reveal hidden moves.
        """
        own = (
            "SELECT match, seat, since FROM duels_seats WHERE identity = ? AND over = ? "
            "ORDER BY since DESC LIMIT ?"
        )
        shared = (
            "SELECT s.match, s.seat, s.since FROM duels_devices d JOIN duels_seats s "
            "ON s.match = d.match AND s.seat = d.seat WHERE d.identity = ? AND s.over = ? "
            "ORDER BY since DESC LIMIT ?"
        )
        rows = await self.fetch_rows(
            "SELECT match, seat, since, (SELECT max(number) FROM duels_log l WHERE l.match = s.match) FROM "
            f"(SELECT * FROM ({own}) o UNION ALL SELECT * FROM ({shared}) d) s ORDER BY since DESC LIMIT ?",
            *(identity, over, limit) * 2,
            limit,
        )
        return [_make_stored_match(row) for row in rows]

    async def count_matches_since(self, identity: str, since: float) -> int:
        """Return the number of matches that an identity has joined since a time."""
        query = "SELECT count(*) FROM duels_seats WHERE identity = ? AND since > ?"
        return int((await self.fetch_rows(query, identity, since))[0][0])

    async def add_device_link(self, match: str, seat: Seat, hash: str, expires: float) -> None:
        """Store the hash of a link to a seat, in place of the last one."""
        await self.write(match, _plan_device_link(match, seat, hash, expires))

    async def use_device_link(self, match: str, hash: str, identity: str) -> None:
        """Give an identity the seat of a link and delete the link. Raises Conflict if the link is invalid."""
        await self.write(match, _plan_use_of_link(match, hash, identity))

    async def has_devices(self, match: str, seat: Seat) -> bool:
        """Return whether other devices share a seat."""
        query = "SELECT 1 FROM duels_devices WHERE match = ? AND seat = ? LIMIT 1"
        return bool(await self.fetch_rows(query, match, seat.value))

    async def remove_devices(self, match: str, seat: Seat) -> None:
        """Remove the link to a seat, and all devices that share it."""
        await self.write(match, _plan_removal(match, seat))


TransactionSteps = Generator[tuple[str, tuple[object, ...]], list[Row], None]
"""A generator that yields the statements of a transaction with values and receives their rows."""


def plan_create(match: NewMatch) -> TransactionSteps:
    """Yield the statements that store a new match. Raises Conflict if its id exists."""
    now = time.time()
    created = yield (
        "INSERT INTO duels_matches VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
        (match.id, match.header),
    )
    if not created:
        raise Conflict(f"a match {match.id} exists already.")
    yield from _plan_entries(match.id, 0, match.entries, now)
    for seat, identity in match.seats.items():
        row = (match.id, seat.value, identity, now, match.over)
        yield "INSERT INTO duels_seats VALUES (?, ?, ?, ?, ?)", row
    if invite := match.invite:
        yield (
            "INSERT INTO duels_invites VALUES (?, ?, ?, ?)",
            (invite.token, invite.match, invite.seat.value, invite.expires),
        )


def plan_append(change: Change) -> TransactionSteps:
    """Yield the statements of a change. Raises Conflict if the log's length differs or the seat is taken."""
    now = time.time()
    # The row is locked until the commit: other writers to the match wait here.
    if not (yield "SELECT id FROM duels_matches WHERE id = ? FOR UPDATE", (change.match,)):
        raise Conflict("there is no such match.")
    rows = yield "SELECT coalesce(max(number), 0) FROM duels_log WHERE match = ?", (change.match,)
    number = rows[0][0]
    if number != change.number:
        raise Conflict(f"the log has {number} entries, not {change.number}.")
    if claim := change.claim:
        seats = yield (
            "UPDATE duels_invites SET expires = 0 "
            "WHERE token = ? AND match = ? AND expires > ? RETURNING seat",
            (claim.token, change.match, claim.now),
        )
        if not seats:
            raise Conflict("the invitation has been accepted or has expired.")
        row = (change.match, seats[0][0], claim.identity, now, False)
        yield "INSERT INTO duels_seats VALUES (?, ?, ?, ?, ?)", row
    yield from _plan_entries(change.match, number, change.entries, now)
    if change.ends_match:
        yield "UPDATE duels_seats SET over = TRUE WHERE match = ?", (change.match,)
    if change.closes_invite:
        yield "UPDATE duels_invites SET expires = 0 WHERE match = ?", (change.match,)
    if change.creates:
        yield from plan_create(change.creates)
        # A rematch swaps the seats.
        yield (
            "INSERT INTO duels_devices SELECT ?, identity, 3 - seat FROM duels_devices WHERE match = ?",
            (change.creates.id, change.match),
        )


def _plan_device_link(match: str, seat: Seat, hash: str, expires: float) -> TransactionSteps:
    yield "DELETE FROM duels_device_links WHERE match = ? AND seat = ?", (match, seat.value)
    yield "INSERT INTO duels_device_links VALUES (?, ?, ?, ?)", (match, seat.value, hash, expires)


def _plan_use_of_link(match: str, hash: str, identity: str) -> TransactionSteps:
    seats = yield (
        "DELETE FROM duels_device_links WHERE match = ? AND hash = ? AND expires > ? RETURNING seat",
        (match, hash, time.time()),
    )
    if not seats:
        raise Conflict("the link has been used or removed, or has expired.")
    row = (match, identity, seats[0][0])
    yield "INSERT INTO duels_devices VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row


def _plan_removal(match: str, seat: Seat) -> TransactionSteps:
    for table in ("duels_device_links", "duels_devices"):
        yield f"DELETE FROM {table} WHERE match = ? AND seat = ?", (match, seat.value)


def _plan_entries(match: str, number: int, entries: tuple[Entry, ...], now: float) -> TransactionSteps:
    for index, entry in enumerate(entries, start=number + 1):
        row = (match, index, entry.kind.value, entry.seat.value if entry.seat else None, entry.text, now)
        yield "INSERT INTO duels_log VALUES (?, ?, ?, ?, ?, ?)", row


def _make_entry(row: Row) -> Entry:
    number, kind, text, seat = row
    try:
        return Entry(EntryKind(kind), _check_text(text), Seat(seat) if seat else None)
    except ValueError:
        raise DamagedLog(f"Entry {number} of the log cannot be read.") from None


def _check_text(value: object) -> str:
    """Return a value of a text column: SQLite also stores bytes there."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _make_stored_match(row: Row) -> StoredMatch:
    match, seat, since, number = row
    try:
        return StoredMatch(match, Seat(seat), datetime.fromtimestamp(since, UTC), number or 0)
    except (ValueError, TypeError, OverflowError, OSError):
        return StoredMatch(match, None, datetime.fromtimestamp(0, UTC), 0)


def _make_invite(row: Row) -> Invite:
    token, match, seat, expires = row
    is_readable = isinstance(expires, int | float)  # otherwise the row is damaged, and the link has expired
    return Invite(token, match, Seat(seat), expires if is_readable else 0.0)
