"""Append-only logs of JSON rows, one log for each worker. A row counts once it is written.

Each row has a digest, so damaged rows are found. Rows of earlier versions of duels have none.
"""

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from duels.arena.schemas import DIGEST, Row, encode_row, make_digest
from duels.files import open_regular_file, sync_folder, write_atomically

_RESULT_FIELDS = ("entries", "result", "action", "policy")
"""The fields that may differ if a match was played, or a question was answered, twice."""

LOG_NAME = re.compile(r"log-(?:([1-9][0-9]*)-of-([1-9][0-9]*)-)?.+\.jsonl")
"""The name of a log of matches, with the shard if the run is split."""

SYNC_SOON, SYNC_NOW = 0.2, 0.0
"""The maximum time in seconds until a row is synced. Rows that cost money are synced at once."""


class Log:
    """A worker's log, to which one thread adds rows.

    A row is written when `add` returns, so killing the process does not lose it. A background thread syncs
    rows every `sync_interval` seconds, because syncing takes longer than a quick match. If the interval is 0,
    `add` syncs each row itself.
    """

    def __init__(
        self, folder: Path, worker: str, kind: str = "log", sync_interval: float = SYNC_SOON
    ) -> None:
        self._sync_interval = sync_interval
        self._sync_thread: Thread | None = None  # started with the first row
        self._closing = Event()
        self._unsynced = False  # whether rows were written since the last sync
        self._sync_error: OSError | None = None
        self.path = self.make_path(folder, worker, kind)
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        sync_folder(folder)
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            size = self.path.read_bytes().rfind(b"\n") + 1
            os.ftruncate(self._handle, size)
        self._size = size  # this is the only writer

    @staticmethod
    def make_path(folder: Path, worker: str, kind: str = "log") -> Path:
        return folder / f"{kind}-{worker}.jsonl"

    def add(self, row: Row) -> None:
        """Write a row. Raises OSError if it cannot be saved; the log is then unchanged."""
        line = encode_row(row).encode()
        try:
            if self._sync_error:
                raise self._sync_error
            if os.write(self._handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            if not self._sync_interval:
                os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise self._not_saved(error) from None
        self._size += len(line)
        self._unsynced = True  # after writing, because the thread clears this flag before it syncs
        if self._sync_interval and not self._sync_thread:
            self._sync_thread = Thread(target=self._sync_regularly, daemon=True)
            self._sync_thread.start()

    def _sync_regularly(self) -> None:
        while not self._closing.wait(self._sync_interval):
            if self._unsynced:
                self._unsynced = False
                try:
                    os.fsync(self._handle)
                except OSError as error:
                    self._sync_error = error  # raised by the next `add` or `close`
                    return

    def close(self) -> None:
        """Sync and close the log. Raises OSError if a row may not be on disk."""
        self._closing.set()
        if self._sync_thread:
            self._sync_thread.join()
        try:
            if self._sync_error:  # the system reports a lost row once; a second sync would succeed
                raise self._sync_error
            os.fsync(self._handle)
        except OSError as error:
            raise self._not_saved(error) from None
        finally:
            os.close(self._handle)

    def _not_saved(self, error: OSError) -> OSError:
        return OSError(error.errno, f"{error.strerror}: the last row is not saved", self.path)


def iter_lines(
    path: Path, check: Callable[[Row], bool], damaged: dict[str, bytes], needs_digest: bool = False
) -> Iterator[tuple[str, Row, bool]]:
    """Yield the location (file and line) and content of each row, and whether it has a digest.

    Lines that are not valid JSON, have a wrong digest or do not pass `check` are added to `damaged`. An
    unfinished last line is ignored. Raises DuelsError if the log is a pipe or a device.
    """
    with open_regular_file(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            location = f"{path.name}, line {number}"
            row, digest = _decode(line)
            if row is None or (needs_digest and digest is None) or not check(row):
                damaged[location] = line
            else:
                yield location, row, digest is not None


def _decode(line: bytes) -> tuple[Row | None, str | None]:
    """Decode a row and its digest. The row is None if it is unreadable or the digest is wrong."""
    try:
        row = json.loads(line, parse_constant=_reject_constant)
        if not isinstance(row, dict):
            return None, None
        digest = row.pop(DIGEST, None)
        return (row if digest is None or digest == make_digest(row) else None), digest
    except (ValueError, RecursionError):
        return None, None


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


class MergedRows:
    """The rows of several logs by key. If several rows have the same key, the first one counts."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[str, Row]]] = {}
        self._conflicts: list[tuple[str, str]] = []  # locations of the first row and a different one

    def add(self, location: str, row: Row) -> bool:
        """Add a row unless its key exists. Returns whether it was added."""
        same_key = self._rows.setdefault(row["key"], [])
        same_key.append((location, row))
        first_location, first = same_key[0]
        if any(row.get(name) != first.get(name) for name in _RESULT_FIELDS):
            self._conflicts.append((first_location, location))
        return first is row

    def find_location(self, key: str) -> str:
        return self._rows[key][0][0]

    def drop_first(self, key: str) -> tuple[str, Row | None]:
        """Drop the first row with a key. Returns its location and the next row with the key."""
        (location, _), *other_rows = self._rows[key]
        self._rows[key] = other_rows
        return location, other_rows[0][1] if other_rows else None

    def rows(self) -> dict[str, Row]:
        return {key: rows[0][1] for key, rows in self._rows.items() if rows}

    def describe_differences(self, is_probe: bool) -> str:
        """Describe rows with the same key and different content; empty if there are none."""
        if not self._conflicts:
            return ""
        rows, (locations, *_) = "Answers" if is_probe else "Matches", self._conflicts
        conflicts = f"{rows} that were logged twice and differ: {len(self._conflicts)}"
        return f"{conflicts}. The first is used; see {' and '.join(locations)}."


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a new log in one step."""
    write_atomically(path, "".join(map(encode_row, rows)).encode())
