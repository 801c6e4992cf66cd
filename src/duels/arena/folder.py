"""A run's folder: its config, and logs that only grow, one for each worker.

Rows are known by a hash of what was played: none is played twice, and folders of several machines are merged
by putting their rows together.
"""

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from secrets import token_hex
from typing import Any

from duels.arena.config import FORMAT, GROWS, PROBE, Config, ProbeConfig, check_same
from duels.arena.logs import (
    AT_ONCE,
    MATCHES,
    REQUEST,
    Joined,
    Log,
    Row,
    lines_of,
    read_rows,
    write_rows,
)
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.files import write_atomically
from duels.players.endpoint import join_replies
from duels.solving.progress import Progress, no_progress

try:
    import fcntl
except ImportError:  # not on Windows, where a second run is not kept out
    fcntl = None  # type: ignore[assignment]

CONFIG = "config.json"
LOCK = ".lock"
_CONTINUED = "continued-by-"  # and a version of duels: empty files, for one can be added without a lock
_WORKERS = ".workers-"
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


def part_of(log: Path) -> tuple[int, int]:
    """The part of the run that a log is of."""
    read = MATCHES.fullmatch(log.name)
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
            with writing_to(path):
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
            others = [each.name for each in path.iterdir() if MATCHES.fullmatch(each.name)]
            if others:
                raise DuelsError(f"{path} has logs and no {CONFIG}; name another folder with --out.")
            with suppress(FileExistsError):  # another part may begin at the same time
                write_config(kept, told, version("duels"), over=False)
        folder = cls(path)
        check_same(told, folder.config, path)
        # What was spent is still told when a run goes on without a budget.
        told["currency"] = told["currency"] or folder.config["currency"]
        if None in told["prices"].values():
            told["prices"] = folder.config["prices"]
        changed = [name for name in GROWS if folder.config.get(name) != told.get(name)]
        if changed:  # such as more matches that are asked for, or fewer
            if not (alone or _lock(handle, shared=False)):
                raise DuelsError(f"{path} is being run with other {' and '.join(changed)} right now.")
            write_config(kept, told, folder.versions[0])
            if not alone:
                _lock(handle, shared=True)
        if version("duels") not in folder.versions:
            note_version(path, version("duels"))
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
        """All logs of matches, or of a probe's answers, in the order of their names."""
        if self.is_probe:
            return sorted(self.path.glob("answers-*.jsonl"))
        return sorted(each for each in self.path.iterdir() if MATCHES.fullmatch(each.name))

    def pairs_of(self, game: str) -> list[int]:
        """Which pairs of every two players are to be played in a game, in order.

        Where only some parts of a run are here, these are theirs.
        """
        asked = range(self.config["matches"][game] // 2)
        parts = {part_of(log) for log in self.logs()} or {WHOLE}
        return [pair for pair in asked if any(in_part(pair, part) for part in parts)]

    def asks_for(self, row: Row) -> bool:
        """Whether a match counts: a run may be asked for fewer after it has played more."""
        return bool(2 * row["pair"] < self.config["matches"][row["game"]])

    def rows(self) -> dict[str, Row]:
        """Every match, or answer, that is on disk, by its key; what cannot be read counts for nothing."""
        joined = Joined()
        for log in self.logs():
            for where, row in read_rows(log, self.damaged):
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
            for row in join_replies(row for _, row in lines_of(log, damaged, REQUEST)):
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

    def request_log(self, worker: str) -> Log:
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
def writing_to(folder: Path) -> Iterator[None]:
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


def write_config(path: Path, config: Mapping[str, Any], began_by: str, over: bool = True) -> None:
    """Write a config, with the version of duels that began to carry it out."""
    told = {"format": FORMAT, "duels": began_by, "python": python_version(), "config": config}
    write_atomically(path, (json.dumps(told, indent=2) + "\n").encode(), over)


def note_version(folder: Path, continued_by: str) -> None:
    """Note another version of duels; parts of a run may do so at the same time."""
    with suppress(FileExistsError):
        write_atomically(folder / f"{_CONTINUED}{continued_by}", b"")


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


# -- merging ---------------------------------------------------------------------------------------------


def merge(sources: Iterable[Path], target: Path, tell: Progress = no_progress) -> int:
    """Join runs, or probes, of one config into a new folder; how many matches, or answers, it has."""
    folders = [Folder(source) for source in sources]
    currency = _check_mergeable(folders)
    with writing_to(target):
        if target.exists() and any(target.iterdir()):
            raise DuelsError(f"{target} is not empty; name another folder with --out.")
        target.mkdir(parents=True, exist_ok=True)
    joined = Joined()
    for name, rows in _rows_by_log(folders, joined).items():
        write_rows(target / name, (rows[key] for key in sorted(rows)))
    asked: dict[str, Row] = {}
    for row in (row for folder in folders for row in folder.requests()):
        if row["id"] not in asked or "status" in row:
            asked[row["id"]] = row
    if asked:
        write_rows(target / "requests-merged.jsonl", asked.values())
    largest = max(folders, key=lambda folder: sum(folder.config.get("matches", {}).values()))
    began_by, *others = dict.fromkeys(each for folder in (largest, *folders) for each in folder.versions)
    for each in others:
        note_version(target, each)
    write_config(target / CONFIG, {**largest.config, "currency": currency}, began_by)
    told = [f"{folder.path}: {folder.damage}" for folder in folders if folder.damage]
    for text in filter(None, [*told, joined.differences(folders[0].is_probe)]):
        tell(text)
    return len(joined.rows())


def _check_mergeable(folders: Sequence[Folder]) -> str:
    """Refuse folders of different runs, or with money in different currencies; the currency of all."""
    first, *others = folders
    for other in others:
        for name, value in first.config.items():
            if name not in GROWS and other.config.get(name) != value:
                raise DuelsError(f"{first.path} and {other.path} are different runs: their {name} differ.")
    currencies = sorted({folder.config["currency"] for folder in folders} - {""})
    if len(currencies) > 1:
        raise DuelsError(f"These runs count money in {' and in '.join(currencies)}.")
    return "".join(currencies)


def _rows_by_log(folders: Iterable[Folder], joined: Joined) -> dict[str, dict[str, Row]]:
    """Rows, each once, by logs whose names say which parts of the run are there."""
    found: dict[str, dict[str, Row]] = {}
    for folder in folders:
        for log in folder.logs():
            part = name_of_part(part_of(log))
            name = "answers-merged.jsonl" if folder.is_probe else f"log-{part and part + '-'}merged.jsonl"
            rows = found.setdefault(name, {})
            for where, row in read_rows(log, folder.damaged):
                if joined.add(str(folder.path / where), row):
                    rows[row["key"]] = row
    return found


# -- as one table ----------------------------------------------------------------------------------------

_PLAIN = ("key", "game", "pair", "seed", "result", "ending", "score", "adjusted")
_JSON = ("options", "failures", "blunders", "manners")
_BY_SEAT = ("players", "shortfalls", "decisions", "forfeited")
_USAGE = ("prompt_tokens", "completion_tokens", "requests")
_ANSWER = ("key", "game", "seat", "position", "sample", "action")


def write_parquet(folder: Folder, path: Path, over: bool = False) -> int:
    """Write a row for each match, or each answer of a probe, in the order of their keys; how many."""
    kept = folder.rows()
    row = _answer if folder.is_probe else _match
    content = parquet_of(row(kept[key]) for key in sorted(kept))
    write_atomically(path, content, over)
    return len(kept)


def parquet_of(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A table as the bytes of a Parquet file."""
    with require_extra("arena"):
        import pyarrow as arrow
        from pyarrow import parquet
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content


def _match(row: Row) -> dict[str, Any]:
    used = row.get("usage", [[0] * len(_USAGE)] * 2)
    return {
        **{name: row[name] for name in _PLAIN},
        **{f"{name}_{seat}": row[name][seat - 1] for name in _BY_SEAT for seat in (1, 2)},
        **{f"{name}_{seat}": used[seat - 1][place] for place, name in enumerate(_USAGE) for seat in (1, 2)},
        "entries": row["entries"],
        **{name: json.dumps(row[name]) for name in _JSON},
    }


def _answer(row: Row) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _ANSWER},
        **dict(zip(_USAGE, row["usage"], strict=True)),
        **{name: json.dumps(row[name]) for name in ("policy", "failures")},
    }
