"""Matches in a PostgreSQL database, for when several processes or machines serve them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, sql
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.web import store

log = logging.getLogger("duels.web")
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns at every try; we say it once

_SCHEMA = """
CREATE TABLE IF NOT EXISTS duels_version (version integer PRIMARY KEY);
CREATE TABLE IF NOT EXISTS duels_matches (id text PRIMARY KEY, header text NOT NULL);
CREATE TABLE IF NOT EXISTS duels_log (
    match text NOT NULL REFERENCES duels_matches, number integer NOT NULL, kind text NOT NULL, seat integer,
    text text NOT NULL, written double precision NOT NULL, PRIMARY KEY (match, number)
);
CREATE TABLE IF NOT EXISTS duels_seats (
    match text NOT NULL REFERENCES duels_matches, seat integer NOT NULL, identity text NOT NULL,
    since double precision NOT NULL, over boolean NOT NULL, PRIMARY KEY (match, seat)
);
CREATE INDEX IF NOT EXISTS duels_seats_since ON duels_seats (identity, since);
CREATE INDEX IF NOT EXISTS duels_seats_of ON duels_seats (identity, over, since);
CREATE TABLE IF NOT EXISTS duels_invites (
    token text PRIMARY KEY, match text NOT NULL REFERENCES duels_matches, seat integer NOT NULL,
    expires double precision NOT NULL
);
CREATE INDEX IF NOT EXISTS duels_invites_to ON duels_invites (match);
INSERT INTO duels_version VALUES (1) ON CONFLICT DO NOTHING;
"""
VERSION = 1
CHANNEL = "duels"
_SETTING_UP = 0x6475656C73  # the lock of whoever makes the tables: several processes start at once
_CONNECTIONS = 8
_WAIT = 5.0  # seconds for a connection
_AGAIN = 1.0  # seconds until a lost connection is tried again

Connection = AsyncConnection[tuple[Any, ...]]


class PostgresStore:
    """A store in a database that other processes use too."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._heard: store.Heard = lambda match: None

    @property
    def _name(self) -> str:
        """The database as messages name it: without its password."""
        parts = urlsplit(self._url)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    async def open(self, heard: store.Heard) -> None:
        """Connect, and make the tables if there are none."""
        self._heard = heard
        try:
            async with await AsyncConnection.connect(self._url, connect_timeout=int(_WAIT)) as db:
                await self._prepare(db)
        except psycopg.Error as problem:
            raise store.StoreUnavailable(self._told(problem)) from None
        self._pool = AsyncConnectionPool(
            self._url, min_size=1, max_size=_CONNECTIONS, timeout=_WAIT, open=False, name="duels"
        )
        await self._pool.open()
        self._listening = asyncio.create_task(self._listen())

    async def _prepare(self, db: Connection) -> None:
        """Make the tables if there are none, or check that we can read those that there are."""
        await db.execute("SELECT pg_advisory_xact_lock(%s)", (_SETTING_UP,))
        for statement in filter(str.strip, _SCHEMA.split(";")):
            await db.execute(statement)
        row = await (await db.execute("SELECT max(version) FROM duels_version")).fetchone()
        if row and row[0] > VERSION:
            made = f"{self._name} was set up by a newer duels"
            raise DuelsError(f"{made}: this one reads version {VERSION}, not {row[0]}.")

    def _told(self, problem: Exception) -> str:
        return f"{self._name}: {' '.join(str(problem).split())}"

    async def close(self) -> None:
        """Disconnect."""
        if self._listening:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._pool:
            await self._pool.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """A connection to use within; what the database complains about becomes one line."""
        assert self._pool, "the store is open"
        try:
            async with self._pool.connection() as db:
                yield db
        except (psycopg.Error, PoolTimeout) as problem:
            raise store.StoreUnavailable(self._told(problem)) from None

    # -- reading --------------------------------------------------------------------------------

    async def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        async with self._connection() as db:
            return await (await db.execute(query, values)).fetchall()

    async def find(self, match: str) -> store.Stored | None:
        """What is kept of a match but its log."""
        rows = await self._rows(
            "SELECT m.header, s.seat, s.identity, i.token, i.match, i.seat, i.expires FROM duels_matches m "
            "LEFT JOIN duels_seats s ON s.match = m.id "
            "LEFT JOIN duels_invites i ON i.match = m.id AND i.expires > 0 WHERE m.id = %s",
            match,
        )
        if not rows:
            return None
        seats = {Seat(row[1]): row[2] for row in rows if row[1]}
        invites = [_invite(row[3:]) for row in rows if row[3]]
        return store.Stored(rows[0][0], seats, next(iter(invites), None))

    async def entries(self, match: str, after: int = 0) -> list[store.Entry]:
        """The log of a match after its first entries."""
        rows = await self._rows(
            "SELECT kind, text, seat FROM duels_log WHERE match = %s AND number > %s ORDER BY number",
            match,
            after,
        )
        return [
            store.Entry(store.Kind(kind), text, Seat(seat) if seat else None) for kind, text, seat in rows
        ]

    async def invite(self, token: str, now: float) -> store.Invite | None:
        """An invitation that can still be taken up."""
        rows = await self._rows(
            "SELECT token, match, seat, expires FROM duels_invites WHERE token = %s AND expires > %s",
            token,
            now,
        )
        return _invite(rows[0]) if rows else None

    async def match_of_invite(self, token: str) -> str | None:
        """The match that an invitation led to."""
        rows = await self._rows("SELECT match FROM duels_invites WHERE token = %s", token)
        return str(rows[0][0]) if rows else None

    async def matches_of(self, identity: str, over: bool, most: int) -> list[store.Kept]:
        """The matches of an identity that are over or go on, the last one first."""
        rows = await self._rows(
            "SELECT match, seat, since, (SELECT max(number) FROM duels_log l WHERE l.match = s.match) "
            "FROM duels_seats s WHERE identity = %s AND over = %s ORDER BY since DESC LIMIT %s",
            identity,
            over,
            most,
        )
        return [store.Kept(match, Seat(seat), since, number or 0) for match, seat, since, number in rows]

    async def count_since(self, identity: str, since: float) -> int:
        """How many matches an identity has sat down at since then."""
        rows = await self._rows(
            "SELECT count(*) FROM duels_seats WHERE identity = %s AND since > %s", identity, since
        )
        return int(rows[0][0])

    async def check(self) -> None:
        """Read something, and take a number of a transaction: its commit is written."""
        await self._rows("SELECT txid_current(), (SELECT 1 FROM duels_matches LIMIT 1)")

    # -- writing --------------------------------------------------------------------------------

    async def create(self, match: store.NewMatch) -> None:
        """Keep a new match."""
        async with self._connection() as db, db.transaction():
            await _create(db, match)
            await _notify(db, match.id)

    async def append(self, change: store.Change) -> None:
        """Write a change, if the log has the number that it names."""
        async with self._connection() as db, db.transaction():
            await _append(db, change)
            await _notify(db, change.match)

    async def _listen(self) -> None:
        """Pass on what the database tells, which is sent at each commit; reconnect if it goes away."""
        gone = False
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as db:
                    await db.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
                    if gone:
                        log.warning("%s is back.", self._name)
                    gone = False
                    self._heard(None)  # whatever came while nobody listened
                    async for told in db.notifies():
                        self._heard(told.payload)
            except psycopg.Error as problem:
                if not gone:  # once, however long it lasts
                    log.warning("%s", self._told(problem))
                gone = True
            await asyncio.sleep(_AGAIN)


async def _create(db: Connection, match: store.NewMatch) -> None:
    now = time.time()
    made = await db.execute(
        "INSERT INTO duels_matches VALUES (%s, %s) ON CONFLICT DO NOTHING", (match.id, match.header)
    )
    if not made.rowcount:
        raise store.Conflict(f"there is a match {match.id} already.")
    await _add_entries(db, match.id, 0, match.entries, now)
    for seat, identity in match.seats.items():
        row = (match.id, seat.value, identity, now, match.over)
        await db.execute("INSERT INTO duels_seats VALUES (%s, %s, %s, %s, %s)", row)
    if match.invite:
        given = match.invite
        await db.execute(
            "INSERT INTO duels_invites VALUES (%s, %s, %s, %s)",
            (given.token, given.match, given.seat.value, given.expires),
        )


async def _append(db: Connection, change: store.Change) -> None:
    now = time.time()
    # This row is locked until the commit: whoever else writes to the match waits here, then reads the number.
    locked = await db.execute("SELECT FROM duels_matches WHERE id = %s FOR UPDATE", (change.match,))
    if not locked.rowcount:
        raise store.Conflict("there is no such match.")
    found = await db.execute(
        "SELECT coalesce(max(number), 0) FROM duels_log WHERE match = %s", (change.match,)
    )
    row = await found.fetchone()
    number = row[0] if row else 0
    if number != change.number:
        raise store.Conflict(f"the log has {number} entries, not {change.number}.")
    if change.claim:
        given = change.claim
        taken = await db.execute(
            "UPDATE duels_invites SET expires = 0 WHERE token = %s AND match = %s AND expires > %s "
            "RETURNING seat",
            (given.token, change.match, given.now),
        )
        seat = await taken.fetchone()
        if not seat:
            raise store.Conflict("the invitation was taken up already.")
        await db.execute(
            "INSERT INTO duels_seats VALUES (%s, %s, %s, %s, FALSE)",
            (change.match, seat[0], given.identity, now),
        )
    await _add_entries(db, change.match, number, change.entries, now)
    if change.ends:
        await db.execute("UPDATE duels_seats SET over = TRUE WHERE match = %s", (change.match,))
    if change.creates:
        await _create(db, change.creates)


async def _add_entries(
    db: Connection, match: str, number: int, entries: tuple[store.Entry, ...], now: float
) -> None:
    rows = [
        (match, number + place, e.kind.value, e.seat.value if e.seat else None, e.text, now)
        for place, e in enumerate(entries, start=1)
    ]
    if rows:
        async with db.cursor() as cursor:
            await cursor.executemany("INSERT INTO duels_log VALUES (%s, %s, %s, %s, %s, %s)", rows)


async def _notify(db: Connection, match: str) -> None:
    await db.execute("SELECT pg_notify(%s, %s)", (CHANNEL, match))


def _invite(row: tuple[Any, ...]) -> store.Invite:
    token, match, seat, expires = row
    return store.Invite(token, match, Seat(seat), expires)
