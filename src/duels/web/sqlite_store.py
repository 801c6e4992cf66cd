"""A store in an SQLite file.

Changes that arrive during a commit are committed together afterwards. Statements take microseconds and run in
the event loop. Only slow operations run in a thread: commits and waiting for another process's lock.
"""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

from duels.core.errors import DuelsError
from duels.files import write_atomically
from duels.web.store import (
    ChangeCallback,
    Conflict,
    Row,
    Store,
    StoreDamaged,
    StoreUnavailable,
    TransactionSteps,
)

log = logging.getLogger("duels.web")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS matches (id TEXT PRIMARY KEY, header TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log (
    match TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, seat INTEGER, text TEXT NOT NULL,
    written REAL NOT NULL, PRIMARY KEY (match, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seats (
    match TEXT NOT NULL, seat INTEGER NOT NULL, identity TEXT NOT NULL, since REAL NOT NULL,
    over INTEGER NOT NULL, PRIMARY KEY (match, seat)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seats_since ON seats (identity, since);
CREATE INDEX IF NOT EXISTS seats_of ON seats (identity, over, since);
CREATE TABLE IF NOT EXISTS invites (
    token TEXT PRIMARY KEY, match TEXT NOT NULL, seat INTEGER NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS invites_to ON invites (match);
CREATE TABLE IF NOT EXISTS device_links (
    match TEXT NOT NULL, seat INTEGER NOT NULL, hash TEXT NOT NULL, expires REAL NOT NULL,
    PRIMARY KEY (match, seat)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS devices (
    match TEXT NOT NULL, identity TEXT NOT NULL, seat INTEGER NOT NULL, PRIMARY KEY (match, identity)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS devices_of ON devices (identity);
"""
# Files of older versions lack the tables of devices.
_TABLES = {"matches", "log", "seats", "invites"}
VERSION = 2
_BUSY_TIMEOUT = 10.0  # seconds to wait for another process's commit
_POLL_INTERVAL = 0.2  # seconds between checks for changes by other processes
_MAX_BATCH = 256  # changes per commit


_Work = Callable[[sqlite3.Connection], object]


class SqliteStore(Store):
    """A store in an SQLite file. Processes on the same machine can share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_connection: sqlite3.Connection | None = None
        self._write_connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "duels-writer")
        self._pending: list[tuple[_Work, asyncio.Future[Exception | None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._on_change: ChangeCallback = lambda match: None
        self._version: int | None = None
        self._failed = False
        self._file: os.stat_result | None = None  # once the store is open

    async def open(self, on_change: ChangeCallback) -> None:
        """Open the file, and create it if necessary.

        Raises DuelsError if it is a folder, a database of another program or of another version.
        """
        self._on_change = on_change
        if not self.path.parent.exists():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.path.is_dir():
            raise DuelsError(f"{self.path} is a folder. Choose a file with --database.")
        if not self.path.exists():
            with suppress(FileExistsError):  # another process may be faster
                write_atomically(Path(os.path.realpath(self.path)), _make_empty_database(), private=True)
        if not os.stat(self.path).st_size:  # SQLite would delete a log of changes beside it
            raise _report_empty(self.path)
        with self._translate_errors():
            connection = _connect(self.path)
            try:
                _set_up(connection, self.path)
            except BaseException:
                connection.close()
                raise
            connection.execute("PRAGMA busy_timeout = 0")
            self._write_connection = connection
            self._read_connection = _connect(self.path)
        self._file = os.stat(self.path)
        self._listener = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Finish pending writes and close the file."""
        if self._listener:
            self._listener.cancel()
        if self._writer:
            await self._writer
        self._thread.shutdown()
        for connection in (self._write_connection, self._read_connection):
            if connection:
                connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn SQLite errors into clear messages and mark the store as failed until a write succeeds."""
        try:
            yield
        except sqlite3.Error as problem:
            self._failed = True
            self._check_file()
            raise StoreUnavailable(f"{self.path}: {problem}.") from None

    # -- reading --------------------------------------------------------------------------------

    async def fetch_rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows of a query, run in the event loop: starting a thread would take longer."""
        assert self._read_connection, "the store is open"
        with self._translate_errors():
            return self._read_connection.execute(_translate_query(query), values).fetchall()

    async def check(self) -> None:
        """Check that the file can be read and written. Raises StoreUnavailable if not."""
        await self.fetch_rows("SELECT 1 FROM duels_matches LIMIT 1")
        await self._submit(lambda db: db.execute(f"PRAGMA user_version = {VERSION}"))

    # -- writing --------------------------------------------------------------------------------

    async def write(self, match: str, steps: TransactionSteps) -> None:
        """Run a transaction on a match and commit it durably. Raises Conflict if a step does."""
        await self._submit(lambda db: _execute_steps(db, steps))
        self._on_change(match)

    async def _submit(self, work: _Work) -> None:
        result: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._pending.append((work, result))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_pending())
        if problem := await result:
            raise problem

    async def _write_pending(self) -> None:
        while self._pending:
            jobs, self._pending = self._pending[:_MAX_BATCH], self._pending[_MAX_BATCH:]
            problems = await self._commit_batch([work for work, _ in jobs])
            for (_, result), problem in zip(jobs, problems, strict=True):
                if not result.done():  # the waiting task may have been cancelled
                    result.set_result(problem)
        self._writer = None

    async def _commit_batch(self, jobs: list[_Work]) -> Sequence[Exception | None]:
        """Run jobs in one transaction. Return the error of each job, or None."""
        assert self._write_connection, "the store is open"
        db = self._write_connection
        try:
            with self._translate_errors():
                self._check_file()
                self._check_for_changes(db)
                await self._begin(db)
                try:
                    problems = [_run_job(db, job) for job in jobs]
                    await self._in_thread(db, "COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                    raise
        except Exception as problem:
            return [problem] * len(jobs)
        if self._failed:
            log.warning("%s works again.", self.path)
        self._failed = False
        return problems

    async def _begin(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            db.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT * 1000:.0f}")
            try:
                await self._in_thread(db, "BEGIN IMMEDIATE")
            finally:
                db.execute("PRAGMA busy_timeout = 0")

    async def _in_thread(self, db: sqlite3.Connection, statement: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, db.execute, statement)

    def _check_file(self) -> None:
        """Raise StoreDamaged if the path has another file than at the start: writes would be lost."""
        try:
            file = os.stat(self.path)
            is_same = not self._file or (os.path.samestat(file, self._file) and file.st_size > 0)
        except OSError:
            is_same = False
        if not is_same:
            self._failed = True
            raise StoreDamaged(f"{self.path} was moved, removed, replaced or emptied while it was in use.")

    async def _listen(self) -> None:
        """Poll for writes of other processes. Our own writes look for them as well."""
        while True:
            if self._write_connection and self._writer is None:
                with suppress(sqlite3.Error):  # the next read or write reports it
                    self._check_for_changes(self._write_connection)
            await asyncio.sleep(_POLL_INTERVAL)

    def _check_for_changes(self, db: sqlite3.Connection) -> None:
        # SQLite changes this number when another connection has written.
        (version,) = db.execute("PRAGMA data_version").fetchone()
        if self._version not in (None, version):
            self._on_change(None)
        self._version = version


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    db.text_factory = partial(str, encoding="utf-8", errors="replace")  # a damaged text is not a failure
    return db


def _make_empty_database() -> bytes:
    """Return the content of a new file."""
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(f"{_SCHEMA} PRAGMA user_version = {VERSION}")
        return db.serialize()
    finally:
        db.close()


def _report_empty(path: Path) -> DuelsError:
    return DuelsError(f"{path} is empty: its matches are gone. Restore a backup, or delete the file.")


def _set_up(db: sqlite3.Connection, path: Path) -> None:
    """Check the version and the tables of the file, and create missing indexes."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise DuelsError(
            f"{path} is a database of format {version}; this version of duels reads format {VERSION}. "
            "Choose another file with --database."
        )
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not version:
        raise DuelsError(f"{path} is a database of another program. Choose another file with --database.")
    if not tables:
        raise _report_empty(path)
    if missing := _TABLES - tables:
        raise DuelsError(f"{path} has lost tables: {', '.join(sorted(missing))}. Restore a backup.")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.executescript(_SCHEMA)


def _run_job(db: sqlite3.Connection, work: _Work) -> Exception | None:
    db.execute("SAVEPOINT job")
    try:
        work(db)
    except (Conflict, sqlite3.IntegrityError) as problem:  # the other jobs are not affected
        db.execute("ROLLBACK TO job")
        return problem
    finally:
        db.execute("RELEASE job")
    return None


def _execute_steps(db: sqlite3.Connection, steps: TransactionSteps) -> None:
    query, values = next(steps)
    with suppress(StopIteration):
        while True:
            query, values = steps.send(db.execute(_translate_query(query), values).fetchall())


@cache
def _translate_query(query: str) -> str:
    # Row locks are not needed: a transaction is the only writer.
    return query.replace("duels_", "").removesuffix(" FOR UPDATE")
