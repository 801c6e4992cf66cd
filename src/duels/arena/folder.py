"""A run's folder: its config, and logs that only grow, one for each worker.

A row is written before it counts. Rows are known by a hash of what was played: none is played twice, and logs
of several machines are joined by putting them together.
"""

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from secrets import token_hex
from threading import Event, Thread
from typing import Any

from duels.arena.config import FORMAT, GROWS, PROBE, Config, ProbeConfig, check_same
from duels.arena.rows import ANSWER, DECIDED, MATCH, VERSION, Row, is_whole
from duels.core.errors import DuelsError
from duels.files import settle_folder, write_whole
from duels.players.endpoint import with_replies

try:
    import fcntl
except ImportError:  # not on Windows, where a second run is not kept out
    fcntl = None  # type: ignore[assignment]

CONFIG = "config.json"
LOCK = ".lock"
_CONTINUED = "continued-by-"  # and a version of duels: empty files, for one can be added without a lock
_WORKERS = ".workers-"
_LOG = re.compile(r"log-(?:(\d+)-of-(\d+)-)?.+\.jsonl")

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode  # made once: rows come quickly

QUICK, AT_ONCE = 0.2, 0.0
"""Seconds after which a row is synced at the latest; what was paid for is synced at once."""
_ID = re.compile(rb'"id": "(\w+)"')
_OF_SHARD = re.compile(r"requests-([0-9]+-of-[0-9]+-)")

Score = tuple[float, float]
"""What a match was worth to Player 1, and the same with luck taken out."""

WHOLE = (1, 1)
"""A run that is not split."""


def score_of(row: Row) -> Score:
    """What a run goes on with once a match is in a log."""
    return row["score"], row["adjusted"]


def in_part(pair: int, part: tuple[int, int]) -> bool:
    """Whether a pair belongs to a part of a run: the I-th of N has every N-th pair, from the I-th."""
    place, parts = part
    return pair % parts == place - 1


def name_of_part(part: tuple[int, int]) -> str:
    """The name by which locks and logs know a part; none for a whole run."""
    return "" if part == WHOLE else f"{part[0]}-of-{part[1]}"


def _part_of(log: Path) -> tuple[int, int]:
    """The part of the run that a log is of."""
    read = _LOG.fullmatch(log.name)
    return (int(read[1]), int(read[2])) if read and read[1] else WHOLE


class Folder:
    """A folder of a run that is there already."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.versions = _read_config(path)
        """Versions of duels: the one that began the run, then those that continued it."""
        self.unfinished: tuple[str, ...] = ()
        """Why the last call of the run left matches unfinished."""
        self.is_spent = False
        """Whether the last call spent the budget, so that only a larger one goes on."""
        self.damaged: dict[str, bytes] = {}
        """Lines of logs that were met and could not be read, and where: `log-1.jsonl, line 3`."""
        self._differences = ""  # of rows of one key, in the logs that were read

    @classmethod
    @contextmanager
    def held(
        cls, path: Path, config: Config | ProbeConfig, part: tuple[int, int] = WHOLE
    ) -> Iterator["Folder"]:
        """The folder of a run or probe, made if it is not there, and kept from others as long as this lasts.

        Parts of a run are played beside each other, and a whole one alone. Refused, with nothing changed, if
        somebody else has the folder or it is of another run.
        """
        with ExitStack() as held:
            with _writing_to(path):
                path.mkdir(parents=True, exist_ok=True)
                handle = held.enter_context(locked(path / LOCK, shared=part != WHOLE))
            folder = cls._prepared(path, config, handle, alone=part == WHOLE)
            if part != WHOLE:
                folder._check_parts(part[1])
                held.enter_context(locked(path / f"{LOCK}-{name_of_part(part)}"))
            yield folder

    @classmethod
    def _prepared(cls, path: Path, config: Config | ProbeConfig, handle: int, alone: bool) -> "Folder":
        """The folder with this config in it; only who is alone in it may change one that is there."""
        kept, told = path / CONFIG, config.told()
        if not kept.exists():
            others = [each.name for each in path.iterdir() if _LOG.fullmatch(each.name)]
            if others:
                raise DuelsError(f"{path} has logs and no {CONFIG}; name another folder with --out.")
            with suppress(FileExistsError):  # another part may begin at the same time
                _write_config(kept, told, version("duels"), over=False)
        folder = cls(path)
        check_same(told, folder.config, path)
        told["currency"] = told["currency"] or folder.config["currency"]  # what was spent is counted in it
        changed = [name for name in GROWS if folder.config.get(name) != told.get(name)]
        if changed:  # such as more matches that are asked for, or fewer
            if not (alone or _lock(handle, shared=False)):
                raise DuelsError(f"{path} is being run with other {' and '.join(changed)} right now.")
            _write_config(kept, told, folder.versions[0])
            if not alone:
                _lock(handle, shared=True)
        if version("duels") not in folder.versions:
            _note_version(path, version("duels"))
        return cls(path)

    def _check_parts(self, parts: int) -> None:
        """Refuse another number of parts: they would have matches in common, and play them twice."""
        for each in self.path.glob(f"{LOCK}-*-of-*"):
            before = each.name.rpartition("-")[2]
            if before != str(parts):
                raise DuelsError(f"{self.path} is played in {before} parts, not in {parts}.")

    @property
    def is_probe(self) -> bool:
        """Whether positions were asked in it, and no matches played."""
        return bool(self.config["kind"] == PROBE)

    def logs(self) -> list[Path]:
        """All logs, in the order of their names."""
        return sorted(each for each in self.path.iterdir() if _LOG.fullmatch(each.name))

    def pairs_of(self, game: str) -> list[int]:
        """Which pairs of every two players are to be played in a game, in order.

        Where only some parts of a run are here, these are theirs.
        """
        asked = range(self.config["matches"][game] // 2)
        parts = {_part_of(log) for log in self.logs()} or {WHOLE}
        return [pair for pair in asked if any(in_part(pair, part) for part in parts)]

    def rows(self) -> dict[str, Row]:
        """Every match that is on disk, by its key; what cannot be read counts for nothing."""
        return self._by_key(self.logs())

    def _by_key(self, logs: Iterable[Path]) -> dict[str, Row]:
        joined = _Joined()
        for log in logs:
            for where, row in _placed_rows(log, self.damaged):
                joined.add(where, row)
        self._differences = joined.differences(self.is_probe)
        return joined.rows()

    def requests(self, prefix: str = "") -> Iterator[Row]:
        """Every request to a model, with its reply; with the prefix of a shard, those of no other shard.

        Of one that cannot be read, the most that it may have taken: it was paid for all the same.
        """
        longest = self.config["model"].get("max_tokens", 0)
        for log in sorted(self.path.glob("requests-*.jsonl")):
            shard = _OF_SHARD.match(log.name)
            if prefix and shard and shard[1] != prefix:
                continue
            damaged: dict[str, bytes] = {}
            known = set()
            for row in with_replies(row for _, row in _lines(log, damaged)):
                known.add(row["id"])
                yield row
            for line in damaged.values():
                found = _ID.search(line)
                sent = found[1].decode() if found else token_hex(8)
                if sent not in known:  # else its other line tells as much, or more
                    known.add(sent)
                    # The question is in the line, and no token is shorter than a byte.
                    yield {"id": sent, "at_most": [len(line), longest]}
            self.damaged |= damaged

    def answer_logs(self) -> list[Path]:
        """All logs with answers of a probe, in the order of their names."""
        return sorted(self.path.glob("answers-*.jsonl"))

    def answers(self) -> dict[str, Row]:
        """Every answer of a probe, by its key."""
        return self._by_key(self.answer_logs())

    def notes(self, complete: bool) -> tuple[str, ...]:
        """What is out of the ordinary here, a sentence each, once all was read that a report is made from.

        `complete` is whether all matches that were planned, or all answers, were among it.
        """
        by = f"Played by several versions of duels: {', '.join(self.versions)}."
        damage = f"{self.damage} {self._mended}".rstrip() if complete else self.damage
        told = [by] * (len(self.versions) > 1) + [self._differences, damage]
        return tuple(filter(None, told))

    @property
    def damage(self) -> str:
        """What could not be read in the logs so far, in a sentence; nothing if all could."""
        if not self.damaged:
            return ""
        first, *more = self.damaged
        if not more:
            return f"A damaged line of a log is skipped: {first}."
        return f"{len(self.damaged)} damaged lines of logs are skipped, the first in {first}."

    @property
    def _mended(self) -> str:
        """What became of damaged lines where nothing is missing any more."""
        if all(where.startswith("requests-") for where in self.damaged):  # these are not made again
            return ""
        one = len(self.damaged) == 1
        if self.is_probe:
            return "Its question was asked again." if one else "Questions in them were asked again."
        return "Its match was played again." if one else "Matches in them were played again."

    def answer_log(self, every: float = QUICK) -> "Log":
        """Where answers of a probe go."""
        return Log(self.path, "1", "answers", every)

    def request_log(self, worker: str) -> "Log":
        """Where requests to models and their replies go."""
        return Log(self.path, worker, "requests", AT_ONCE)

    def bot_log(self, player: str, worker: str) -> Path:
        """Where a program's stderr goes."""
        folder = self.path / "bots"
        folder.mkdir(exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", player)
        return folder / f"{name}-{worker}.log"

    def hold_as_worker(self, prefix: str) -> int:
        """Let everybody know that a worker may still be writing; the handle to be closed at its end."""
        handle = self._workers(prefix)
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_SH)
        return handle

    def wait_for_workers(self, prefix: str) -> None:
        """Wait until workers of a run that was killed have written what they were playing.

        Of a part, its own workers and those of the whole run may be left over; of the whole run, all.
        """
        left = {f"{_WORKERS}{prefix}", _WORKERS} if prefix else None
        for path in self.path.glob(f"{_WORKERS}*"):
            if left is None or path.name in left:
                handle = os.open(path, os.O_RDWR)
                if fcntl:
                    fcntl.flock(handle, fcntl.LOCK_EX)
                os.close(handle)

    def _workers(self, prefix: str) -> int:
        return os.open(self.path / f"{_WORKERS}{prefix}", os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """Say of which folder it is, and what to do, if the system does not let us write there."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise DuelsError(f"cannot write to the folder {folder}: {why}. Name another with --out.") from None


@contextmanager
def locked(path: Path, shared: bool = False) -> Iterator[int]:
    """Keep a lock, alone or with others that share it; the handle that holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _lock(handle, shared):
            raise DuelsError(f"{path.parent} is being run somewhere else right now.")
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, shared: bool) -> bool:
    """Whether the lock could be had at once."""
    if fcntl:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
    return True


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
        settle_folder(folder)
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


def read_rows(path: Path, damaged: dict[str, bytes] | None = None) -> Iterator[Row]:
    """The rows of a log, without what cannot be read, such as what a power cut left of a line.

    Those lines are added to `damaged`. Rows that can be read, and cannot be right, are refused.
    """
    return (row for _, row in _placed_rows(path, damaged))


def _placed_rows(path: Path, damaged: dict[str, bytes] | None = None) -> Iterator[tuple[str, Row]]:
    """The same, with where each row stands."""
    fields = MATCH if _LOG.fullmatch(path.name) else ANSWER
    for where, row in _lines(path, damaged, fields):
        if row.get("v") != VERSION:
            raise DuelsError(f"{path.parent / where}: it was written by another version of duels.")
        if fields is MATCH and row["score"] != _score_of(row["result"]):
            wrong = f"score {row['score']} does not go with the result '{row['result']}'"
            raise DuelsError(
                f"{path.parent / where}: {wrong}. Delete that line, and its match is played again."
            )
        yield where, row


def _lines(
    path: Path, damaged: dict[str, bytes] | None = None, fields: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Row]]:
    """The lines of a log that can be read, and where each stands; one that does not end is not there yet."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if isinstance(row, dict) and is_whole(row, fields or {}):
                yield where, row
            elif damaged is not None:
                damaged[where] = line


class _Joined:
    """Rows of several logs, by their keys: of those that have the same key, the first."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Row]] = {}
        self._unlike: list[tuple[str, str]] = []  # where a row stands that was kept, and another that differs

    def add(self, where: str, row: Row) -> bool:
        """Keep a row, unless there is one of its key; whether it was kept."""
        first_in, kept = self._kept.setdefault(row["key"], (where, row))
        if kept is not row and any(row.get(name) != kept.get(name) for name in DECIDED):
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


def _score_of(result: str) -> float:
    """What a match with this result was worth to seat 1."""
    return 1.0 if result.startswith("1 won") else 0.0 if result.startswith("2 won") else 0.5


def _write_config(path: Path, config: Mapping[str, Any], began_by: str, over: bool = True) -> None:
    """Write a config, with the version of duels that began to carry it out."""
    told = {"format": FORMAT, "duels": began_by, "python": python_version(), "config": config}
    write_text(path, json.dumps(told, indent=2) + "\n", over)


def _note_version(folder: Path, continued_by: str) -> None:
    """Note another version of duels; parts of a run may do so at the same time."""
    with suppress(FileExistsError):
        write_text(folder / f"{_CONTINUED}{continued_by}", "", over=False)


def _read_config(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A folder's config, and the versions of duels that carried it out."""
    kept = path / CONFIG
    if not kept.is_file():
        raise DuelsError(f"{path} is no folder of a run: it has no {CONFIG}.")
    try:
        told = json.loads(kept.read_text(encoding="utf-8"))
        form, config = told["format"], {"kind": None, **told["config"]}
        began_by = told["duels"]
    except (ValueError, TypeError, KeyError):
        raise DuelsError(f"{kept}: this is no config of a run.") from None
    if form != FORMAT:
        raise DuelsError(f"{path} was made by another version of duels: format {form}, not {FORMAT}.")
    continued_by = sorted(each.name.removeprefix(_CONTINUED) for each in path.glob(f"{_CONTINUED}*"))
    return config, (began_by, *continued_by)


def merge(sources: Iterable[Path], target: Path, tell: Callable[[str], None] = lambda text: None) -> int:
    """Join runs, or probes, of one config into a new folder; how many matches, or answers, it has."""
    folders = [Folder(source) for source in sources]
    first = folders[0]
    for other in folders[1:]:
        for name, value in first.config.items():
            if name not in GROWS and other.config.get(name) != value:
                raise DuelsError(f"{first.path} and {other.path} are different runs: their {name} differ.")
    currencies = sorted({folder.config["currency"] for folder in folders} - {""})
    if len(currencies) > 1:
        raise DuelsError(f"These runs count money in {' and in '.join(currencies)}.")
    with _writing_to(target):
        if target.exists() and any(target.iterdir()):
            raise DuelsError(f"{target} is not empty; name another folder with --out.")
        target.mkdir(parents=True, exist_ok=True)
    rows = _Joined()
    by_log: dict[str, dict[str, Row]] = {}
    for folder in folders:
        for log in folder.answer_logs() if folder.is_probe else folder.logs():
            part = name_of_part(_part_of(log))
            name = "answers-merged.jsonl" if folder.is_probe else f"log-{part and part + '-'}merged.jsonl"
            joined = by_log.setdefault(name, {})
            for where, row in _placed_rows(log, folder.damaged):
                if rows.add(str(folder.path / where), row):
                    joined[row["key"]] = row
    for name, joined in by_log.items():  # the names say which parts of the run are here
        _write_rows(target / name, (joined[key] for key in sorted(joined)))
    asked: dict[str, Row] = {}
    for folder in folders:
        for row in folder.requests():
            if row["id"] not in asked or "status" in row:
                asked[row["id"]] = row
    if asked:
        _write_rows(target / "requests-merged.jsonl", asked.values())
    largest = max(folders, key=lambda folder: sum(folder.config.get("matches", {}).values()))
    began_by, *others = dict.fromkeys(each for folder in (largest, *folders) for each in folder.versions)
    for each in others:
        _note_version(target, each)
    config = {**largest.config, "currency": "".join(currencies)}
    _write_config(target / CONFIG, config, began_by)
    for folder in folders:
        if folder.damage:
            tell(f"{folder.path}: {folder.damage}")
    if differences := rows.differences(first.is_probe):
        tell(differences)
    return len(rows.rows())


def _write_rows(path: Path, rows: Iterable[Row]) -> None:
    write_text(path, "".join(_encode(row) + "\n" for row in rows))


def write_text(path: Path, text: str, over: bool = True) -> None:
    """Write a file that appears with all of its content, or not at all, in the place of the one before.

    FileExistsError, if there is one before and it is not to be written `over`.
    """
    write_whole(path, text.encode(), over)
