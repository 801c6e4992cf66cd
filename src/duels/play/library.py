"""The matches on disk: where they are, how one is read, which was played last."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from duels.core.errors import DuelsError, RecordError
from duels.core.game import Game
from duels.core.record import Record, TornRecord
from duels.files import name_file_in_errors, open_regular, write_whole
from duels.games import load_record
from duels.paths import data_dir, matches_dir
from duels.players import read_player_names

MOST_BYTES = 4 << 20
"""No record is larger: reading one is bounded."""
_MOST_REMEMBERED = 100


def read_record(path: Path, game: Game | None = None) -> Record:
    """Load and check the record at `path`, of any game or of one that is handed in.

    RecordError, which names the file, if it is damaged.
    """
    return parse_record(read_bytes(path), path, game)


def parse_record(data: bytes, path: Path, game: Game | None = None) -> Record:
    """What `read_record` does, with the file's content at hand."""
    whole, end, torn = data.rpartition(b"\n")
    try:
        # A line that was torn off may not even be text.
        text = (whole + end).decode("utf-8-sig") + torn.decode(errors="replace" if end else "strict")
        return load_record(text.replace("\r\n", "\n"), game)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError("this is not a duels record: it is not text.", line).in_file(path) from None
    except RecordError as error:
        raise error.in_file(path) from None


def read_bytes(path: Path) -> bytes:
    """The content of a file that may be a record."""
    with name_file_in_errors(path), open_regular(path) as file:
        data = file.read(MOST_BYTES + 1)
    if data is None:  # the kernel's own files may say that there is nothing yet
        raise RecordError("this cannot be read to its end.").in_file(path)
    if len(data) > MOST_BYTES:
        raise RecordError(f"this is larger than {MOST_BYTES >> 20} MB: no record is.").in_file(path)
    return data


@dataclass(frozen=True)
class SavedMatch:
    """A match on disk."""

    path: Path
    record: Record
    played: datetime
    """When the last entry was made."""

    @property
    def players(self) -> tuple[str, ...]:
        """Who sat at the seats."""
        return tuple(read_player_names(self.record.headers).values())

    @property
    def result(self) -> str | None:
        """How it ended, as records have it; None while it goes on."""
        outcome = self.record.match.outcome
        return outcome.code if outcome else None

    @property
    def when(self) -> str:
        """When it was played last, as people read it."""
        return self.played.strftime("%Y-%m-%d %H:%M UTC")


def list_saved_matches(warn: Callable[[str], None]) -> Iterator[SavedMatch]:
    """Every match with an entry that we know of, the one played last first.

    `warn` is told about damaged files. Copies for one seat are no matches of ours.
    """
    candidates = list(matches_dir().glob("[!.]*.duel")) if matches_dir().is_dir() else []  # no drafts
    times = {path: time for path in (*candidates, *_elsewhere()) if (time := _last_written(path)) is not None}
    for path in sorted(times, key=lambda path: times[path], reverse=True):
        try:
            record = read_record(path)
        except TornRecord as torn:
            record = torn.record
        except (DuelsError, OSError) as error:
            warn(f"Passed over {error}")
            continue
        if record.match.turns and not record.seat:
            yield SavedMatch(path, record, datetime.fromtimestamp(times[path], UTC))


def _last_written(path: Path) -> float | None:
    """When a file was last written to; None if there is none of that name."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # it may have gone, or be no name at all
        return None
    return status.st_mtime if stat.S_ISREG(status.st_mode) else None


def last_unfinished(warn: Callable[[str], None]) -> Path | None:
    """The file of the match to go on with: the one played last that is not over."""
    return next((kept.path for kept in list_saved_matches(warn) if not kept.record.match.over), None)


def last_match(warn: Callable[[str], None]) -> Path | None:
    """The file of the match that was played last."""
    return next((kept.path for kept in list_saved_matches(warn)), None)


def new_path(game: str) -> Path:
    """A file name that is not taken, in the user's folder of matches."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = matches_dir() / f"{stamp}-{game}.duel"
    return free_path(path) if path.exists() else path


def free_path(path: Path) -> Path:
    """The name with the first number from 2 behind it that is not taken."""
    copy = 2
    while os.path.lexists(numbered := path.with_name(f"{path.stem}-{copy}{path.suffix}")):
        copy += 1
    return numbered


def remember(path: Path) -> None:
    """Note where a match is played that is not in the folder of matches."""
    with suppress(OSError):  # only a convenience, no reason not to play
        if path.resolve().parent == matches_dir().resolve():
            return
        data_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
        others = [known for known in _elsewhere() if _last_written(known) and known != path.resolve()]
        lines = [os.fsencode(known) for known in (*others, path.resolve())[-_MOST_REMEMBERED:]]
        write_whole(_elsewhere_file(), b"\0".join(lines), over=True, private=True)


def _elsewhere() -> list[Path]:
    """The files of matches elsewhere, as far as they can be read."""
    with suppress(OSError, DuelsError), open_regular(_elsewhere_file()) as file:
        return [Path(os.fsdecode(line)) for line in file.read(MOST_BYTES).split(b"\0") if line]
    return []


def _elsewhere_file() -> Path:
    return data_dir() / "matches-elsewhere"
