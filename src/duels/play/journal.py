"""The record file of a match in progress.

Every entry is saved before it is shown, so a crash loses at most an unfinished entry. A journal never
overwrites an existing file, and two programs never write to the same match. If another program has changed
the file, the match continues in a new file next to it.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from duels import files
from duels.core.errors import DuelsError, GameOver, quote
from duels.core.match import AnyMatch
from duels.core.record import (
    Record,
    TornRecord,
    check_recordable,
    dump_record,
    format_entry,
    format_result,
    max_entries,
)
from duels.play.dice import make_seed
from duels.play.library import MAX_RECORD_BYTES, decode_record, find_free_path, read_bytes, remember_path

Notice = Callable[[str], None]


class Journal:
    """An open record file with one line per entry. Entries can be appended and taken back."""

    def __init__(self, path: Path, handle: int, headers: dict[str, str], notice: Notice) -> None:
        self.path = path
        self._handle = handle
        self._headers = headers
        self._notice = notice
        self._original = b""  # the content of a reopened file
        self._added_seed = False  # whether the reopened file had no seed
        self._comments: dict[int, Sequence[str]] = {}  # written into the file by people
        self._size: int | None = None  # of the file; None until it is normalized

    @classmethod
    def create(
        cls, path: Path, match: AnyMatch, headers: dict[str, str], notice: Notice = lambda text: None
    ) -> "Journal":
        """Create the file with its header. Raises FileExistsError if the file exists."""
        check_recordable(match.rules)
        _make_folder(path.parent)
        journal = cls(path, -1, headers, notice)
        journal._handle = journal._write_all(match)
        remember_path(path)
        return journal

    @classmethod
    def reopen(cls, path: Path, notice: Notice = lambda text: None) -> tuple["Journal", Record]:
        """Open the record of an unfinished match.

        The file does not change before `normalize` or the next entry. An incomplete last line is dropped, and
        `notice` is called. Raises GameOver if the match is over, and DuelsError if the file holds only one
        player's view or is in use.
        """
        journal = cls(path, os.open(path, os.O_RDWR | files.NO_WAIT), {}, notice)
        try:
            _lock(journal._handle, path, notice)
            journal._original = read_bytes(path)  # after the lock: nobody else can write now
            torn = ""
            try:
                record = decode_record(journal._original, path)
            except TornRecord as error:
                record, torn = error.record, error.torn
            if record.seat:
                raise DuelsError(f"{path} holds only what {record.seat.label} saw and cannot be continued.")
            if torn:
                notice(f"{path}: the last line is incomplete and was dropped: {quote(torn)}.")
            journal._added_seed = not record.headers.get("seed")
            journal._headers = {**record.headers, "seed": record.headers.get("seed") or make_seed()}
            journal._comments = dict(record.comments)
            if record.match.outcome:
                if torn:
                    journal.normalize(record.match)  # the rest of the torn line is known
                raise GameOver(f"{path} is over: {record.match.outcome.reason}")
        except (DuelsError, OSError):
            journal.close()
            raise
        remember_path(path)
        return journal, Record(record.match, journal._headers)

    def normalize(self, match: AnyMatch) -> None:
        """Rewrite the file, in one step, as this version writes it.

        The file may come from an older version or another system, have no seed, or end in a torn line.
        """
        if self._has_foreign_changes():
            self._continue_in_new_file(match)
        elif self._original == self._dump(match):
            with files.name_file_in_errors(self.path):
                os.fsync(self._handle)  # the writer may have been killed before its sync
            self._size = len(self._original)
        else:
            self._switch_to(self._write_all(match, overwrite=True))

    def add(self, match: AnyMatch) -> None:
        """Append the last entry of `match`, and the result if the match is over.

        Raises DuelsError if the record is too long, and OSError if the entry cannot be saved.
        """
        if not (match.last and match.previous):
            return
        if self._size is None:
            self.normalize(match.previous)
        if match.length > (limit := max_entries(match.rules)):
            raise DuelsError(f"{self.path}: a record has at most {limit} entries.")
        if self._has_foreign_changes():
            self._continue_in_new_file(match)
        else:
            self._append(f"{format_entry(match.rules, match.last)}\n{format_result(match)}")

    def take_back(self, match: AnyMatch) -> None:
        """Drop the entries that `match` does not have, and their comments."""
        self._comments = {entry: lines for entry, lines in self._comments.items() if entry <= match.length}
        if self._has_foreign_changes():
            self._continue_in_new_file(match)
        else:
            self._switch_to(self._write_all(match, overwrite=True))

    def ensure_saved(self, match: AnyMatch) -> None:
        """Write the match to a new file if the current file no longer holds it."""
        if self._size is None:
            self.normalize(match)
        elif self._has_foreign_changes():
            self._continue_in_new_file(match)

    def close(self, keep: bool = True) -> None:
        """Close the file and release its lock. Remove the file if `keep` is false."""
        is_own = self._size is not None and not self._has_foreign_changes()
        if is_own and not keep:
            with suppress(OSError):
                os.unlink(self.path)
        files.close_quietly(self._handle)

    def _append(self, text: str) -> None:
        # One system call per entry: it is not torn if the process is killed.
        line = text.encode()
        size = self._size or 0
        self._check_size(size + len(line))
        try:
            os.lseek(self._handle, size, os.SEEK_SET)
            files.write_all(self._handle, line)
            os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):  # otherwise `reopen` drops the torn line
                os.ftruncate(self._handle, size)
            raise OSError(error.errno, f"{error.strerror}: the last entry is not saved", self.path) from None
        self._size = size + len(line)

    def _has_foreign_changes(self) -> bool:
        """Return whether another program has removed, replaced or resized the file.

        Until we have written to the file, its content must be the same as when we read it.
        """
        try:
            status = os.fstat(self._handle)
            if not os.path.samestat(os.stat(self.path), status):
                return True
            if self._size is None:
                return read_bytes(self.path) != self._original
        except (DuelsError, OSError):
            return True
        return status.st_size != self._size

    def _continue_in_new_file(self, match: AnyMatch) -> None:
        old, path = self.path, find_free_path(self.path)
        self.path = path
        self._switch_to(self._write_all(match))
        remember_path(path)
        self._notice(f"{old} was changed by another program. The match continues in {path}.")

    def _switch_to(self, handle: int) -> None:
        files.close_quietly(self._handle)
        self._handle = handle

    def _write_all(self, match: AnyMatch, overwrite: bool = False) -> int:
        content = self._dump(match)
        self._check_size(len(content))
        handle = files.write_and_open(
            self.path,
            content,
            overwrite,
            private=not overwrite or self._added_seed,  # a seed is a secret
            prepare=lambda handle: _lock(handle, self.path, self._notice),
        )
        self._size = len(content)
        return handle

    def _dump(self, match: AnyMatch) -> bytes:
        return dump_record(match, self._headers, comments=self._comments).encode()

    def _check_size(self, size: int) -> None:
        if size > MAX_RECORD_BYTES:
            raise DuelsError(f"{self.path}: a record has at most {MAX_RECORD_BYTES >> 20} MB.")


def _lock(handle: int, path: Path, notice: Notice) -> None:
    try:
        locked = files.lock_file(handle, path)
    except files.FileInUse:
        raise DuelsError(f"{path} is being played in another program.") from None
    if not locked:
        notice(f"{path}: files cannot be locked here. Do not play this match in two programs at once.")


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents so that they survive a power failure."""
    missing = list(takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for created in missing:
        files.sync_folder(created.parent)
