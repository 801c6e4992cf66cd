"""Writes datasets: many matches between machine players, every decision graded.

JSON lines hold a match a line, Parquet a decision a row. A run that was interrupted goes on where it was.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from duels.analysis.encoding import ObservationEncoder
from duels.core.errors import DuelsError, format_install_command
from duels.core.match import AnyMatch, Match
from duels.core.options import options_data
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.files import exclusive_writer, name_file_in_errors, temporary_path
from duels.play.dice import Dice
from duels.play.step import decide_next_entry
from duels.players import Player, make_player
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_quick_oracle

ProgressCallback = Callable[[int, int], None]
"""Is told how many matches are done, and of how many."""

BATCH_SIZE = 1000  # matches that are written to a Parquet file together: small pieces make it large and slow


@dataclass(frozen=True)
class Export:
    """What is to be played: so many matches under some rules between two kinds of players, from one seed."""

    rules: AnyRules
    players: tuple[str, str]
    seed: str
    games: int

    @property
    def head(self) -> dict[str, Any]:
        """What every line of the file says of the run it belongs to, as JSON has it."""
        options = self.rules.options()
        return {
            "game": self.rules.name,
            "options": options_data(options),
            "players": list(self.players),
            "seed": self.seed,
        }


def export(
    run: Export, path: Path, progress: ProgressCallback = lambda done, games: None, jobs: int = 1
) -> int:
    """Write the matches of `run` to `path`, a .jsonl or .parquet file; returns how many were there already.

    Matches that are in the file stay there, even if they are more than `run` asks for. InUse, if another
    program is writing to it. With more `jobs` so many processes play.
    """
    if not path.parent.is_dir():
        raise DuelsError(f"There is no folder {path.parent}.")
    if path.suffix == ".jsonl":
        with exclusive_writer(path):
            return _write_lines(run, path, progress, jobs=jobs)
    if path.suffix == ".parquet":
        _need_arrow()
        # Played matches are kept line by line: a Parquet file can only be written as a whole.
        lines = path.with_name(path.name + ".jsonl")
        with exclusive_writer(lines):
            held = _in_parquet(run, path)
            if held >= run.games:
                return held
            found = _write_lines(run, lines, progress, held, jobs)
            _write_parquet(run, lines, path, held)
            lines.unlink()
            return min(found, run.games)
    raise DuelsError(f"Datasets are written as .jsonl or .parquet, not as '{path.suffix}'.")


# -- JSON lines --------------------------------------------------------------------------------------


def _write_lines(run: Export, path: Path, progress: ProgressCallback, held: int = 0, jobs: int = 1) -> int:
    """Write the matches from number `held` on; returns the number of the first that was new."""
    found = _resume(run, path, held)
    with name_file_in_errors(path), path.open("a", encoding="utf-8") as file:
        for told in play_matches(run, found, progress, jobs):
            file.write(_line(told))
            file.flush()
    return found


def play_matches(run: Export, first: int, progress: ProgressCallback, jobs: int) -> Iterator[dict[str, Any]]:
    """The matches from number `first` on, in order, whoever plays them."""
    numbers = range(first, run.games)
    if jobs == 1 or len(numbers) < 2:
        for number in numbers:
            progress(number, run.games)
            yield _play(run, number)
    else:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            played = pool.map(partial(_play, run), numbers, chunksize=4)
            for number, told in zip(numbers, played, strict=True):
                progress(number, run.games)
                yield told
    progress(run.games, run.games)


def _play(run: Export, number: int) -> dict[str, Any]:
    """Play the match of that number, in this process, and return its line as data."""
    return {**run.head, "number": number, **play_match(run, number, *_oracle_and_players(run))}


@lru_cache(maxsize=1)
def _oracle_and_players(run: Export) -> tuple[Any, dict[Seat, Player]]:
    oracle = get_quick_oracle(run.rules)  # first, so that the players ask it too
    return oracle, {seat: make_player(name, run.rules) for seat, name in zip(Seat, run.players, strict=True)}


def _resume(run: Export, path: Path, held: int) -> int:
    """The number of the match to go on with; a last line that was not finished is cut off.

    The file's first match is number `held`, or one before it if that many were written elsewhere just
    before the run was broken off.
    """
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    numbers: list[Any] = []
    for place, line in enumerate(whole.splitlines(), start=1):
        try:
            head = json.loads(line)
        except ValueError:
            raise DuelsError(f"{path}, line {place}: this is no match in JSON.") from None
        number = head.get("number") if isinstance(head, dict) else None
        follows = number == numbers[-1] + 1 if numbers else number in range(held + 1)
        if not follows or any(head.get(key) != value for key, value in run.head.items()):
            raise DuelsError(f"{path}, line {place}: this match is of another run; name another file.")
        numbers.append(number)
    if numbers and numbers[-1] + 1 < held:
        raise DuelsError(f"{path}: matches are missing after its last one; remove it.")
    following = numbers[-1] + 1 if numbers else held
    if torn := content[len(whole) :]:
        start = _line({**run.head, "number": following}).rstrip("}\n").encode()
        if not (torn.startswith(start) or start.startswith(torn)):
            raise DuelsError(
                f"{path}, line {len(numbers) + 1}: this is no match of this run; name another file."
            )
        os.truncate(path, len(whole))
    return following


def _line(match: dict[str, Any]) -> str:
    return json.dumps(match, ensure_ascii=False) + "\n"


def play_match(run: Export, number: int, oracle: Any, seated: Mapping[Seat, Player]) -> dict[str, Any]:
    """Play the match of that number: the one that the seed `SEED NUMBER` gives everywhere."""
    dice, written = Dice(f"{run.seed} {number}"), run.rules.format
    match: AnyMatch = Match.start(run.rules)
    turns = []
    while match.actor is not None:
        entry = decide_next_entry(match, seated, dice)
        if isinstance(entry.actor, Seat):
            sight, player = match.sight(entry.actor), seated[entry.actor]
            turns.append(_graded(run.rules, oracle, player, sight, entry.action))
        else:
            turns.append({**_UNGRADED, "actor": "chance", "action": written(entry.action)})
        match = entry.play(match)
    return {**_result(match), "turns": turns}


def _result(match: AnyMatch) -> dict[str, Any]:
    """How a match ended: the code that records use, and its parts."""
    assert match.outcome
    ending, winner = match.outcome.ending, match.outcome.winner
    return {"result": match.outcome.code, "ending": ending.value, "winner": winner.value if winner else None}


# What a turn holds, in this order; None stays where chance acts, which nobody grades.
_KEPT = ("position", "action", "value", "regret", "exactness", "error")
_UNGRADED: dict[str, Any] = dict.fromkeys(("actor", *_KEPT, "actions", "values", "policy"))


def _graded(rules: Any, oracle: Any, player: Any, sight: AnySight, action: Any) -> dict[str, Any]:
    verdict, written = oracle.judge(sight), rules.format
    odds = player.odds(sight) if hasattr(player, "odds") else None
    estimated = verdict.value.exactness is Exactness.ESTIMATE
    return {
        "actor": sight.seat.value,
        "position": rules.format_position(sight),
        "action": written(action),
        "value": verdict.value.number,
        "regret": verdict.loss(action),
        "exactness": verdict.value.exactness.value,
        "error": None if estimated else verdict.value.error,
        "actions": [written(judged.action) for judged in verdict.actions],
        "values": [judged.value.number for judged in verdict.actions],
        "policy": odds and [odds.get(judged.action, 0.0) for judged in verdict.actions],
    }


# -- Parquet -----------------------------------------------------------------------------------------


def _need_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DuelsError(f"Parquet needs the extra 'data': {format_install_command('data')}.") from None


def _in_parquet(run: Export, path: Path) -> int:
    """How many matches of `run` a finished file holds; a file that is not of this run is refused."""
    if not path.exists():
        return 0
    from pyarrow import ArrowInvalid, parquet

    try:
        found = parquet.read_schema(path)
    except ArrowInvalid:
        raise DuelsError(f"{path}: this is no Parquet file; name another file.") from None
    expected = _schema(run)
    if found.names != expected.names or not expected.metadata.items() <= (found.metadata or {}).items():
        raise DuelsError(f"{path}: these matches are of another run; name another file.")
    numbers = parquet.read_table(path, columns=["number"])["number"]
    return len(numbers) and int(numbers[-1].as_py()) + 1


def _schema(run: Export) -> Any:
    import pyarrow as arrow

    actions = len(run.rules.all_actions())
    shown = arrow.list_(arrow.int8(), ObservationEncoder(run.rules).size)
    return arrow.schema(
        [
            ("number", arrow.int64()),
            ("move", arrow.int32()),
            ("seat", arrow.int8()),
            ("position", arrow.string()),
            ("observation", shown),
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
            ("final_observation", shown),
            ("final_action_mask", arrow.list_(arrow.int8(), actions)),
        ],
        metadata={key: json.dumps(value) for key, value in run.head.items()},
    )


def _write_parquet(run: Export, lines: Path, path: Path, held: int) -> None:
    """Write the `held` matches of `path` and those of `lines` that follow, as many as are asked for."""
    import pyarrow as arrow
    from pyarrow import parquet

    schema = _schema(run)
    with name_file_in_errors(path), temporary_path(path) as draft:
        with (
            parquet.ParquetWriter(draft, schema, compression="zstd") as writer,
            lines.open(encoding="utf-8") as file,
        ):
            if held:
                for batch in parquet.ParquetFile(path).iter_batches():
                    writer.write_batch(batch)
            matches = (match for match in map(json.loads, file) if match["number"] in range(held, run.games))
            while rows := [row for match in islice(matches, BATCH_SIZE) for row in build_rows(run, match)]:
                writer.write_batch(arrow.RecordBatch.from_pylist(rows, schema=schema))
        os.replace(draft, path)


def build_rows(run: Export, told: dict[str, Any]) -> list[dict[str, Any]]:
    """A match's decisions, with what the environments show there and the reward at the end."""
    shown, number = _shown_and_numbers(run.rules)
    match: AnyMatch = Match.start(run.rules)
    rows, last = [], {}
    for move, turn in enumerate(told["turns"]):
        action = run.rules.parse(turn["action"])
        actor = match.actor
        assert actor is not None
        if actor is not CHANCE:
            seat = Seat(actor)
            legal = [number[text] for text in turn["actions"]]
            last[seat] = {
                "number": told["number"],
                "move": move,
                "seat": seat.value,
                "observation": list(shown.encode(seat, match)),
                "action_mask": _spread(legal, [1] * len(legal), len(number), 0),
                "action_number": number[turn["action"]],
                "values": _spread(legal, turn["values"], len(number), None),
                "policy": turn["policy"] and _spread(legal, turn["policy"], len(number), 0.0),
                **{key: told[key] for key in ("result", "ending", "winner")},
                "reward": 0.0,
                "done": False,
                "final_observation": None,
                "final_action_mask": None,
                **{key: turn[key] for key in _KEPT},
            }
            rows.append(last[seat])
        match = match.play(actor, action)
    for seat, row in last.items():
        following = [number[run.rules.format(action)] for action in shown.next_actions(seat, match)]
        row |= {
            "reward": 0.0 if told["winner"] is None else 1.0 if told["winner"] == seat else -1.0,
            "done": True,
            "final_observation": list(shown.encode(seat, match)),
            "final_action_mask": _spread(following, [1] * len(following), len(number), 0),
        }
    return rows


@lru_cache(maxsize=8)
def _shown_and_numbers(rules: AnyRules) -> tuple[ObservationEncoder, dict[str, int]]:
    """What the environments show, and how they number the actions, by their notation."""
    return ObservationEncoder(rules), {
        rules.format(action): place for place, action in enumerate(rules.all_actions())
    }


def _spread(places: list[int], numbers: list[Any], size: int, elsewhere: float | None) -> list[Any]:
    """A list of fixed length with the numbers at their places."""
    spread: list[Any] = [elsewhere] * size
    for place, found in zip(places, numbers, strict=True):
        spread[place] = found
    return spread
