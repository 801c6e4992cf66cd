"""The folder of a run or probe: its config, and one append-only log for each worker.

The key of a row is a hash of its content. So no match is played twice, and folders from several machines can
be merged by joining their rows.
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

from duels.arena.config import ADJUSTABLE, FORMAT, PROBE, Config, ProbeConfig, check_same_run
from duels.arena.logs import (
    LOG_NAME,
    REQUEST,
    SYNC_NOW,
    Log,
    MergedRows,
    Row,
    iter_lines,
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
except ImportError:  # Windows has no flock, so a second run is not prevented
    fcntl = None  # type: ignore[assignment]

CONFIG = "config.json"
LOCK = ".lock"
_CONTINUED = "continued-by-"  # plus a version of duels; empty files need no lock
_WORKERS = ".workers-"
_ID = re.compile(rb'"id": "(\w+)"')
_OF_SHARD = re.compile(r"requests-([0-9]+-of-[0-9]+-)")

MatchScore = tuple[float, float]
"""Player 1's score in a match, and the score adjusted for luck."""

WHOLE_RUN = (1, 1)
"""The shard of a run that is not split."""


def read_score(row: Row) -> MatchScore:
    return row["score"], row["adjusted"]


def is_in_shard(pair: int, shard: tuple[int, int]) -> bool:
    """Whether a pair belongs to a shard: the I-th of N has every N-th pair, starting with the I-th."""
    place, count = shard
    return pair % count == place - 1


def format_shard(shard: tuple[int, int]) -> str:
    """Format a shard for the names of locks and logs: `1-of-4`; empty for a whole run."""
    return "" if shard == WHOLE_RUN else f"{shard[0]}-of-{shard[1]}"


def parse_log_shard(log: Path) -> tuple[int, int]:
    name = LOG_NAME.fullmatch(log.name)
    return (int(name[1]), int(name[2])) if name and name[1] else WHOLE_RUN


class Folder:
    """The existing folder of a run or probe. Raises DuelsError if it has no valid config."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.versions = _read_config(path)
        """The versions of duels that began and continued the run."""
        self.unfinished: tuple[str, ...] = ()
        """The reasons for unfinished matches in the last call."""
        self.is_spent = False
        self.damaged: dict[str, bytes] = {}
        """Unreadable lines of logs by place: `log-1.jsonl, line 3`."""
        self._differences = ""  # between rows with the same key

    @classmethod
    @contextmanager
    def open_locked(
        cls, path: Path, config: Config | ProbeConfig, shard: tuple[int, int] = WHOLE_RUN
    ) -> Iterator["Folder"]:
        """Lock the folder of a run or probe, and create it if necessary.

        Shards of a run can share a folder; a whole run needs it alone. Raises DuelsError and changes nothing
        if another process has the folder or it belongs to another run.
        """
        with ExitStack() as stack:
            with explain_write_errors(path):
                path.mkdir(parents=True, exist_ok=True)
                handle = stack.enter_context(lock_file(path / LOCK, shared=shard != WHOLE_RUN))
            folder = cls._prepare(path, config, handle, alone=shard == WHOLE_RUN)
            if shard != WHOLE_RUN:
                folder._check_shards(shard[1])
                stack.enter_context(lock_file(path / f"{LOCK}-{format_shard(shard)}"))
            yield folder

    @classmethod
    def _prepare(cls, path: Path, config: Config | ProbeConfig, handle: int, alone: bool) -> "Folder":
        """Write the config, or update the stored one, which needs an exclusive lock."""
        config_path, data = path / CONFIG, config.as_data()
        if not config_path.exists():
            logs = [each.name for each in path.iterdir() if LOG_NAME.fullmatch(each.name)]
            if logs:
                raise DuelsError(f"{path} has logs but no {CONFIG}; name another folder with --out.")
            with suppress(FileExistsError):  # another shard may start at the same time
                write_config(config_path, data, version("duels"), over=False)
        folder = cls(path)
        check_same_run(data, folder.config, path)
        # Reports still show the cost if a run continues without a budget.
        data["currency"] = data["currency"] or folder.config["currency"]
        if None in data["prices"].values():
            data["prices"] = folder.config["prices"]
        changed = [name for name in ADJUSTABLE if folder.config.get(name) != data.get(name)]
        if changed:
            if not (alone or _try_lock(handle, shared=False)):
                raise DuelsError(
                    f"{path} is in use by a run with different {' and '.join(changed)}. Try again later."
                )
            write_config(config_path, data, folder.versions[0])
            if not alone:
                _try_lock(handle, shared=True)
        if version("duels") not in folder.versions:
            record_version(path, version("duels"))
        return cls(path)

    def _check_shards(self, shards: int) -> None:
        """Raise DuelsError for another number of shards, which would play some matches twice."""
        for each in self.path.glob(f"{LOCK}-*-of-*"):
            before = each.name.rpartition("-")[2]
            if before != str(shards):
                raise DuelsError(f"{self.path} is split into {before} shards, not {shards}.")

    @property
    def is_probe(self) -> bool:
        return bool(self.config["kind"] == PROBE)

    def list_logs(self) -> list[Path]:
        """Return the logs of matches, or of a probe's answers, by name."""
        if self.is_probe:
            return sorted(self.path.glob("answers-*.jsonl"))
        return sorted(each for each in self.path.iterdir() if LOG_NAME.fullmatch(each.name))

    def list_pairs(self, game: str) -> list[int]:
        """Return the planned pairs of every pairing in a game, for the shards that have logs here."""
        pairs = range(self.config["matches"][game] // 2)
        shards = {parse_log_shard(log) for log in self.list_logs()} or {WHOLE_RUN}
        return [pair for pair in pairs if any(is_in_shard(pair, shard) for shard in shards)]

    def is_planned(self, row: Row) -> bool:
        """Whether a match counts. A run may have played more matches than it now asks for."""
        return bool(2 * row["pair"] < self.config["matches"][row["game"]])

    def load_rows(self) -> dict[str, Row]:
        """Read all matches or answers, by key. Damaged lines are skipped."""
        merged = MergedRows()
        for log in self.list_logs():
            for where, row in read_rows(log, self.damaged):
                merged.add(where, row)
        self._differences = merged.describe_differences(self.is_probe)
        return merged.rows()

    def iter_requests(self, prefix: str = "") -> Iterator[Row]:
        """Yield the requests to models with their replies. The prefix of a shard excludes other shards.

        A damaged line yields an upper bound, because the request was probably paid for.
        """
        longest = self.config["model"].get("max_tokens", 0)
        for log in sorted(self.path.glob("requests-*.jsonl")):
            shard = _OF_SHARD.match(log.name)
            if prefix and shard and shard[1] != prefix:
                continue
            damaged: dict[str, bytes] = {}
            ids = set()
            for row in join_replies(row for _, row in iter_lines(log, damaged, REQUEST)):
                ids.add(row["id"])
                yield row
            for line in damaged.values():
                match = _ID.search(line)
                request_id = match[1].decode() if match else token_hex(8)
                if request_id not in ids:  # else the readable line of this request has the usage
                    ids.add(request_id)
                    # The line includes the prompt, and every token has at least one byte.
                    yield {"id": request_id, "at_most": [len(line), longest]}
            self.damaged |= damaged

    def list_notes(self, complete: bool) -> tuple[str, ...]:
        """Return warnings about the logs that were read, for a report.

        `complete` says whether all planned matches or answers were read.
        """
        by = f"Played by several versions of duels: {', '.join(self.versions)}."
        damage = f"{self.damage} {self._repair}".rstrip() if complete else self.damage
        notes = [by] * (len(self.versions) > 1) + [self._differences, damage]
        return tuple(filter(None, notes))

    @property
    def damage(self) -> str:
        """A sentence about unreadable lines; empty if there are none."""
        if not self.damaged:
            return ""
        first, *more = self.damaged
        if not more:
            return f"Skipped a damaged line of a log: {first}."
        return f"Skipped {len(self.damaged)} damaged lines of logs, the first in {first}."

    @property
    def _repair(self) -> str:
        if all(where.startswith("requests-") for where in self.damaged):  # requests are not repeated
            return ""
        one = len(self.damaged) == 1
        if self.is_probe:
            return "Its question was asked again." if one else "Questions in them were asked again."
        return "Its match was played again." if one else "Matches in them were played again."

    def open_request_log(self, worker: str) -> Log:
        return Log(self.path, worker, "requests", SYNC_NOW)

    def get_bot_log_path(self, player: str, worker: str) -> Path:
        """Return the file for a program's stderr, and create its folder."""
        folder = self.path / "bots"
        folder.mkdir(exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", player)
        return folder / f"{name}-{worker}.log"

    def lock_as_worker(self, prefix: str) -> int:
        """Lock the folder for a worker, and return the handle to close when it ends."""
        handle = os.open(self.path / f"{_WORKERS}{prefix}", os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_SH)
        return handle

    def wait_for_workers(self, prefix: str) -> None:
        """Wait until the workers of a killed run have finished their matches.

        A shard waits for its own workers and those of a whole run; a whole run waits for all.
        """
        names = {f"{_WORKERS}{prefix}", _WORKERS} if prefix else None
        for path in self.path.glob(f"{_WORKERS}*"):
            if names is None or path.name in names:
                handle = os.open(path, os.O_RDWR)
                if fcntl:
                    fcntl.flock(handle, fcntl.LOCK_EX)
                os.close(handle)


@contextmanager
def explain_write_errors(folder: Path) -> Iterator[None]:
    """Turn OSError into a DuelsError that names the folder and says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise DuelsError(f"cannot write to the folder {folder}: {reason}. Name another with --out.") from None


@contextmanager
def lock_file(path: Path, shared: bool = False) -> Iterator[int]:
    """Hold a lock, shared or exclusive. Raises DuelsError if another process has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(handle, shared):
            raise DuelsError(f"{path.parent} is in use by another process.")
        yield handle
    finally:
        os.close(handle)


def _try_lock(handle: int, shared: bool) -> bool:
    if fcntl:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
    return True


def write_config(path: Path, config: Mapping[str, Any], began_by: str, over: bool = True) -> None:
    """Write a config with the version of duels that began the run."""
    content = {"format": FORMAT, "duels": began_by, "python": python_version(), "config": config}
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode(), over)


def record_version(folder: Path, continued_by: str) -> None:
    """Record a version of duels that continued the run. Shards may do so at the same time."""
    with suppress(FileExistsError):
        write_atomically(folder / f"{_CONTINUED}{continued_by}", b"")


def _read_config(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a folder's config and the versions of duels that played the run."""
    config_path = path / CONFIG
    if not config_path.is_file():
        raise DuelsError(f"{path} is not the folder of a run: it has no {CONFIG}.")
    try:
        content = json.loads(config_path.read_text(encoding="utf-8"))
        form, config = content["format"], {"kind": None, **content["config"]}
        began_by = content["duels"]
    except (ValueError, TypeError, KeyError):
        raise DuelsError(f"{config_path} is not the config of a run.") from None
    if form != FORMAT:
        raise DuelsError(f"{path} was made by another version of duels: format {form}, not {FORMAT}.")
    continued_by = sorted(each.name.removeprefix(_CONTINUED) for each in path.glob(f"{_CONTINUED}*"))
    return config, (began_by, *continued_by)


def merge(sources: Iterable[Path], target: Path, warn: Progress = no_progress) -> int:
    """Merge runs or probes of one config into a new folder, and return its number of matches or answers.

    Raises DuelsError if the configs differ or the target is not empty.
    """
    folders = [Folder(source) for source in sources]
    currency = _check_mergeable(folders)
    with explain_write_errors(target):
        if target.exists() and any(target.iterdir()):
            raise DuelsError(f"{target} is not empty; name another folder with --out.")
        target.mkdir(parents=True, exist_ok=True)
    merged = MergedRows()
    for name, rows in _group_rows_by_log(folders, merged).items():
        write_rows(target / name, (rows[key] for key in sorted(rows)))
    requests: dict[str, Row] = {}
    for row in (row for folder in folders for row in folder.iter_requests()):
        if row["id"] not in requests or "status" in row:
            requests[row["id"]] = row
    if requests:
        write_rows(target / "requests-merged.jsonl", requests.values())
    largest = max(folders, key=lambda folder: sum(folder.config.get("matches", {}).values()))
    began_by, *others = dict.fromkeys(each for folder in (largest, *folders) for each in folder.versions)
    for each in others:
        record_version(target, each)
    write_config(target / CONFIG, {**largest.config, "currency": currency}, began_by)
    warnings = [f"{folder.path}: {folder.damage}" for folder in folders if folder.damage]
    for text in filter(None, [*warnings, merged.describe_differences(folders[0].is_probe)]):
        warn(text)
    return len(merged.rows())


def _check_mergeable(folders: Sequence[Folder]) -> str:
    """Return the common currency. Raises DuelsError if the runs or their currencies differ."""
    first, *others = folders
    for other in others:
        for name, value in first.config.items():
            if name not in ADJUSTABLE and other.config.get(name) != value:
                raise DuelsError(f"{first.path} and {other.path} are different runs: {name} differs.")
    currencies = sorted({folder.config["currency"] for folder in folders} - {""})
    if len(currencies) > 1:
        raise DuelsError(f"These runs have costs in different currencies: {' and '.join(currencies)}.")
    return "".join(currencies)


def _group_rows_by_log(folders: Iterable[Folder], merged: MergedRows) -> dict[str, dict[str, Row]]:
    """Group rows, each once, by the name of the merged log, which includes the shard."""
    logs: dict[str, dict[str, Row]] = {}
    for folder in folders:
        for log in folder.list_logs():
            shard = format_shard(parse_log_shard(log))
            name = "answers-merged.jsonl" if folder.is_probe else f"log-{shard and shard + '-'}merged.jsonl"
            rows = logs.setdefault(name, {})
            for where, row in read_rows(log, folder.damaged):
                if merged.add(str(folder.path / where), row):
                    rows[row["key"]] = row
    return logs


_PLAIN = ("key", "game", "pair", "seed", "result", "ending", "score", "adjusted")
_JSON = ("options", "failures", "blunders", "manners")
_BY_SEAT = ("players", "shortfalls", "decisions", "forfeited")
_USAGE = ("prompt_tokens", "completion_tokens", "requests")
_ANSWER = ("key", "game", "seat", "position", "sample", "action")


def write_parquet(folder: Folder, path: Path, over: bool = False) -> int:
    """Write all matches or answers as a Parquet file, by key, and return their number."""
    rows = folder.load_rows()
    flatten = _flatten_answer if folder.is_probe else _flatten_match
    write_atomically(path, encode_parquet(flatten(rows[key]) for key in sorted(rows)), over)
    return len(rows)


def encode_parquet(rows: Iterable[Mapping[str, Any]]) -> bytes:
    with require_extra("arena"):
        import pyarrow as arrow
        from pyarrow import parquet
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content


def _flatten_match(row: Row) -> dict[str, Any]:
    used = row.get("usage", [[0] * len(_USAGE)] * 2)
    return {
        **{name: row[name] for name in _PLAIN},
        **{f"{name}_{seat}": row[name][seat - 1] for name in _BY_SEAT for seat in (1, 2)},
        **{f"{name}_{seat}": used[seat - 1][place] for place, name in enumerate(_USAGE) for seat in (1, 2)},
        "entries": row["entries"],
        **{name: json.dumps(row[name]) for name in _JSON},
    }


def _flatten_answer(row: Row) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _ANSWER},
        **dict(zip(_USAGE, row["usage"], strict=True)),
        **{name: json.dumps(row[name]) for name in ("policy", "failures")},
    }
