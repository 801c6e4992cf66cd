"""The record of a match on disk, written as the match goes.

Every entry is on the disk before it is shown: a crash loses at most what was being typed. A file
that exists is never overwritten, and two programs never write to one match.
"""

import errno
import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError, RecordError
from duels.core.match import Match
from duels.core.record import RESULT, Record, format_entry, format_header
from duels.games import load_record
from duels.paths import data_dir, matches_dir

try:
    import fcntl
except ImportError:  # not on Windows, where a second writer is not kept out
    fcntl = None  # type: ignore[assignment]

AnyMatch = Match[Any, Any, Any]


_MOST_REMEMBERED = 100


class Journal:
    """An open record file, one line an entry, that grows and can be taken back line by line."""

    def __init__(self, path: Path, handle: int, lengths: list[int]) -> None:
        self.path = path
        self._handle = handle
        self._lengths = lengths  # the file's length before any entry, after the first, …

    @classmethod
    def create(cls, path: Path, match: AnyMatch, headers: dict[str, str]) -> "Journal":
        """Start a new file; FileExistsError if there is one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        journal = cls(path, handle, [])
        journal._lock()
        try:
            journal._write(format_header(match.rules, headers))
        except OSError:
            path.unlink()
            raise
        _settle_folder(path.parent)
        remember(path)
        return journal

    @classmethod
    def reopen(cls, path: Path) -> tuple["Journal", Record]:
        """Go on with an unfinished match."""
        journal = cls(path, os.open(path, os.O_RDWR), [])
        try:
            journal._lock()
            # Read only now that nobody else can be writing.
            record = read_record(path)
            if record.seat:
                raise DuelsError(f"{path} holds only what {record.seat.label} saw; it cannot be played on.")
            if record.match.outcome:
                see = f"See it with: duels replay {shlex.quote(str(path))}"
                raise DuelsError(f"{path} is over: {record.match.outcome.reason} {see}")
        except (DuelsError, OSError):
            journal.close()
            raise
        ends = [0, *accumulate(len(line) + 1 for line in path.read_bytes().split(b"\n")[:-1])]
        journal._lengths = ends[len(ends) - 1 - len(record.match.turns) :]
        os.lseek(journal._handle, 0, os.SEEK_END)
        remember(path)
        return journal, record

    def add(self, match: AnyMatch) -> None:
        """Write the last entry of `match`, and its result if that ended it."""
        if match.last:
            result = f"{RESULT}{match.outcome.reason}\n" if match.outcome else ""
            self._write(f"{format_entry(match.rules, match.last)}\n{result}")

    def take_back(self, entries: int) -> None:
        """Drop the last entries."""
        del self._lengths[len(self._lengths) - entries :]
        os.ftruncate(self._handle, self._lengths[-1])
        os.lseek(self._handle, 0, os.SEEK_END)
        os.fsync(self._handle)

    def close(self) -> None:
        """Release the file, and its lock."""
        os.close(self._handle)

    def _write(self, text: str) -> None:
        # One write an entry: the system does not tear it when the process is killed.
        line = text.encode()
        try:
            if os.write(self._handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._handle)
        except OSError as error:
            if self._lengths:  # what was written before must stay a whole record
                os.ftruncate(self._handle, self._lengths[-1])
            raise OSError(error.errno, f"{error.strerror}: the last entry is not saved", self.path) from None
        self._lengths.append(os.lseek(self._handle, 0, os.SEEK_CUR))

    def _lock(self) -> None:
        if not fcntl:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DuelsError(f"{self.path} is being played somewhere else right now.") from None


def _settle_folder(folder: Path) -> None:
    """Make a new file's name as safe as its lines."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows does it by itself
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_record(path: Path) -> Record:
    """Load and check the record at `path`; RecordError, which names the file, if it is damaged."""
    data = path.read_bytes()
    try:
        return load_record(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError("this is not a duels record: it is not text.", line).within(path) from None
    except RecordError as error:
        raise error.within(path) from None


def new_path(game: str) -> Path:
    """A file name that is not taken, in the user's folder of matches."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = matches_dir() / f"{stamp}-{game}.duel"
    copy = 2
    while path.exists():
        path = path.with_name(f"{stamp}-{game}-{copy}.duel")
        copy += 1
    return path


def remember(path: Path) -> None:
    """Note where a match is played that is not in the folder of matches."""
    if path.resolve().parent == matches_dir().resolve():
        return
    with suppress(OSError):  # only a convenience, no reason not to play
        data_dir().mkdir(parents=True, exist_ok=True)
        others = [known for known in _elsewhere() if known.is_file() and known != path.resolve()]
        lines = [os.fsencode(known) for known in (*others, path.resolve())[-_MOST_REMEMBERED:]]
        _elsewhere_file().write_bytes(b"\0".join(lines))


def last_unfinished(warn: Callable[[str], None]) -> Path:
    """The file of the match to go on with: the one played last that is not over.

    `warn` is told about damaged files that would have come before it.
    """
    candidates = list(matches_dir().glob("*.duel")) if matches_dir().is_dir() else []
    existing = {path for path in (*candidates, *_elsewhere()) if path.is_file()}
    for path in sorted(existing, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            record = read_record(path)
        except (DuelsError, OSError) as error:
            warn(f"Passed over {error}")
            continue
        if not record.match.over and not record.seat:
            return path
    raise DuelsError("There is no unfinished match. Start one with: duels play GAME")


def _elsewhere() -> list[Path]:
    if not _elsewhere_file().is_file():
        return []
    return [Path(os.fsdecode(line)) for line in _elsewhere_file().read_bytes().split(b"\0") if line]


def _elsewhere_file() -> Path:
    return data_dir() / "matches-elsewhere"
