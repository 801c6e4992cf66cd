"""The folder of a run or probe: its config, and one append-only log for each worker.

The key of a row is a hash of the planned match or question. So nothing is played or asked twice, and folders
from several machines can be merged by joining their rows.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.metadata import version
from math import comb
from pathlib import Path
from platform import python_version
from secrets import token_hex
from typing import Any

from duels.arena.config import PROBE, RUN, Config, ProbeConfig, make_match_seed
from duels.arena.logs import LOG_NAME, SYNC_NOW, Log, MergedRows, iter_lines, write_rows
from duels.arena.match_plan import MatchPlan
from duels.arena.schemas import (
    DIGEST,
    PROBE_SCHEMA,
    RUN_SCHEMA,
    VERSION,
    Row,
    can_replay,
    check_schema,
    is_answer,
    is_match,
    is_request,
    make_answer_key,
    make_digest,
)
from duels.core.errors import DuelsError, escape_unprintable, require_extra
from duels.core.rules import AnyRules
from duels.files import try_lock, write_atomically
from duels.games import find_game
from duels.players.endpoint import join_replies
from duels.solving.oracle import Progress, no_progress

FORMAT, FORMAT_WITHOUT_DIGESTS = 4, 3
"""The format version of a run's folder, and the earlier version that can be read and continued."""
CONFIG = "config.json"
LOCK = ".lock"
_ADJUSTABLE = ("matches", "until", "budget", "currency", "prices")  # may differ when a run continues
_FIRST_CONDITIONS = {"prompt": 1, "ask_forced": True, "memory": "none", "form": "text"}
"""Conditions of models in folders of earlier versions, which do not store them."""
_CONTINUED = "continued-by-"  # then a version of duels; such a file is empty, so writing it needs no lock
_WORKERS = ".workers-"
_ID = re.compile(rb'"id": "(\w+)"')
_SHARD_PREFIX = re.compile(r"requests-([0-9]+-of-[0-9]+-)")

MatchScore = tuple[float, float]
"""Player 1's score in a match, and the score adjusted for luck."""

WHOLE_RUN = (1, 1)
"""The shard of a run that is not split."""


def read_score(row: Row) -> MatchScore:
    """Read the scores from a row of a run."""
    return row["score"], row["adjusted"]


def is_in_shard(pair: int, shard: tuple[int, int]) -> bool:
    """Whether a pair belongs to a shard. The I-th of N shards has every N-th pair, from the I-th on."""
    index, count = shard
    return pair % count == index - 1


def format_shard(shard: tuple[int, int]) -> str:
    """Format a shard for the names of locks and logs: `1-of-4`; empty for a whole run."""
    return "" if shard == WHOLE_RUN else f"{shard[0]}-of-{shard[1]}"


def parse_log_shard(log: Path) -> tuple[int, int]:
    """Return the shard that wrote a log, from the log's name."""
    name = LOG_NAME.fullmatch(log.name)
    return (int(name[1]), int(name[2])) if name and name[1] else WHOLE_RUN


class Folder:
    """The existing folder of a run or probe. Raises DuelsError if it has no valid config."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.format, self.config, self.versions = _read_config(path)
        """The versions of duels that began and continued the run."""
        self.unfinished: tuple[str, ...] = ()
        """Why the last call left matches or questions unfinished."""
        self.is_spent = False
        self.damaged: dict[str, bytes] = {}
        """Damaged log lines by location, such as `log-1.jsonl, line 3`."""
        self._merged = MergedRows()
        self.get_rules = cache(self._make_rules)

    @classmethod
    @contextmanager
    def open_locked(
        cls, path: Path, config: Config | ProbeConfig, shard: tuple[int, int] = WHOLE_RUN
    ) -> Iterator["Folder"]:
        """Lock the folder of a run or probe, and create it if necessary.

        Shards of a run can share a folder, but a whole run needs an exclusive lock. Raises DuelsError and
        changes nothing if another process has locked the folder, or the folder belongs to another run.
        """
        with ExitStack() as stack:
            with explain_write_errors(path):
                path.mkdir(parents=True, exist_ok=True)
                handle = stack.enter_context(lock_file(path / LOCK, shared=shard != WHOLE_RUN))
            folder = cls._prepare(path, config, handle, exclusive=shard == WHOLE_RUN)
            if shard != WHOLE_RUN:
                folder._check_shards(shard[1])
                stack.enter_context(lock_file(path / f"{LOCK}-{format_shard(shard)}"))
            yield folder

    @classmethod
    def _prepare(cls, path: Path, config: Config | ProbeConfig, handle: int, exclusive: bool) -> "Folder":
        """Write the config, or update the stored config, which needs an exclusive lock."""
        config_path, data = path / CONFIG, config.as_data()
        if not config_path.exists():
            logs = [each.name for each in path.iterdir() if LOG_NAME.fullmatch(each.name)]
            if logs:
                raise DuelsError(f"{path} has logs but no {CONFIG}; name another folder with --out.")
            with suppress(FileExistsError):  # another shard may start at the same time
                write_config(config_path, data, version("duels"), FORMAT, overwrite=False)
        folder = cls(path)
        _check_same_run(data, folder.config, path)
        # Reports still show the cost if a run continues without a budget.
        data["currency"] = data["currency"] or folder.config["currency"]
        if None in data["prices"].values():
            data["prices"] = folder.config["prices"]
        changed = [name for name in _ADJUSTABLE if folder.config.get(name) != data.get(name)]
        if changed:
            if not (exclusive or try_lock(handle, shared=False)):
                raise DuelsError(
                    f"{path} is in use by a run with different {' and '.join(changed)}. Try again later."
                )
            write_config(config_path, data, folder.versions[0], folder.format)
            if not exclusive:
                try_lock(handle, shared=True)
        if version("duels") not in folder.versions:
            record_version(path, version("duels"))
        return cls(path)

    def _check_shards(self, shards: int) -> None:
        """Raise DuelsError for another number of shards, which would play some matches twice."""
        for each in self.path.glob(f"{LOCK}-*-of-*"):
            stored = each.name.rpartition("-")[2]
            if stored != str(shards):
                raise DuelsError(f"{self.path} is split into {stored} shards, not {shards}.")

    @property
    def is_probe(self) -> bool:
        return bool(self.config["kind"] == PROBE)

    def list_logs(self) -> list[Path]:
        """Return the logs of matches, or of a probe's answers, by name."""
        if self.is_probe:
            return sorted(self.path.glob("answers-*.jsonl"))
        return sorted(each for each in self.path.iterdir() if LOG_NAME.fullmatch(each.name))

    def list_pairs(self, game: str) -> list[int]:
        """Return the planned pairs of each pairing in a game, for the shards with logs in this folder."""
        pairs = range(self.config["matches"][game] // 2)
        shards = {parse_log_shard(log) for log in self.list_logs()} or {WHOLE_RUN}
        return [pair for pair in pairs if any(is_in_shard(pair, shard) for shard in shards)]

    def count_planned(self) -> int:
        """Return the number of planned matches, for the shards with logs in this folder."""
        pairs = sum(len(self.list_pairs(game)) for game in self.config["games"])
        return 2 * pairs * comb(len(self.config["players"]), 2)

    def count_missing(self, rows: Iterable[Row]) -> int:
        """Return the number of planned matches that are not among `rows`.

        A run with `until` may end early, so there only gaps between the matches of two players count.
        """
        by_pairing: dict[tuple[str, frozenset[str]], set[tuple[int, str]]] = defaultdict(set)
        for row in filter(self.is_planned, rows):
            players = row["players"]
            by_pairing[row["game"], frozenset(players)].add((row["pair"], players[0]))
        planned = self.count_planned()
        if self.config["until"] is not None:
            planned = sum(2 * (max(pair for pair, _ in matches) + 1) for matches in by_pairing.values())
        return planned - sum(map(len, by_pairing.values()))

    def is_planned(self, row: Row) -> bool:
        """Whether a match counts. A run may have logged more matches than its config asks for."""
        return bool(2 * row["pair"] < self.config["matches"][row["game"]])

    def iter_rows(self, log: Path) -> Iterator[tuple[str, Row]]:
        """Yield the location and content of each match or answer in a log. Damaged lines are skipped.

        A row of another run, or one that cannot be right, counts as damaged. Raises DuelsError for rows of
        another version of duels.
        """
        for location, row, has_digest in iter_lines(log, self._is_valid, self.damaged, self._needs_digests):
            if row["v"] != VERSION:
                raise DuelsError(f"{self.path / location}: this row was written by another version of duels.")
            # Without a digest, only a replay shows that the entries were not changed.
            if has_digest or self.is_probe or can_replay(row, self.get_rules(row["game"])):
                yield location, row
            else:
                self.damaged[location] = b""

    @property
    def _needs_digests(self) -> bool:
        return self.format != FORMAT_WITHOUT_DIGESTS

    def _is_valid(self, row: Row) -> bool:
        """Whether a row belongs to this run or probe and can be right. Other versions are not checked."""
        if type(row.get("v")) is int and row["v"] != VERSION:
            return True
        if self.is_probe:
            return is_answer(row) and row["game"] in self.config["games"] and self._has_answer_key(row)
        return is_match(row) and self.find_plan(row) is not None

    def _has_answer_key(self, row: Row) -> bool:
        rules = self.get_rules(row["game"])
        return bool(row["key"] == make_answer_key(rules, row["seat"], row["position"], row["sample"]))

    def find_plan(self, row: Row) -> MatchPlan | None:
        """Return the planned match of a row, or None if this run does not plan it."""
        game, (one, two), config = row["game"], row["players"], self.config
        names = list(config["players"])
        if game not in config["games"] or one == two or not {one, two} <= set(names):
            return None
        first, second = sorted((one, two), key=names.index)
        seed = make_match_seed(config["seed"], game, first, second, row["pair"])
        options = tuple(sorted(self.get_rules(game).options().items()))
        plan = MatchPlan(game, options, (one, two), seed, row["pair"])
        is_planned = (row["key"], row["seed"], row["options"]) == (plan.key, seed, config["options"][game])
        return plan if is_planned else None

    def _make_rules(self, game: str) -> AnyRules:
        return find_game(game).rules(**self.config.get("options", {}).get(game, {}))

    def load_rows(self) -> dict[str, Row]:
        """Read all matches or answers, by key. Damaged lines are skipped."""
        self._merged = MergedRows()
        for log in self.list_logs():
            for location, row in self.iter_rows(log):
                self._merged.add(location, row)
        return self._merged.rows()

    def find_location(self, key: str) -> str:
        """Return the location of a row that `load_rows` read."""
        return self._merged.find_location(key)

    def skip_row(self, key: str) -> Row | None:
        """Count the first row with a key as damaged. Returns the next row with the key."""
        location, other = self._merged.drop_first(key)
        self.damaged[location] = b""
        return other

    def iter_requests(self, prefix: str = "") -> Iterator[Row]:
        """Yield the requests to models with their replies. With a shard's prefix, other shards are skipped.

        A damaged line yields an upper bound of its usage, because the request was probably paid for.
        """
        max_tokens = self.config["model"].get("max_tokens", 0)
        for log in sorted(self.path.glob("requests-*.jsonl")):
            shard = _SHARD_PREFIX.match(log.name)
            if prefix and shard and shard[1] != prefix:
                continue
            damaged: dict[str, bytes] = {}
            ids = set()
            lines = iter_lines(log, is_request, damaged, self._needs_digests)
            for row in join_replies(row for _, row, _ in lines):
                ids.add(row["id"])
                yield row
            for line in damaged.values():
                match = _ID.search(line)
                request_id = match[1].decode() if match else token_hex(8)
                if request_id not in ids:  # else a readable line of this request has the usage
                    ids.add(request_id)
                    # The line includes the prompt, and every token has at least one byte.
                    yield {"id": request_id, "at_most": [len(line), max_tokens]}
            self.damaged |= damaged

    def find_new_damage(self, logged: set[str]) -> tuple[str, ...]:
        """Read the logs again, and return a sentence if they were damaged after the folder was opened.

        `logged` are the keys of the rows that should be there.
        """
        now = Folder(self.path)
        lost = logged - now.load_rows().keys()
        for _ in now.iter_requests():
            pass
        damaged = [location for location in now.damaged if location not in self.damaged]
        if not lost and not damaged:
            return ()
        first = f", the first in {damaged[0]}" if damaged else ""
        return (f"logs were damaged meanwhile: {len(lost)} rows lost, {len(damaged)} lines damaged{first}",)

    def list_notes(self, complete: bool) -> tuple[str, ...]:
        """Return warnings about the logs that were read, for a report.

        `complete` says whether all planned matches or answers were read.
        """
        versions = f"Played by several versions of duels: {', '.join(self.versions)}."
        damage = self.damage
        if complete and not all(location.startswith("requests-") for location in self.damaged):
            damage += (
                " Lost questions were asked again." if self.is_probe else " Lost matches were played again."
            )
        differences = self._merged.describe_differences(self.is_probe)
        return tuple(filter(None, [versions * (len(self.versions) > 1), differences, damage]))

    @property
    def damage(self) -> str:
        """A sentence about damaged lines; empty if there are none."""
        if not self.damaged:
            return ""
        count, first = len(self.damaged), next(iter(self.damaged))
        return f"Skipped {count} damaged line{'s' * (count > 1)} of logs, the first in {first}."

    def open_request_log(self, worker: str) -> Log:
        return Log(self.path, worker, "requests", SYNC_NOW)

    def get_bot_log_path(self, player: str, worker: str) -> Path:
        """Return the file for a program's stderr, and create its folder."""
        folder = self.path / "bots"
        folder.mkdir(exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", player)
        return folder / f"{name}-{worker}.log"

    def lock_as_worker(self, prefix: str) -> int:
        """Lock the folder for a worker. Returns a handle, which the worker closes when it ends."""
        handle = os.open(self.path / f"{_WORKERS}{prefix}", os.O_RDWR | os.O_CREAT, 0o600)
        try_lock(handle, shared=True, wait=True)
        return handle

    def wait_for_workers(self, prefix: str) -> None:
        """Wait until the workers of a killed run have finished their matches.

        A shard waits for its own workers and for workers of a whole run. A whole run waits for all workers.
        """
        for path in self.path.glob(f"{_WORKERS}*"):
            if not prefix or path.name in (f"{_WORKERS}{prefix}", _WORKERS):
                handle = os.open(path, os.O_RDWR)
                try_lock(handle, shared=False, wait=True)
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
    """Hold a shared or exclusive lock on a file. Raises DuelsError if another process holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not try_lock(handle, shared):
            raise DuelsError(f"{path.parent} is in use by another process. Try again later.")
        yield handle
    finally:
        os.close(handle)


def write_config(
    path: Path, config: Mapping[str, Any], first_version: str, format_number: int, overwrite: bool = True
) -> None:
    """Write a config with its digest and the version of duels that began the run."""
    content = {"format": format_number, "duels": first_version, "python": python_version(), "config": config}
    content[DIGEST] = make_digest(config)
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode(), overwrite)


def record_version(folder: Path, continued_by: str) -> None:
    """Record a version of duels that continued the run. Several shards may call this at the same time."""
    with suppress(FileExistsError):
        write_atomically(folder / f"{_CONTINUED}{continued_by}", b"")


def _read_config(path: Path) -> tuple[int, dict[str, Any], tuple[str, ...]]:
    """Return the format, the config, and the versions of duels."""
    config_path = path / CONFIG
    if not config_path.is_file():
        raise DuelsError(f"{path} is not the folder of a run: it has no {CONFIG}.")
    try:
        content = json.loads(config_path.read_text(encoding="utf-8"))
        form, config = content["format"], {"kind": RUN, **content["config"]}
        digest = content.get(DIGEST)
        is_changed = (digest or form == FORMAT) and digest != make_digest(config)
        if config.get("model"):
            config["model"] = {**_FIRST_CONDITIONS, **config["model"]}
        began_by = escape_unprintable(content["duels"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DuelsError(f"{config_path} is not the config of a run.") from None
    if form not in (FORMAT, FORMAT_WITHOUT_DIGESTS):
        raise DuelsError(f"{path} was made by another version of duels: format {form!r}, not {FORMAT}.")
    try:
        check_schema(config, PROBE_SCHEMA if config["kind"] == PROBE else RUN_SCHEMA)
        games = set(config["games"])
        if config["kind"] == RUN and not games == set(config["matches"]) == set(config["options"]):
            raise DuelsError("'games', 'matches' and 'options' name different games.")
        if is_changed:
            raise DuelsError("its digest does not match, so it was changed after the run began.")
    except DuelsError as error:
        raise DuelsError(f"{config_path} is damaged: {error} Correct it or restore it from a copy.") from None
    versions = (each.name.removeprefix(_CONTINUED) for each in path.glob(f"{_CONTINUED}*"))
    return form, config, (began_by, *sorted(map(escape_unprintable, versions)))


def _find_difference(one: Mapping[str, Any], two: Mapping[str, Any]) -> str:
    return next((name for name in one if name not in _ADJUSTABLE and one[name] != two.get(name)), "")


def _check_same_run(new: Mapping[str, Any], old: Mapping[str, Any], folder: Path) -> None:
    if name := _find_difference(new, old):
        raise DuelsError(f"{folder} belongs to another run: {name} differs. Name another folder with --out.")
    stored, currency = old["currency"], new["currency"]
    if stored and currency and stored != currency:
        raise DuelsError(
            f"{folder} has costs in {stored}, not in {currency}: pass prices and a budget in {stored}."
        )


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
    write_config(target / CONFIG, {**largest.config, "currency": currency}, began_by, FORMAT)
    warnings = [f"{folder.path}: {folder.damage}" for folder in folders if folder.damage]
    for text in filter(None, [*warnings, merged.describe_differences(folders[0].is_probe)]):
        warn(text)
    return len(merged.rows())


def _check_mergeable(folders: Sequence[Folder]) -> str:
    """Return the common currency. Raises DuelsError if the runs or their currencies differ."""
    first, *others = folders
    for other in others:
        if name := _find_difference(first.config, other.config):
            raise DuelsError(f"{first.path} and {other.path} are different runs: {name} differs.")
    currencies = sorted({folder.config["currency"] for folder in folders} - {""})
    if len(currencies) > 1:
        raise DuelsError(f"These runs have costs in different currencies: {' and '.join(currencies)}.")
    return "".join(currencies)


def _group_rows_by_log(folders: Iterable[Folder], merged: MergedRows) -> dict[str, dict[str, Row]]:
    """Return the rows by new log (one per shard) and key, and add them to `merged`."""
    logs: dict[str, dict[str, Row]] = {}
    for folder in folders:
        for log in folder.list_logs():
            shard = format_shard(parse_log_shard(log))
            name = "answers-merged.jsonl" if folder.is_probe else f"log-{shard and shard + '-'}merged.jsonl"
            rows = logs.setdefault(name, {})
            for location, row in folder.iter_rows(log):
                if merged.add(str(folder.path / location), row):
                    rows[row["key"]] = row
    return logs


_COPIED_FIELDS = ("key", "game", "pair", "seed", "result", "ending", "score", "adjusted")
_JSON_FIELDS = ("options", "failures", "blunders", "manners")
_SEAT_FIELDS = ("players", "shortfalls", "decisions", "forfeited")
_USAGE_KEYS = ("prompt_tokens", "completion_tokens", "requests")
_ANSWER_FIELDS = ("key", "game", "seat", "position", "sample", "action")


def write_parquet(folder: Folder, path: Path, overwrite: bool = False) -> int:
    """Write all matches or answers to a Parquet file, sorted by key. Returns their number."""
    rows = folder.load_rows()
    flatten = _flatten_answer if folder.is_probe else _flatten_match
    write_atomically(path, encode_parquet(flatten(rows[key]) for key in sorted(rows)), overwrite)
    return len(rows)


def encode_parquet(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Encode rows as a Parquet file. Raises DuelsError without the extra `arena`."""
    with require_extra("arena"):
        import pyarrow as arrow
        from pyarrow import parquet
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content


def _flatten_match(row: Row) -> dict[str, Any]:
    usage = row.get("usage", [[0] * len(_USAGE_KEYS)] * 2)
    by_seat = {name: row[name] for name in _SEAT_FIELDS} | dict(
        zip(_USAGE_KEYS, zip(*usage, strict=True), strict=True)
    )
    return {
        **{name: row[name] for name in _COPIED_FIELDS},
        **{f"{name}_{seat}": values[seat - 1] for name, values in by_seat.items() for seat in (1, 2)},
        "entries": row["entries"],
        **{name: json.dumps(row[name]) for name in _JSON_FIELDS},
    }


def _flatten_answer(row: Row) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _ANSWER_FIELDS},
        **dict(zip(_USAGE_KEYS, row["usage"], strict=True)),
        **{name: json.dumps(row[name]) for name in ("policy", "failures")},
    }
