"""A store in a PostgreSQL database, for several server processes or machines."""

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
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns at every attempt; we warn once

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
CREATE TABLE IF NOT EXISTS duels_device_links (
    match text NOT NULL REFERENCES duels_matches, seat integer NOT NULL, hash text NOT NULL,
    expires double precision NOT NULL, PRIMARY KEY (match, seat)
);
CREATE TABLE IF NOT EXISTS duels_devices (
    match text NOT NULL REFERENCES duels_matches, identity text NOT NULL, seat integer NOT NULL,
    PRIMARY KEY (match, identity)
);
CREATE INDEX IF NOT EXISTS duels_devices_of ON duels_devices (identity);
INSERT INTO duels_version VALUES (1) ON CONFLICT DO NOTHING;
"""
# Databases of older versions lack the tables of devices.
_TABLES = ("duels_version", "duels_matches", "duels_log", "duels_seats", "duels_invites")
VERSION = 1
CHANNEL = "duels"
_SETUP_LOCK = 0x6475656C73  # several processes may start at once and create the tables
_MAX_CONNECTIONS = 8
_TIMEOUT = 5.0  # seconds for a connection
_RECONNECT_DELAY = 1.0  # seconds

Connection = AsyncConnection[tuple[Any, ...]]


class PostgresStore(store.Store):
    """A store in a PostgreSQL database that several processes can share."""

    serves_other_processes = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._on_change: store.ChangeCallback = lambda match: None

    @property
    def _name(self) -> str:
        """The database's address without its password, for messages."""
        parts = urlsplit(self._url)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    async def open(self, on_change: store.ChangeCallback) -> None:
        """Connect, and create the tables if necessary.

        Raises StoreUnavailable if there is no connection, and DuelsError if the tables are of a newer format
        or some are missing.
        """
        self._on_change = on_change
        try:
            async with await AsyncConnection.connect(self._url, connect_timeout=int(_TIMEOUT)) as db:
                await self._set_up(db)
        except psycopg.Error as problem:
            raise store.StoreUnavailable(self._describe(problem)) from None
        self._pool = AsyncConnectionPool(
            self._url, min_size=1, max_size=_MAX_CONNECTIONS, timeout=_TIMEOUT, open=False, name="duels"
        )
        await self._pool.open()
        self._listener = asyncio.create_task(self._listen())

    async def _set_up(self, db: Connection) -> None:
        await db.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
        await self._check_tables(db)
        for statement in filter(str.strip, _SCHEMA.split(";")):
            await db.execute(statement)
        row = await (await db.execute("SELECT max(version) FROM duels_version")).fetchone()
        if row and row[0] > VERSION:
            message = f"{self._name} is a database of format {row[0]}"
            raise DuelsError(f"{message}; this version of duels reads format {VERSION}.")

    async def _check_tables(self, db: Connection) -> None:
        """Raise DuelsError if some tables exist and others do not: new ones would hide the loss."""
        query = "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NULL"
        missing = [name for (name,) in await (await db.execute(query, (list(_TABLES),))).fetchall()]
        if missing and len(missing) < len(_TABLES):
            raise DuelsError(f"{self._name} has lost tables: {', '.join(missing)}. Restore a backup.")

    def _describe(self, problem: Exception) -> str:
        return f"{self._name}: {' '.join(str(problem).split())}"

    async def close(self) -> None:
        """Cancel the listener and close all connections."""
        if self._listener:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
        if self._pool:
            await self._pool.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """Yield a connection. Turn database errors into StoreUnavailable."""
        assert self._pool, "the store is open"
        try:
            async with self._pool.connection() as db:
                yield db
        except psycopg.errors.UndefinedTable as problem:
            raise store.StoreDamaged(self._describe(problem)) from None
        except (psycopg.Error, PoolTimeout) as problem:
            raise store.StoreUnavailable(self._describe(problem)) from None

    # -- reading --------------------------------------------------------------------------------

    async def fetch_rows(self, query: str, *values: object) -> list[store.Row]:
        """Return the rows of a query."""
        async with self._connection() as db:
            return await (await db.execute(_translate_query(query), values)).fetchall()

    async def check(self) -> None:
        """Check that the database can be read and written. Raises StoreUnavailable if not."""
        # A transaction with an id writes its commit.
        checks = ("txid_current()", *(f"(SELECT 1 FROM {table} LIMIT 1)" for table in _TABLES))
        await self.fetch_rows(f"SELECT {', '.join(checks)}")

    # -- writing --------------------------------------------------------------------------------

    async def write(self, match: str, steps: store.TransactionSteps) -> None:
        """Run a transaction on a match and commit it durably. Raises Conflict if a step does."""
        async with self._connection() as db, db.transaction():
            await _execute_steps(db, steps)
            await db.execute("SELECT pg_notify(%s, %s)", (CHANNEL, match))

    async def _listen(self) -> None:
        """Report every commit of any process, and reconnect after errors."""
        is_lost = False
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as db:
                    await db.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
                    if is_lost:
                        log.warning("%s works again.", self._name)
                    is_lost = False
                    self._on_change(None)  # changes may have been missed
                    async for notification in db.notifies():
                        self._on_change(notification.payload)
            except psycopg.Error as problem:
                if not is_lost:  # log it once, however long it lasts
                    log.warning("%s", self._describe(problem))
                is_lost = True
            await asyncio.sleep(_RECONNECT_DELAY)


async def _execute_steps(db: Connection, steps: store.TransactionSteps) -> None:
    query, values = next(steps)
    with suppress(StopIteration):
        while True:
            cursor = await db.execute(_translate_query(query), values)
            query, values = steps.send(await cursor.fetchall() if cursor.description else [])


def _translate_query(query: str) -> str:
    return query.replace("?", "%s")
