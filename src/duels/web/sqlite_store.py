"""Matches in one file, by SQLite. What has come in while the disk was busy is committed together.

Statements take microseconds and are carried out at once. Only what may take long is left to a thread: the
commit, which waits for the disk, and waiting for another process that is writing.
"""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.web.store import (
    Change,
    Conflict,
    Entry,
    Heard,
    Invite,
    Kept,
    Kind,
    NewMatch,
    Stored,
    StoreUnavailable,
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


@dataclass
class _Job:
    """Something to be written, and whom to tell."""

    work: Callable[[sqlite3.Connection], object]
    done: "asyncio.Future[None]"
    checks_first: bool
    """Whether it writes nothing before all that can fail is checked: then nothing has to be undone."""

    def finish(self, problem: Exception | None) -> None:
        if self.done.done():  # nobody waits any more
            return
        if problem:
            self.done.set_exception(problem)
        else:
            self.done.set_result(None)


class SqliteStore:
    """A store in a file; other processes on this machine may use the same one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading: sqlite3.Connection | None = None
        self._writing: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "duels-writer")
        self._waiting: list[_Job] = []
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
        with _explained(self.path):
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
    def _noted(self) -> Iterator[None]:
        """Within, that the file cannot be used is explained, and noted until something is written again."""
        try:
            with _explained(self.path):
                yield
        except StoreUnavailable:  # whoever asked for it says why
            self._failed = True
            raise

    # -- reading --------------------------------------------------------------------------------

    def _rows(self, query: str, *values: object) -> list[Any]:
        """The answer to a query, which is quicker than a thread could start."""
        assert self._reading, "the store is open"
        with self._noted():
            return self._reading.execute(query, values).fetchall()

    async def find(self, match: str) -> Stored | None:
        """What is kept of a match but its log."""
        rows = self._rows("SELECT header FROM matches WHERE id = ?", match)
        if not rows:
            return None
        seats = {
            Seat(seat): identity
            for seat, identity in self._rows("SELECT seat, identity FROM seats WHERE match = ?", match)
        }
        invites = self._rows(
            "SELECT token, match, seat, expires FROM invites WHERE match = ? AND expires > 0", match
        )
        return Stored(rows[0][0], seats, next(map(_invite, invites), None))

    async def entries(self, match: str, after: int = 0) -> list[Entry]:
        """The log of a match after its first entries."""
        rows = self._rows(
            "SELECT kind, text, seat FROM log WHERE match = ? AND number > ? ORDER BY number", match, after
        )
        return [Entry(Kind(kind), text, Seat(seat) if seat else None) for kind, text, seat in rows]

    async def invite(self, token: str, now: float) -> Invite | None:
        """An invitation that can still be taken up."""
        rows = self._rows(
            "SELECT token, match, seat, expires FROM invites WHERE token = ? AND expires > ?", token, now
        )
        return _invite(rows[0]) if rows else None

    async def match_of_invite(self, token: str) -> str | None:
        """The match that an invitation led to."""
        rows = self._rows("SELECT match FROM invites WHERE token = ?", token)
        return str(rows[0][0]) if rows else None

    async def matches_of(self, identity: str, over: bool, most: int) -> list[Kept]:
        """The matches of an identity that are over or go on, the last one first."""
        rows = self._rows(
            "SELECT match, seat, since, (SELECT max(number) FROM log WHERE log.match = seats.match) "
            "FROM seats WHERE identity = ? AND over = ? ORDER BY since DESC LIMIT ?",
            identity,
            over,
            most,
        )
        return [Kept(match, Seat(seat), since, number or 0) for match, seat, since, number in rows]

    async def count_since(self, identity: str, since: float) -> int:
        """How many matches an identity has sat down at since then."""
        rows = self._rows("SELECT count(*) FROM seats WHERE identity = ? AND since > ?", identity, since)
        return int(rows[0][0])

    async def check(self) -> None:
        """Read something, and write what stands there already."""
        self._rows("SELECT 1 FROM matches LIMIT 1")
        await self._do(lambda db: db.execute(f"PRAGMA user_version = {VERSION}"))

    # -- writing --------------------------------------------------------------------------------

    async def create(self, match: NewMatch) -> None:
        """Keep a new match."""
        await self._do(lambda db: _create(db, match))
        self._heard(match.id)

    async def append(self, change: Change) -> None:
        """Write a change, if the log has the number that it names."""
        moves = not change.claim and not change.creates
        await self._do(lambda db: _append(db, change), checks_first=moves)
        self._heard(change.match)

    async def _do(self, work: Callable[[sqlite3.Connection], object], checks_first: bool = False) -> None:
        job = _Job(work, asyncio.get_running_loop().create_future(), checks_first)
        self._waiting.append(job)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_on())
        await job.done

    async def _write_on(self) -> None:
        """Write until nothing is waiting."""
        while self._waiting:
            jobs, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
            await self._write_together(jobs)
        self._writer = None

    async def _write_together(self, jobs: list[_Job]) -> None:
        """One commit, one sync to the disk; a job that fails takes no other with it."""
        assert self._writing, "the store is open"
        db = self._writing
        problems: list[Exception | None] = []
        try:
            with self._noted():
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
            problems = [problem] * len(jobs)
        else:
            if self._failed:
                log.warning("%s is back.", self.path)
            self._failed = False
        for job, failed in zip(jobs, problems, strict=True):
            job.finish(failed)

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


def _attempt(db: sqlite3.Connection, job: _Job) -> Exception | None:
    if job.checks_first:
        try:
            job.work(db)
        except Conflict as problem:
            return problem
        return None
    db.execute("SAVEPOINT job")
    try:
        job.work(db)
    except (Conflict, sqlite3.IntegrityError) as problem:  # of this job, not of the file
        db.execute("ROLLBACK TO job")
        return problem
    finally:
        db.execute("RELEASE job")
    return None


def _create(db: sqlite3.Connection, match: NewMatch) -> None:
    now = time.time()
    try:
        db.execute("INSERT INTO matches VALUES (?, ?)", (match.id, match.header))
    except sqlite3.IntegrityError:
        raise Conflict(f"there is a match {match.id} already.") from None
    _add_entries(db, match.id, 0, match.entries, now)
    for seat, identity in match.seats.items():
        row = (match.id, seat.value, identity, now, match.over)
        db.execute("INSERT INTO seats VALUES (?, ?, ?, ?, ?)", row)
    if match.invite:
        given = match.invite
        db.execute(
            "INSERT INTO invites VALUES (?, ?, ?, ?)",
            (given.token, given.match, given.seat.value, given.expires),
        )


def _append(db: sqlite3.Connection, change: Change) -> None:
    now = time.time()
    found = db.execute(
        "SELECT (SELECT max(number) FROM log WHERE match = id) FROM matches WHERE id = ?", (change.match,)
    ).fetchone()
    if found is None:
        raise Conflict("there is no such match.")
    number = found[0] or 0
    if number != change.number:
        raise Conflict(f"the log has {number} entries, not {change.number}.")
    if change.claim:
        given = change.claim
        taken = db.execute(
            "UPDATE invites SET expires = 0 WHERE token = ? AND match = ? AND expires > ? RETURNING seat",
            (given.token, change.match, given.now),
        ).fetchall()
        if not taken:
            raise Conflict("the invitation was taken up already.")
        row = (change.match, taken[0][0], given.identity, now, False)
        db.execute("INSERT INTO seats VALUES (?, ?, ?, ?, ?)", row)
    _add_entries(db, change.match, change.number, change.entries, now)
    if change.ends:
        db.execute("UPDATE seats SET over = TRUE WHERE match = ?", (change.match,))
    if change.creates:
        _create(db, change.creates)


def _add_entries(
    db: sqlite3.Connection, match: str, number: int, entries: tuple[Entry, ...], now: float
) -> None:
    db.executemany(
        "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
        [
            (match, number + place, e.kind.value, e.seat.value if e.seat else None, e.text, now)
            for place, e in enumerate(entries, start=1)
        ],
    )


def _invite(row: tuple[str, str, int, float]) -> Invite:
    token, match, seat, expires = row
    return Invite(token, match, Seat(seat), expires)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Within, what SQLite complains about becomes one line that names the file."""
    try:
        yield
    except sqlite3.Error as problem:
        raise StoreUnavailable(f"{path}: {problem}.") from None
