"""The record of a match on disk, written as the match goes.

Every entry is on the disk before it is shown: a crash loses at most what was being typed. A file that exists
is never overwritten, two programs never write to one match, and a file that another program has changed is
left alone: the match goes on in a file beside it.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate, takewhile
from pathlib import Path

from duels.core.errors import DuelsError, GameOver, quote
from duels.core.game import Game
from duels.core.match import AnyMatch
from duels.core.record import (
    Record,
    TornRecord,
    check_recordable,
    dump_record,
    format_entries,
    format_entry,
    format_header,
    format_result,
    max_entries,
)
from duels.files import (
    NO_WAIT,
    FileInUse,
    close_quietly,
    lock,
    name_file_in_errors,
    sync_folder,
    write_all,
    write_and_open,
)
from duels.play.dice import new_seed
from duels.play.library import MOST_BYTES, free_path, parse_record, read_bytes, remember

Notice = Callable[[str], None]


class Journal:
    """An open record file, one line an entry, that grows and can be taken back line by line."""

    def __init__(self, path: Path, handle: int, headers: dict[str, str], notice: Notice) -> None:
        self.path = path
        self._handle = handle
        self._headers = headers
        self._notice = notice
        self._read = b""  # what a file that is played on held when it was opened
        self._seeded = False  # whether it held no seed then
        self._comments: dict[int, Sequence[str]] = {}  # that people wrote into it
        self._lengths: list[int] = []  # of the file: without entries, with the first, …
        self._most = 0  # entries, so that it can be read back

    @classmethod
    def create(
        cls, path: Path, match: AnyMatch, headers: dict[str, str], notice: Notice = lambda text: None
    ) -> "Journal":
        """Start a new file, which appears with its header or not at all; FileExistsError if there is one."""
        check_recordable(match.rules)
        _make_folder(path.parent)
        journal = cls(path, -1, headers, notice)
        journal._handle = journal._put(match)
        remember(path)
        return journal

    @classmethod
    def reopen(
        cls, path: Path, notice: Notice = lambda text: None, game: Game | None = None
    ) -> tuple["Journal", Record]:
        """Open the record of an unfinished match; nothing is changed until `settle` or the next entry.

        Of a last line that was torn off, `notice` is told that it will be dropped.
        """
        journal = cls(path, os.open(path, os.O_RDWR | NO_WAIT), {}, notice)
        try:
            _lock(journal._handle, path, notice)
            # Read only now that nobody else can be writing.
            journal._read = read_bytes(path)
            torn = ""
            try:
                record = parse_record(journal._read, path, game)
            except TornRecord as error:
                record, torn = error.record, error.torn
            if record.seat:
                raise DuelsError(f"{path} holds only what {record.seat.label} saw; it cannot be played on.")
            if torn:
                notice(f"{path}: the last line was torn off and is dropped: {quote(torn)}.")
            journal._seeded = not record.headers.get("seed")
            journal._headers = {**record.headers, "seed": record.headers.get("seed") or new_seed()}
            journal._comments = dict(record.comments)
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
        if self._changed_by_others():
            self._go_on_beside(match)
        elif self._read == self._content(match):
            with name_file_in_errors(self.path):
                os.fsync(self._handle)  # whoever wrote it may have been killed before that
            self._measure(match)
        else:
            self._turn_to(self._put(match, over=True))

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
        """Drop the entries after those of `match`, with the comments on them."""
        kept = len(match.turns)
        self._comments = {place: lines for place, lines in self._comments.items() if place <= kept}
        if not self._lengths:
            self.settle(match)
            return
        if self._changed_by_others():
            self._go_on_beside(match)
            return
        with name_file_in_errors(self.path):
            os.ftruncate(self._handle, self._lengths[kept])
            os.fsync(self._handle)
        del self._lengths[kept + 1 :]

    def check(self, match: AnyMatch) -> None:
        """Make sure that the file holds the match: whoever is told that it is saved must find it."""
        if not self._lengths:
            self.settle(match)
        elif self._changed_by_others():
            self._go_on_beside(match)

    def close(self, keep: bool = True) -> None:
        """Release the file and its lock; a match without a single entry need not be kept."""
        if not keep and self._lengths and not self._changed_by_others():  # what is not settled is not ours
            with suppress(OSError):
                os.unlink(self.path)
        close_quietly(self._handle)

    def _write(self, text: str) -> None:
        # One write an entry: the system does not tear it when the process is killed.
        line = text.encode()
        length = self._lengths[-1]
        self._check_size(length + len(line))
        try:
            os.lseek(self._handle, length, os.SEEK_SET)
            write_all(self._handle, line)
            os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):  # else the torn line is dropped when the match goes on
                os.ftruncate(self._handle, length)
            raise OSError(error.errno, f"{error.strerror}: the last entry is not saved", self.path) from None
        self._lengths.append(length + len(line))

    # -- files that are not as we left them ------------------------------------------------------

    def _changed_by_others(self) -> bool:
        """Whether the file was removed, replaced, cut or added to, or may have been.

        Since we wrote to it; or, if we have not yet, since we read it: then every byte must be the same.
        """
        try:
            named, held = os.stat(self.path), os.fstat(self._handle)
            if not os.path.samestat(named, held):
                return True
            if not self._lengths:
                return read_bytes(self.path) != self._read
        except (DuelsError, OSError):
            return True
        return held.st_size != self._lengths[-1]

    def _go_on_beside(self, match: AnyMatch) -> None:
        """Write the whole match to a new file, since the old one is no longer ours."""
        old, path = self.path, free_path(self.path)
        self.path = path
        self._turn_to(self._put(match))
        remember(path)
        self._notice(f"{old} was changed by another program; the match goes on in {path}.")

    def _turn_to(self, handle: int) -> None:
        """Write there from now on."""
        close_quietly(self._handle)
        self._handle = handle

    def _put(self, match: AnyMatch, over: bool = False) -> int:
        """Write the whole record in one step, and keep it open."""
        content = self._content(match)
        self._check_size(len(content))
        handle = write_and_open(
            self.path,
            content,
            over,
            # With a seed it holds a secret that it did not hold before.
            private=not over or self._seeded,
            prepare=lambda handle: _lock(handle, self.path, self._notice),
        )
        self._measure(match)
        return handle

    def _content(self, match: AnyMatch) -> bytes:
        return dump_record(match, self._headers, comments=self._comments).encode()

    def _check_size(self, size: int) -> None:
        """DuelsError, if a file of so many bytes could not be read back."""
        if size > MOST_BYTES:
            raise DuelsError(f"{self.path}: the record would be larger than {MOST_BYTES >> 20} MB.")

    def _measure(self, match: AnyMatch) -> None:
        """Work out how long the file was after each entry."""
        self._most = max_entries(match.rules)
        header = format_header(match.rules, self._headers)
        pieces = format_entries(match, self._comments)
        first, *sizes = [len(text.encode()) for text in (header + pieces[0], *pieces[1:])]
        self._lengths = list(accumulate(sizes, initial=first))
        self._lengths[-1] += len(format_result(match).encode())


def _lock(handle: int, path: Path, notice: Notice) -> None:
    try:
        locked = lock(handle, path)
    except FileInUse:
        raise DuelsError(f"{path} is being played somewhere else right now.") from None
    if not locked:
        notice(f"{path}: files cannot be locked here; do not play this match in two places at once.")


def _make_folder(folder: Path) -> None:
    """Make a folder with those it is in, all of them safe from a power cut."""
    missing = list(takewhile(lambda place: not place.exists(), (folder, *folder.parents)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)
