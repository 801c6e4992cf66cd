"""Saved matches: finding and reading their files."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from duels.core.errors import DuelsError, RecordError, escape_unprintable
from duels.core.record import Record, TornRecord
from duels.files import name_file_in_errors, open_regular_file, write_atomically
from duels.games import load_record
from duels.paths import data_dir, matches_dir
from duels.players import read_player_names

MAX_RECORD_BYTES = 4 << 20
"""The maximum size of a record that we read or write."""
_MAX_REMEMBERED = 100


def read_record(path: Path) -> Record:
    """Load and check the record at `path`. Raises RecordError, which names the file, if it is damaged."""
    return decode_record(read_bytes(path), path)


def decode_record(data: bytes, path: Path) -> Record:
    """Decode and check the content of the record file at `path`. Raises RecordError."""
    whole, end, torn = data.rpartition(b"\n")
    try:
        # A torn last line may end inside a character.
        text = (whole + end).decode("utf-8-sig") + torn.decode(errors="replace" if end else "strict")
        return load_record(text.replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError("not a duels record: this is not UTF-8 text.", line).in_file(path) from None
    except RecordError as error:
        raise error.in_file(path) from None


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that may be a record.

    Raises RecordError if it is too large, and OSError if it cannot be read.
    """
    with name_file_in_errors(path), open_regular_file(path) as file:
        data = file.read(MAX_RECORD_BYTES + 1)
    if data is None:  # some kernel files return None if no data is ready
        raise RecordError("the file cannot be read to its end.").in_file(path)
    if len(data) > MAX_RECORD_BYTES:
        raise RecordError(f"a record has at most {MAX_RECORD_BYTES >> 20} MB.").in_file(path)
    return data


@dataclass(frozen=True)
class SavedMatch:
    """A record file in the library."""

    path: Path
    record: Record
    last_played: datetime
    """The time of the last entry."""

    @property
    def label(self) -> str:
        """The printable file name, with its folder if that is not the folder of matches."""
        return escape_unprintable(self.path.name if self.path.parent == matches_dir() else str(self.path))

    @property
    def players(self) -> tuple[str, ...]:
        """The names of both players."""
        return tuple(read_player_names(self.record.headers).values())


def list_saved_matches(warn: Callable[[str], None]) -> Iterator[SavedMatch]:
    """Yield the saved matches that have entries, the most recent first.

    Records of one seat's view are left out. `warn` is called for each damaged file.
    """
    paths = list(matches_dir().glob("[!.]*.duel")) if matches_dir().is_dir() else []  # without drafts
    paths += _load_remembered_paths()
    times = {path: time for path in paths if (time := _get_write_time(path)) is not None}
    for path in sorted(times, key=lambda path: times[path], reverse=True):
        try:
            record = read_record(path)
        except TornRecord as torn:
            record = torn.record
        except (DuelsError, OSError) as error:
            warn(f"Skipped {error}")
            continue
        if record.match.turns and not record.seat:
            yield SavedMatch(path, record, datetime.fromtimestamp(times[path], UTC))


def _get_write_time(path: Path) -> float | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # removed meanwhile, or not a valid path
        return None
    return status.st_mtime if stat.S_ISREG(status.st_mode) else None


def find_last_unfinished(warn: Callable[[str], None]) -> Path | None:
    """Return the path of the most recent unfinished match, or None."""
    return next((saved.path for saved in list_saved_matches(warn) if not saved.record.match.over), None)


def make_match_path(game: str) -> Path:
    """Return an unused path for a new match in the user's folder of matches."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = matches_dir() / f"{stamp}-{game}.duel"
    return find_free_path(path) if path.exists() else path


def find_free_path(path: Path) -> Path:
    """Return the path with the first unused number, from 2 on, appended to its stem."""
    copy = 2
    while os.path.lexists(numbered := path.with_name(f"{path.stem}-{copy}{path.suffix}")):
        copy += 1
    return numbered


def remember_path(path: Path) -> None:
    """Remember the path of a match outside the folder of matches, so that it is listed."""
    with suppress(OSError):  # the match can be played without this
        if path.resolve().parent == matches_dir().resolve():
            return
        data_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = _load_remembered_paths()
        other_paths = [other for other in paths if _get_write_time(other) and other != path.resolve()]
        names = [os.fsencode(saved) for saved in (*other_paths, path.resolve())[-_MAX_REMEMBERED:]]
        write_atomically(_get_list_path(), b"\0".join(names), overwrite=True, private=True)


def _load_remembered_paths() -> list[Path]:
    with suppress(OSError, DuelsError), open_regular_file(_get_list_path()) as file:
        return [Path(os.fsdecode(line)) for line in file.read(MAX_RECORD_BYTES).split(b"\0") if line]
    return []


def _get_list_path() -> Path:
    return data_dir() / "matches-elsewhere"
