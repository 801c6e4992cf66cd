"""Append-only logs of rows in JSON, one for each worker. A row counts once it is written.

A row without a required field counts as unreadable.
"""

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from duels.core.errors import DuelsError
from duels.files import sync_folder, write_atomically

Row = Mapping[str, Any]

VERSION = 2
"""The format version of rows."""
MATCH: Mapping[str, Any] = {
    **dict.fromkeys(("v", "pair"), int),
    **dict.fromkeys(("key", "game", "seed", "result", "ending"), str),
    **dict.fromkeys(("score", "adjusted"), int | float),
    **dict.fromkeys(("players", "entries", "shortfalls", "decisions", "forfeited"), list),
    **dict.fromkeys(("failures", "blunders", "manners"), list),
    "options": dict,
}
"""The types of a match's fields. A match with a model also has `usage`."""
ANSWER: Mapping[str, Any] = {
    **dict.fromkeys(("v", "seat", "sample"), int),
    **dict.fromkeys(("key", "game", "position"), str),
    **dict.fromkeys(("failures", "usage"), list),
    "action": str | None,
    "policy": dict | None,
}
"""The types of the fields of a probe's answer."""
REQUEST: Mapping[str, Any] = {"id": str}
"""The type of the field that a request and its reply share."""
_DECIDED = ("entries", "result", "action", "policy")
"""The fields that differ if a match was played, or a question answered, twice."""

LOG_NAME = re.compile(r"log-(?:(\d+)-of-(\d+)-)?.+\.jsonl")
"""The name of a log of matches, with the shard if the run is split."""
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode  # made once, for speed

SYNC_SOON, SYNC_NOW = 0.2, 0.0
"""The longest time in seconds until a row is synced. Rows that cost money are synced at once."""


class Log:
    """A worker's log, to which one thread adds rows.

    A row is written when `add` returns, so killing the process does not lose it. A background thread syncs
    rows every `every` seconds, because syncing takes longer than a quick match. If `every` is 0, `add` syncs.
    """

    def __init__(self, folder: Path, worker: str, kind: str = "log", every: float = SYNC_SOON) -> None:
        self._every = every
        self._syncing: Thread | None = None  # started with the first row
        self._closing = Event()
        self._unsynced = False  # whether rows were written since the last sync
        self._failed: OSError | None = None
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
        line = _encode(row).encode() + b"\n"
        try:
            if self._failed:
                raise self._failed
            if os.write(self._handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            if not self._every:
                os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise self._not_saved(error) from None
        self._size += len(line)
        self._unsynced = True  # after writing, because the syncing thread clears this first
        if self._every and not self._syncing:
            self._syncing = Thread(target=self._sync_regularly, daemon=True)
            self._syncing.start()

    def _sync_regularly(self) -> None:
        while not self._closing.wait(self._every):
            if self._unsynced:
                self._unsynced = False
                try:
                    os.fsync(self._handle)
                except OSError as error:
                    self._failed = error  # raised by the next `add` or `close`
                    return

    def close(self) -> None:
        """Sync and close the log. Raises OSError if a row may not be on disk."""
        self._closing.set()
        if self._syncing:
            self._syncing.join()
        try:
            if self._failed:  # the system reports a lost row once; a second sync would succeed
                raise self._failed
            os.fsync(self._handle)
        except OSError as error:
            raise self._not_saved(error) from None
        finally:
            os.close(self._handle)

    def _not_saved(self, error: OSError) -> OSError:
        return OSError(error.errno, f"{error.strerror}: the last row is not saved", self.path)


def read_rows(path: Path, damaged: dict[str, bytes] | None = None) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a log and their places. Unreadable lines are added to `damaged`.

    Raises DuelsError for rows of another version, and for scores that contradict the result.
    """
    fields = MATCH if LOG_NAME.fullmatch(path.name) else ANSWER
    for where, row in iter_lines(path, damaged, fields):
        if row.get("v") != VERSION:
            raise DuelsError(f"{path.parent / where}: this row was written by another version of duels.")
        if fields is MATCH and row["score"] != _score_for_result(row["result"]):
            problem = f"score {row['score']} contradicts the result '{row['result']}'"
            raise DuelsError(f"{path.parent / where}: {problem}. Delete this line to play the match again.")
        yield where, row


def iter_lines(
    path: Path, damaged: dict[str, bytes] | None = None, fields: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Row]]:
    """Yield the readable rows of a log and their places. An unfinished last line is ignored."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line, parse_constant=_reject_constant)
            except ValueError:
                row = None
            if isinstance(row, dict) and _is_complete(row, fields or {}):
                yield where, row
            elif damaged is not None:
                damaged[where] = line


def _is_complete(row: Row, fields: Mapping[str, Any]) -> bool:
    """Whether a row has all fields. Rows of another version may have others."""
    if row.get("v", VERSION) != VERSION:
        return True
    return all(name in row and isinstance(row[name], kind) for name, kind in fields.items())


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _score_for_result(result: str) -> float:
    return 1.0 if result.startswith("1 won") else 0.0 if result.startswith("2 won") else 0.5


class MergedRows:
    """The rows of several logs by key. The first row of each key is kept."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[str, Row]] = {}
        self._conflicts: list[tuple[str, str]] = []  # places of a kept row and a different one

    def add(self, where: str, row: Row) -> bool:
        """Add a row unless its key exists. Returns whether it was added."""
        first_place, first = self._rows.setdefault(row["key"], (where, row))
        if first is not row and any(row.get(name) != first.get(name) for name in _DECIDED):
            self._conflicts.append((first_place, where))
        return first is row

    def rows(self) -> dict[str, Row]:
        return {key: row for key, (_, row) in self._rows.items()}

    def describe_differences(self, is_probe: bool) -> str:
        """Describe rows with the same key and different content; empty if there are none."""
        if not self._conflicts:
            return ""
        what, (places, *_) = "Answers" if is_probe else "Matches", self._conflicts
        conflicts = f"{what} that were logged twice and differ: {len(self._conflicts)}"
        return f"{conflicts}. The first is used; see {' and '.join(places)}."


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a new log in one step."""
    write_atomically(path, "".join(_encode(row) + "\n" for row in rows).encode())
