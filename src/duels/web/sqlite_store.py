"""Matches in one file, by SQLite. What has come in while the disk was busy is committed together.

Statements take microseconds and are carried out at once. Only what may take long is left to a thread: the
commit, which waits for the disk, and waiting for another process that is writing.
"""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from duels.core.errors import DuelsError
from duels.web.store import (
    Change,
    Conflict,
    Heard,
    NewMatch,
    Row,
    Steps,
    Store,
    StoreUnavailable,
    appending,
    creation,
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
"""
VERSION = 2
_WAIT = 10.0  # seconds for another process to finish its commit
_LISTEN_EVERY = 0.2  # seconds between looks at whether another process has written
_MOST_TOGETHER = 256  # changes in one commit


_Work = Callable[[sqlite3.Connection], object]


class SqliteStore(Store):
    """A store in a file; other processes on this machine may use the same one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading: sqlite3.Connection | None = None
        self._writing: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "duels-writer")
        self._waiting: list[tuple[_Work, asyncio.Future[Exception | None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._heard: Heard = lambda match: None
        self._version: int | None = None
        self._failed = False
        self._file: os.stat_result

    async def open(self, heard: Heard) -> None:
        """Open the file, which is made if there is none."""
        self._heard = heard
        if not self.path.parent.exists():
            self.path.parent.mkdir(mode=0o700, parents=True)
        if self.path.is_dir():
            raise DuelsError(f"{self.path} is a folder: --database names a file in it.")
        if not self.path.exists():
            self.path.touch(mode=0o600)
        with self._explained():
            writing = _connect(self.path)
            try:
                _prepare(writing, self.path)
            except BaseException:
                writing.close()
                raise
            writing.execute("PRAGMA busy_timeout = 0")
            self._writing = writing
            self._reading = _connect(self.path)
        self._file = os.stat(self.path)
        self._listening = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Write what is waiting, and close the file."""
        if self._listening:
            self._listening.cancel()
        if self._writer:
            await self._writer
        self._thread.shutdown()
        for connection in (self._writing, self._reading):
            if connection:
                connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Within, SQLite's errors become one line that names the file; noted until something is written."""
        try:
            yield
        except sqlite3.Error as problem:
            self._failed = True
            raise StoreUnavailable(f"{self.path}: {problem}.") from None

    # -- reading --------------------------------------------------------------------------------

    async def rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows of a query, which is quicker than a thread could start."""
        assert self._reading, "the store is open"
        with self._explained():
            return self._reading.execute(_in_sqlite(query), values).fetchall()

    async def check(self) -> None:
        """Read something, and write what stands there already."""
        await self.rows("SELECT 1 FROM duels_matches LIMIT 1")
        await self._do(lambda db: db.execute(f"PRAGMA user_version = {VERSION}"))

    # -- writing --------------------------------------------------------------------------------

    async def create(self, match: NewMatch) -> None:
        """Keep a new match."""
        await self._do(lambda db: _carry_out(db, creation(match)))
        self._heard(match.id)

    async def append(self, change: Change) -> None:
        """Write a change, if the log has the number that it names."""
        await self._do(lambda db: _carry_out(db, appending(change)))
        self._heard(change.match)

    async def _do(self, work: _Work) -> None:
        done: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_on())
        if problem := await done:
            raise problem

    async def _write_on(self) -> None:
        """Write until nothing is waiting."""
        while self._waiting:
            jobs, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
            problems = await self._write_together([work for work, _ in jobs])
            for (_, done), problem in zip(jobs, problems, strict=True):
                if not done.done():  # else nobody waits any more
                    done.set_result(problem)
        self._writer = None

    async def _write_together(self, jobs: list[_Work]) -> Sequence[Exception | None]:
        """One commit, one sync to the disk; the problem of each job, if it had one, which is its own."""
        assert self._writing, "the store is open"
        db = self._writing
        try:
            with self._explained():
                self._check_place()
                self._notice_others(db)
                await self._begin(db)
                try:
                    problems = [_attempt(db, job) for job in jobs]
                    await self._in_thread(db, "COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                    raise
        except Exception as problem:
            return [problem] * len(jobs)
        if self._failed:
            log.warning("%s is back.", self.path)
        self._failed = False
        return problems

    async def _begin(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            db.execute(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
            try:
                await self._in_thread(db, "BEGIN IMMEDIATE")
            finally:
                db.execute("PRAGMA busy_timeout = 0")

    async def _in_thread(self, db: sqlite3.Connection, statement: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, db.execute, statement)

    def _check_place(self) -> None:
        """Refuse to write to a file that nobody will find: it was moved, removed or replaced."""
        try:
            here = os.path.samestat(os.stat(self.path), self._file)
        except OSError:
            here = False
        if not here:
            self._failed = True
            raise StoreUnavailable(f"{self.path} was moved, removed or replaced while it was in use.")

    async def _listen(self) -> None:
        """Notice what other processes write, every now and then; our own writes look too."""
        while True:
            if self._writing and self._writer is None:
                with suppress(sqlite3.Error):  # it is told by whatever reads or writes next
                    self._notice_others(self._writing)
            await asyncio.sleep(_LISTEN_EVERY)

    def _notice_others(self, db: sqlite3.Connection) -> None:
        """The file's version changes for a connection whenever another one has written."""
        (now,) = db.execute("PRAGMA data_version").fetchone()
        if self._version not in (None, now):
            self._heard(None)
        self._version = now


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Set the file up, or check that it is one of ours."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise DuelsError(
            f"{path} was made by another version of duels: this one reads version {VERSION}, not {version}. "
            "Choose another file with --database."
        )
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and not version:
        raise DuelsError(f"{path} is a database of something else, not of duels.")
    db.execute("BEGIN IMMEDIATE")
    for statement in filter(str.strip, _SCHEMA.split(";")):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _attempt(db: sqlite3.Connection, work: _Work) -> Exception | None:
    db.execute("SAVEPOINT job")
    try:
        work(db)
    except (Conflict, sqlite3.IntegrityError) as problem:  # of this job, not of the file
        db.execute("ROLLBACK TO job")
        return problem
    finally:
        db.execute("RELEASE job")
    return None


def _carry_out(db: sqlite3.Connection, steps: Steps) -> None:
    query, values = next(steps)
    with suppress(StopIteration):
        while True:
            query, values = steps.send(db.execute(_in_sqlite(query), values).fetchall())


@cache
def _in_sqlite(query: str) -> str:
    """The query for our tables. It locks no row: nobody else writes during a transaction."""
    return query.replace("duels_", "").removesuffix(" FOR UPDATE")
