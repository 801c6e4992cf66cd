"""The record of a match on disk, written as the match goes.

Every entry is on the disk before it is shown: a crash loses at most what was being typed. A file that exists
is never overwritten, two programs never write to one match, and a file that another program has changed is
left alone: the match goes on in a file beside it.
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError, GameOver, quote
from duels.core.game import Game
from duels.core.match import Match
from duels.core.record import (
    Record,
    TornRecord,
    check_recordable,
    dumps,
    format_entry,
    format_header,
    format_result,
    most_entries,
)
from duels.files import InUse, lock
from duels.play.library import NO_WAIT, free_path, naming, read_bytes, read_record, remember

AnyMatch = Match[Any, Any, Any]
Notice = Callable[[str], None]

_NO_SYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)  # folders that cannot be synced
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK, errno.EXDEV)


def _silent(text: str) -> None:
    """Nobody listens."""


class Journal:
    """An open record file, one line an entry, that grows and can be taken back line by line."""

    def __init__(self, path: Path, handle: int, headers: dict[str, str], notice: Notice) -> None:
        self.path = path
        self._handle = handle
        self._headers = headers
        self._notice = notice
        self._lengths: list[int] = []  # of the file: without entries, with the first, …
        self._most = 0  # entries, so that it can be read back

    @classmethod
    def create(
        cls, path: Path, match: AnyMatch, headers: dict[str, str], notice: Notice = _silent
    ) -> "Journal":
        """Start a new file, which appears with its header or not at all; FileExistsError if there is one."""
        check_recordable(match.rules)
        _make_folder(path.parent)
        journal = cls(path, -1, headers, notice)
        journal._handle = journal._put(match, _name_new)
        remember(path)
        return journal

    @classmethod
    def reopen(
        cls, path: Path, notice: Notice = _silent, game: Game | None = None
    ) -> tuple["Journal", Record]:
        """Open the record of an unfinished match; nothing is changed until `settle` or the next entry.

        Of a last line that was torn off, `notice` is told that it will be dropped.
        """
        journal = cls(path, os.open(path, os.O_RDWR | NO_WAIT), {}, notice)
        try:
            _lock(journal._handle, path, notice)
            # Read only now that nobody else can be writing.
            torn = ""
            try:
                record = read_record(path, game)
            except TornRecord as error:
                record, torn = error.record, error.torn
                notice(f"{path}: the last line was torn off and is dropped: {quote(torn)}.")
            if record.seat:
                raise DuelsError(f"{path} holds only what {record.seat.label} saw; it cannot be played on.")
            journal._headers = {"seed": os.urandom(16).hex(), **record.headers}
            if record.match.outcome:
                if torn:
                    journal.settle(record.match)  # all that was lost of it can be written again
                raise GameOver(f"{path} is over: {record.match.outcome.reason}")
        except (DuelsError, OSError):
            journal.close()
            raise
        remember(path)
        return journal, Record(record.match, journal._headers)

    def settle(self, match: AnyMatch) -> None:
        """Make the file hold exactly what we would have written, in one step.

        It may be of an older version, without a seed, torn, or have come through other systems.
        """
        with naming(self.path):
            if read_bytes(self.path) == dumps(match, self._headers).encode():
                os.fsync(self._handle)  # whoever wrote it may have been killed before that
                self._measure(match)
            else:
                self._turn_to(self._put(match, _name_again))

    def add(self, match: AnyMatch) -> None:
        """Write the last entry of `match`, and its result if that ended it."""
        if not (match.last and match.previous):
            return
        if not self._lengths:
            self.settle(match.previous)
        if len(match.turns) > self._most:
            raise DuelsError(f"{self.path}: the match is too long to be recorded any further.")
        if self._changed_by_others():
            self._go_on_beside(match)
        else:
            self._write(f"{format_entry(match.rules, match.last)}\n{format_result(match)}")

    def take_back(self, match: AnyMatch) -> None:
        """Drop the entries after those of `match`."""
        if not self._lengths:
            self.settle(match)
            return
        if self._changed_by_others():
            self._go_on_beside(match)
            return
        with naming(self.path):
            os.ftruncate(self._handle, self._lengths[len(match.turns)])
            os.fsync(self._handle)
        del self._lengths[len(match.turns) + 1 :]

    def check(self, match: AnyMatch) -> None:
        """Make sure that the file holds the match: whoever is told that it is saved must find it."""
        if not self._lengths:
            self.settle(match)
        elif self._changed_by_others():
            self._go_on_beside(match)

    def close(self, keep: bool = True) -> None:
        """Release the file and its lock; a match without a single entry need not be kept."""
        if not keep and not self._changed_by_others():
            with suppress(OSError):
                os.unlink(self.path)
        _let_go(self._handle)

    def _write(self, text: str) -> None:
        # One write an entry: the system does not tear it when the process is killed.
        line = text.encode()
        length = self._lengths[-1]
        try:
            os.lseek(self._handle, length, os.SEEK_SET)
            _write_all(self._handle, line)
            os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):  # else the torn line is dropped when the match goes on
                os.ftruncate(self._handle, length)
            raise OSError(error.errno, f"{error.strerror}: the last entry is not saved", self.path) from None
        self._lengths.append(length + len(line))

    # -- files that are not as we left them ------------------------------------------------------

    def _changed_by_others(self) -> bool:
        """Whether the file was removed, replaced, cut or added to since we wrote to it, or may have been."""
        try:
            named, held = os.stat(self.path), os.fstat(self._handle)
        except OSError:
            return True
        # Before it is settled nobody knows how long it was.
        return not os.path.samestat(named, held) or self._lengths[-1:] != [held.st_size]

    def _go_on_beside(self, match: AnyMatch) -> None:
        """Write the whole match to a new file, since the old one is no longer ours."""
        old, path = self.path, free_path(self.path)
        self.path = path
        self._turn_to(self._put(match, _name_new))
        remember(path)
        self._notice(f"{old} was changed by another program; the match goes on in {path}.")

    def _turn_to(self, handle: int) -> None:
        """Write there from now on."""
        _let_go(self._handle)
        self._handle = handle

    def _put(self, match: AnyMatch, name: Callable[[str, Path], None]) -> int:
        """Write a whole record under another name, then give it its own in one step."""
        path = Path(os.path.realpath(self.path)) if name is _name_again else self.path
        draft = str(path.with_name(f".{os.urandom(8).hex()}.duel"))
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _lock(handle, path, self._notice)
            _write_all(handle, dumps(match, self._headers).encode())
            os.fsync(handle)
            name(draft, path)
            _settle_folder(path.parent)
        except BaseException as problem:
            _let_go(handle)
            with suppress(OSError):
                os.unlink(draft)
            if isinstance(problem, OSError):  # nobody knows the draft's name
                raise OSError(problem.errno, problem.strerror, path) from None
            raise
        self._measure(match)
        return handle

    def _measure(self, match: AnyMatch) -> None:
        """Work out how long the file was after each entry."""
        self._most = most_entries(match.rules)
        length = len(format_header(match.rules, self._headers).encode())
        self._lengths = [length]
        for turn in match.turns:
            length += len(format_entry(match.rules, turn).encode()) + 1
            self._lengths.append(length)
        self._lengths[-1] += len(format_result(match).encode())


def _let_go(handle: int) -> None:
    """Close a file; whatever the system then says, all that counts was synced before."""
    with suppress(OSError):
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _name_new(draft: str, path: Path) -> None:
    """Let the file be known by a name that nobody has taken."""
    try:
        os.link(draft, path)
        os.unlink(draft)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No second names on this file system: all that is lost is the guard against a race for the name.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(draft, path)


def _name_again(draft: str, path: Path) -> None:
    """Put the file in the place of the one that is being repaired."""
    os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
    os.replace(draft, path)


def _lock(handle: int, path: Path, notice: Notice) -> None:
    try:
        locked = lock(handle, path)
    except InUse:
        raise DuelsError(f"{path} is being played somewhere else right now.") from None
    if not locked:
        notice(f"{path}: files cannot be locked here; do not play this match in two places at once.")


def _make_folder(folder: Path) -> None:
    """Make a folder with those it is in, all of them safe from a power cut."""
    missing = list(takewhile(lambda place: not place.exists(), (folder, *folder.parents)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in missing:
        _settle_folder(made.parent)


def _settle_folder(folder: Path) -> None:
    """Make a new file's name as safe as its lines."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows does it by itself
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with naming(folder):
            os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        _let_go(handle)
