"""Matches in a PostgreSQL database, for when several processes or machines serve them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, sql
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from duels.core.errors import DuelsError
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


class PostgresStore(store.Store):
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

    async def rows(self, query: str, *values: object) -> list[store.Row]:
        """Return the rows of a query."""
        async with self._connection() as db:
            return await (await db.execute(_with_marks(query), values)).fetchall()

    async def check(self) -> None:
        """Read something, and take a number of a transaction: its commit is written."""
        await self.rows("SELECT txid_current(), (SELECT 1 FROM duels_matches LIMIT 1)")

    # -- writing --------------------------------------------------------------------------------

    async def create(self, match: store.NewMatch) -> None:
        """Keep a new match."""
        async with self._connection() as db, db.transaction():
            await _carry_out(db, store.creation(match))
            await _notify(db, match.id)

    async def append(self, change: store.Change) -> None:
        """Write a change, if the log has the number that it names."""
        async with self._connection() as db, db.transaction():
            await _carry_out(db, store.appending(change))
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


async def _carry_out(db: Connection, steps: store.Steps) -> None:
    query, values = next(steps)
    with suppress(StopIteration):
        while True:
            cursor = await db.execute(_with_marks(query), values)
            query, values = steps.send(await cursor.fetchall() if cursor.description else [])


def _with_marks(query: str) -> str:
    return query.replace("?", "%s")


async def _notify(db: Connection, match: str) -> None:
    await db.execute("SELECT pg_notify(%s, %s)", (CHANNEL, match))
