"""Logs of rows, which only grow: one for each worker, a line a row. A row is written before it counts.

A row with a field missing is as good as a line that cannot be read.
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
"""Of rows in a log."""
MATCH: Mapping[str, Any] = {
    **dict.fromkeys(("v", "pair"), int),
    **dict.fromkeys(("key", "game", "seed", "result", "ending"), str),
    **dict.fromkeys(("score", "adjusted"), int | float),
    **dict.fromkeys(("players", "entries", "shortfalls", "decisions", "forfeited"), list),
    **dict.fromkeys(("failures", "blunders", "manners"), list),
    "options": dict,
}
"""The fields of a match, by type; one with a model also has `usage`."""
ANSWER: Mapping[str, Any] = {
    **dict.fromkeys(("v", "seat", "sample"), int),
    **dict.fromkeys(("key", "game", "position"), str),
    **dict.fromkeys(("failures", "usage"), list),
    "action": str | None,
    "policy": dict | None,
}
"""The fields of an answer of a probe."""
REQUEST: Mapping[str, Any] = {"id": str}
"""The field that a request to a model and what came back have in common."""
_DECIDED = ("entries", "result", "action", "policy")
"""What a match or an answer was: rows of one key that differ in these come from separate attempts."""

MATCHES = re.compile(r"log-(?:(\d+)-of-(\d+)-)?.+\.jsonl")
"""The name of a log of matches, with the part of a run that it is of, if that is split."""
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode  # made once: rows come quickly

QUICK, AT_ONCE = 0.2, 0.0
"""Seconds after which a row is synced at the latest; what was paid for is synced at once."""


class Log:
    """A worker's log: rows are added and synced, and nothing is ever changed. One thread adds.

    A row is written when `add` returns: killing us does not lose it. It is synced then too, or, where rows
    come quickly, within `every` so many seconds, so that a power cut loses no more than that; syncing takes
    longer than many a match, and is done beside it.
    """

    def __init__(self, folder: Path, worker: str, kind: str = "log", every: float = QUICK) -> None:
        self._every = every
        self._syncing: Thread | None = None  # from the first row on
        self._closing = Event()
        self._unsynced = False  # whether there are rows that were written since
        self._failed: OSError | None = None
        self.path = self.path_of(folder, worker, kind)
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        sync_folder(folder)
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            size = self.path.read_bytes().rfind(b"\n") + 1
            os.ftruncate(self._handle, size)
        self._size = size  # nobody else writes to it

    @staticmethod
    def path_of(folder: Path, worker: str, kind: str = "log") -> Path:
        """Where a worker's log is."""
        return folder / f"{kind}-{worker}.jsonl"

    def add(self, row: Row) -> None:
        """Write a row, in one piece."""
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
        self._unsynced = True  # once it is written: whoever syncs takes this back first
        if self._every and not self._syncing:
            self._syncing = Thread(target=self._sync_now_and_then, daemon=True)
            self._syncing.start()

    def _sync_now_and_then(self) -> None:
        while not self._closing.wait(self._every):
            if self._unsynced:
                self._unsynced = False
                try:
                    os.fsync(self._handle)
                except OSError as error:
                    self._failed = error  # for whoever adds the next row, or closes the log
                    return

    def close(self) -> None:
        """Sync the rest and let the file go; OSError, if a row may not be on disk."""
        self._closing.set()
        if self._syncing:
            self._syncing.join()
        try:
            if self._failed:  # a system tells of a lost row once: syncing again would succeed
                raise self._failed
            os.fsync(self._handle)
        except OSError as error:
            raise self._not_saved(error) from None
        finally:
            os.close(self._handle)

    def _not_saved(self, error: OSError) -> OSError:
        return OSError(error.errno, f"{error.strerror}: the last row is not saved", self.path)


def read_rows(path: Path, damaged: dict[str, bytes] | None = None) -> Iterator[tuple[str, Row]]:
    """The rows of a log and where each stands, without lines that a power cut left half written.

    Those lines are added to `damaged`. Rows that can be read, and cannot be right, are refused.
    """
    fields = MATCH if MATCHES.fullmatch(path.name) else ANSWER
    for where, row in lines_of(path, damaged, fields):
        if row.get("v") != VERSION:
            raise DuelsError(f"{path.parent / where}: it was written by another version of duels.")
        if fields is MATCH and row["score"] != _score_of(row["result"]):
            wrong = f"score {row['score']} does not go with the result '{row['result']}'"
            raise DuelsError(
                f"{path.parent / where}: {wrong}. Delete that line, and its match is played again."
            )
        yield where, row


def lines_of(
    path: Path, damaged: dict[str, bytes] | None = None, fields: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Row]]:
    """The lines of a log that can be read, and where each stands; one that does not end is not there yet."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line, parse_constant=_no_number)
            except ValueError:
                row = None
            if isinstance(row, dict) and _is_whole(row, fields or {}):
                yield where, row
            elif damaged is not None:
                damaged[where] = line


def _is_whole(row: Row, fields: Mapping[str, Any]) -> bool:
    """Whether a row has all its fields; what another version wrote may have others."""
    if row.get("v", VERSION) != VERSION:
        return True
    return all(name in row and isinstance(row[name], kind) for name, kind in fields.items())


def _no_number(told: str) -> None:
    raise ValueError(f"{told} is no number")


def _score_of(result: str) -> float:
    """What a match with this result was worth to seat 1."""
    return 1.0 if result.startswith("1 won") else 0.0 if result.startswith("2 won") else 0.5


class Joined:
    """Rows of several logs, by their keys: of those that have the same key, the first."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Row]] = {}
        self._unlike: list[tuple[str, str]] = []  # where a row stands that was kept, and another that differs

    def add(self, where: str, row: Row) -> bool:
        """Keep a row, unless there is one of its key; whether it was kept."""
        first_in, kept = self._kept.setdefault(row["key"], (where, row))
        if kept is not row and any(row.get(name) != kept.get(name) for name in _DECIDED):
            self._unlike.append((first_in, where))
        return kept is row

    def rows(self) -> dict[str, Row]:
        """What was kept, by key."""
        return {key: row for key, (_, row) in self._kept.items()}

    def differences(self, is_probe: bool) -> str:
        """That rows of one key were not played or answered alike; nothing if all were."""
        if not self._unlike:
            return ""
        what, (pair, *_) = "Answers" if is_probe else "Matches", self._unlike
        many = f"{what} that are there twice and differ: {len(self._unlike)}"
        return f"{many}. The first is kept; see {' and '.join(pair)}."


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a new log, all at once."""
    write_atomically(path, "".join(_encode(row) + "\n" for row in rows).encode())
