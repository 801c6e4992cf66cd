"""Export of datasets: matches between machine players, with every decision graded.

A line of a JSON Lines file is a match; a row of a Parquet file is a decision. An interrupted run can be
continued.
"""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from duels.analysis.encoding import ObservationEncoder
from duels.core.errors import DuelsError, require_extra
from duels.core.match import AnyMatch, Match
from duels.core.options import options_data
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.files import exclusive_writer, name_file_in_errors, temporary_path
from duels.play.dice import Dice
from duels.play.step import decide_next_entry
from duels.players import Player, make_player
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle

ProgressCallback = Callable[[int, int], None]
"""Called with the number of finished matches and the total."""

BATCH_SIZE = 1000  # matches per row group of a Parquet file; small groups make it large and slow


@dataclass(frozen=True)
class Export:
    """A run: its rules, players, seed and number of matches."""

    rules: AnyRules
    players: tuple[str, str]
    seed: str
    games: int

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that describe the run in every line of the file."""
        return {
            "game": self.rules.name,
            "options": options_data(self.rules.options()),
            "players": list(self.players),
            "seed": self.seed,
        }


def export(
    run: Export, path: Path, progress: ProgressCallback = lambda done, games: None, jobs: int = 1
) -> int:
    """Write the matches of `run` to a .jsonl or .parquet file. Return the number that the file already had.

    Existing matches are kept, even if there are more than `run` needs. `jobs` is the number of processes.
    Raises FileInUse if another program is writing to the file, and DuelsError if it belongs to another run.
    """
    if not path.parent.is_dir():
        raise DuelsError(f"The folder {path.parent} does not exist.")
    if path.suffix == ".jsonl":
        with exclusive_writer(path):
            return _write_lines(run, path, progress, jobs=jobs)
    if path.suffix == ".parquet":
        with require_extra("data"):
            import pyarrow  # noqa: F401
        # A Parquet file can only be written as a whole, so matches are first collected line by line.
        lines = path.with_name(path.name + ".jsonl")
        with exclusive_writer(lines):
            finished = _count_parquet_matches(run, path)
            if finished >= run.games:
                return finished
            start = _write_lines(run, lines, progress, finished, jobs)
            _write_parquet(run, lines, path, finished)
            lines.unlink()
            return min(start, run.games)
    raise DuelsError(f"The file name must end with .jsonl or .parquet, not with '{path.suffix}'.")


# -- JSON Lines --------------------------------------------------------------------------------------


def _write_lines(run: Export, path: Path, progress: ProgressCallback, first: int = 0, jobs: int = 1) -> int:
    """Write the matches from number `first`; return the number of the first new one."""
    start = _find_next_number(run, path, first)
    with name_file_in_errors(path), path.open("a", encoding="utf-8") as file:
        for match in play_matches(run, start, progress, jobs):
            file.write(_format_line(match))
            file.flush()
    return start


def play_matches(run: Export, first: int, progress: ProgressCallback, jobs: int) -> Iterator[dict[str, Any]]:
    """Play the matches from number `first` and yield them in order."""
    numbers = range(first, run.games)
    if jobs == 1 or len(numbers) < 2:
        for number in numbers:
            progress(number, run.games)
            yield play_match(run, number)
    else:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            matches = pool.map(partial(play_match, run), numbers, chunksize=4)
            for number, match in zip(numbers, matches, strict=True):
                progress(number, run.games)
                yield match
    progress(run.games, run.games)


@lru_cache(maxsize=1)
def _make_oracle_and_players(run: Export) -> tuple[Any, dict[Seat, Player]]:
    players = {seat: make_player(name, run.rules) for seat, name in zip(Seat, run.players, strict=True)}
    return get_oracle(run.rules), players


def _find_next_number(run: Export, path: Path, first: int) -> int:
    """Check the file, remove an incomplete last line and return the number of the next match.

    The file begins with match number `first`. It begins with an earlier one if the run was interrupted
    between writing these matches to the Parquet file and removing this file.
    """
    content = path.read_bytes()
    complete_lines = content[: content.rfind(b"\n") + 1]
    numbers: list[Any] = []
    for line_number, line in enumerate(complete_lines.splitlines(), start=1):
        try:
            head = json.loads(line)
        except ValueError:
            raise DuelsError(f"{path}, line {line_number}: not a match in JSON.") from None
        number = head.get("number") if isinstance(head, dict) else None
        is_next = number == numbers[-1] + 1 if numbers else number in range(first + 1)
        if not is_next or any(head.get(key) != value for key, value in run.fields.items()):
            raise DuelsError(
                f"{path}, line {line_number}: this match belongs to another run; choose another file."
            )
        numbers.append(number)
    next_number = numbers[-1] + 1 if numbers else first
    if next_number < first:
        raise DuelsError(f"{path}: matches are missing after the last one; remove the file.")
    if fragment := content[len(complete_lines) :]:
        start = _format_line({**run.fields, "number": next_number}).rstrip("}\n").encode()
        if not (fragment.startswith(start) or start.startswith(fragment)):
            raise DuelsError(
                f"{path}, line {len(numbers) + 1}: not a match of this run; choose another file."
            )
        os.truncate(path, len(complete_lines))
    return next_number


def _format_line(match: dict[str, Any]) -> str:
    return json.dumps(match, ensure_ascii=False) + "\n"


def play_match(run: Export, number: int) -> dict[str, Any]:
    """Play the match with this number, from the seed `SEED NUMBER`."""
    oracle, players = _make_oracle_and_players(run)
    dice = Dice(f"{run.seed} {number}")
    match: AnyMatch = Match.start(run.rules)
    turns = []
    while match.actor is not None:
        entry = decide_next_entry(match, players, dice)
        if isinstance(entry.actor, Seat):
            turns.append(_grade_turn(oracle, players[entry.actor], match.sight(entry.actor), entry.action))
        else:
            turns.append({**_UNGRADED, "actor": "chance", "action": run.rules.format(entry.action)})
        match = entry.play(match)
    assert match.outcome
    winner = match.outcome.winner
    return {
        **run.fields,
        "number": number,
        "result": match.outcome.code,
        "ending": match.outcome.ending.value,
        "winner": winner.value if winner else None,
        "turns": turns,
    }


# The fields of a turn, in order; most are None for chance.
_GRADE_FIELDS = ("position", "action", "value", "regret", "exactness", "error")
_UNGRADED: dict[str, Any] = dict.fromkeys(("actor", *_GRADE_FIELDS, "actions", "values", "policy"))


def _grade_turn(oracle: Any, player: Any, sight: AnySight, action: Any) -> dict[str, Any]:
    verdict, format_action = oracle.judge(sight), sight.rules.format
    odds = player.odds(sight) if hasattr(player, "odds") else None
    estimated = verdict.value.exactness is Exactness.ESTIMATE
    return {
        "actor": sight.seat.value,
        "position": sight.rules.format_position(sight),
        "action": format_action(action),
        "value": verdict.value.number,
        "regret": verdict.loss(action),
        "exactness": verdict.value.exactness.value,
        "error": None if estimated else verdict.value.error,
        "actions": [format_action(action_value.action) for action_value in verdict.actions],
        "values": [action_value.value.number for action_value in verdict.actions],
        "policy": odds and [odds.get(action_value.action, 0.0) for action_value in verdict.actions],
    }


# -- Parquet -----------------------------------------------------------------------------------------


def _count_parquet_matches(run: Export, path: Path) -> int:
    """Count the matches in a finished file. Raises DuelsError if it belongs to another run."""
    if not path.exists():
        return 0
    from pyarrow import ArrowInvalid, parquet

    try:
        schema = parquet.read_schema(path)
    except ArrowInvalid:
        raise DuelsError(f"{path}: not a Parquet file; choose another file.") from None
    expected = _make_schema(run)
    if schema.names != expected.names or not expected.metadata.items() <= (schema.metadata or {}).items():
        raise DuelsError(f"{path}: these matches belong to another run; choose another file.")
    numbers = parquet.read_table(path, columns=["number"])["number"]
    return len(numbers) and int(numbers[-1].as_py()) + 1


def _make_schema(run: Export) -> Any:
    """Return the columns of a Parquet file. Keys of `build_rows` that it lacks are not written."""
    import pyarrow as arrow

    actions = len(run.rules.all_actions())
    observation = arrow.list_(arrow.int8(), ObservationEncoder(run.rules).size)
    return arrow.schema(
        [
            ("number", arrow.int64()),
            ("move", arrow.int32()),
            ("seat", arrow.int8()),
            ("position", arrow.string()),
            ("observation", observation),
            ("action_mask", arrow.list_(arrow.int8(), actions)),
            ("action", arrow.string()),
            ("action_number", arrow.int16()),
            ("value", arrow.float64()),
            ("regret", arrow.float64()),
            ("exactness", arrow.string()),
            ("error", arrow.float64()),
            ("values", arrow.list_(arrow.float32(), actions)),
            ("policy", arrow.list_(arrow.float32(), actions)),
            ("result", arrow.string()),
            ("ending", arrow.string()),
            ("winner", arrow.int8()),
            ("reward", arrow.float32()),
            ("done", arrow.bool_()),
            ("final_observation", observation),
            ("final_action_mask", arrow.list_(arrow.int8(), actions)),
        ],
        metadata={key: json.dumps(value) for key, value in run.fields.items()},
    )


def _write_parquet(run: Export, lines: Path, path: Path, finished: int) -> None:
    """Write the `finished` matches of `path` and the next ones of `lines`, up to `run.games`."""
    import pyarrow as arrow
    from pyarrow import parquet

    schema = _make_schema(run)
    with name_file_in_errors(path), temporary_path(path) as draft:
        with (
            parquet.ParquetWriter(draft, schema, compression="zstd") as writer,
            lines.open(encoding="utf-8") as file,
        ):
            if finished:
                for batch in parquet.ParquetFile(path).iter_batches():
                    writer.write_batch(batch)
            numbers = range(finished, run.games)
            matches = (match for match in map(json.loads, file) if match["number"] in numbers)
            while rows := [row for match in islice(matches, BATCH_SIZE) for row in build_rows(run, match)]:
                writer.write_batch(arrow.RecordBatch.from_pylist(rows, schema=schema))
        os.replace(draft, path)


def build_rows(run: Export, data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a match's decisions with observations, masks and rewards, as in the environments."""
    encoder, numbers = _make_encoder_and_numbers(run.rules)
    match: AnyMatch = Match.start(run.rules)
    rows, last_rows = [], {}
    for move, turn in enumerate(data["turns"]):
        action = run.rules.parse(turn["action"])
        actor = match.actor
        assert actor is not None
        if actor is not CHANCE:
            seat = Seat(actor)
            legal = [numbers[text] for text in turn["actions"]]
            last_rows[seat] = {
                "number": data["number"],
                "move": move,
                "seat": seat.value,
                "observation": list(encoder.encode(seat, match)),
                "action_mask": _scatter(legal, [1] * len(legal), len(numbers), 0),
                "action_number": numbers[turn["action"]],
                "values": _scatter(legal, turn["values"], len(numbers), None),
                "policy": turn["policy"] and _scatter(legal, turn["policy"], len(numbers), 0.0),
                **{key: data[key] for key in ("result", "ending", "winner")},
                "reward": 0.0,
                "done": False,
                "final_observation": None,
                "final_action_mask": None,
                **{key: turn[key] for key in _GRADE_FIELDS},
            }
            rows.append(last_rows[seat])
        match = match.play(actor, action)
    for seat, row in last_rows.items():
        legal = [numbers[run.rules.format(action)] for action in encoder.next_actions(seat, match)]
        row |= {
            "reward": 0.0 if data["winner"] is None else 1.0 if data["winner"] == seat else -1.0,
            "done": True,
            "final_observation": list(encoder.encode(seat, match)),
            "final_action_mask": _scatter(legal, [1] * len(legal), len(numbers), 0),
        }
    return rows


@lru_cache(maxsize=8)
def _make_encoder_and_numbers(rules: AnyRules) -> tuple[ObservationEncoder, dict[str, int]]:
    return ObservationEncoder(rules), {
        rules.format(action): number for number, action in enumerate(rules.all_actions())
    }


def _scatter(indexes: list[int], values: list[Any], size: int, default: float | None) -> list[Any]:
    row: list[Any] = [default] * size
    for index, value in zip(indexes, values, strict=True):
        row[index] = value
    return row
