"""Verifying a run or probe finds every change, also those with a valid digest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duels.arena.config import Config, ProbeConfig
from duels.arena.folder import Folder, merge
from duels.arena.probe import run_probe
from duels.arena.run import run
from duels.arena.schemas import DIGEST, encode_row
from duels.arena.verification import verify
from tests.arena.test_run import arena
from tests.players.test_program import BAD, GOOD, PYTHON

CONFIG = Config(("random", "mine=club"), ("lights", "hunt"), 4, "7", {"hunt": {"max_turns": 6}})


def change(log: Path, line: int, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change a row, and its digest with it."""
    lines = log.read_text().splitlines(keepends=True)
    row = json.loads(lines[line])
    del row[DIGEST]
    edit(row)
    lines[line] = encode_row(row)
    log.write_text("".join(lines))


def test_an_unchanged_run_verifies(tmp_path: Path) -> None:
    run(CONFIG, tmp_path / "run")
    result = arena(tmp_path, "verify", tmp_path / "run")
    assert (result.code, result.out) == (0, "8 matches repeated: all are as logged.\n")
    data = json.loads(arena(tmp_path, "verify", tmp_path / "run", "--json").out)
    assert data == {
        "valid": True,
        "rows": 8,
        "replayed_answers": 0,
        "damaged": [],
        "missing": 0,
        "differences": [],
    }


def test_answers_of_programs_are_replayed(tmp_path: Path) -> None:
    players = (f"good=cmd:{GOOD['python']}", f"bad=cmd:{PYTHON} {BAD} unknown", "random")
    run(Config(players, ("lights", "chain"), 2, options={"chain": {"max_boards": 2}}), tmp_path / "run")
    result = arena(tmp_path, "verify", tmp_path / "run")
    expected = "Answers of programs and models were taken from the log (12 matches)."
    assert (result.code, result.out) == (0, f"12 matches repeated: all are as logged. {expected}\n")


def more_lost(row: dict[str, Any]) -> None:
    row["shortfalls"][0] += 0.25
    (category, *_) = row["manners"][0].values()
    category[1] += 0.25


def other_result(row: dict[str, Any]) -> None:
    row |= {"score": 1 - row["score"], "result": "2 won" if row["score"] else "1 won"}


@pytest.mark.parametrize(
    ("edit", "fields"),
    [
        (more_lost, {"shortfalls", "manners"}),
        (other_result, {"score", "result"}),
        (lambda row: row.update(adjusted=row["adjusted"] + 0.01), {"adjusted"}),
        (lambda row: row.update(forfeited=[0.5, 0.0]), {"forfeited"}),
        (lambda row: row["entries"].reverse(), {"entries"}),
        (lambda row: row["failures"].append([1, 1, "late", ""]), {"failures"}),
    ],
)
def test_detects_a_change_with_a_valid_digest(edit: Any, fields: set[str], tmp_path: Path) -> None:
    run(Config(("random", "club"), ("lights",), 2, "7"), tmp_path / "run")
    change(tmp_path / "run" / "log-1.jsonl", 1, edit)
    result = verify(Folder(tmp_path / "run"))
    assert {each.field for each in result.differences} == fields
    assert {each.location for each in result.differences} == {"log-1.jsonl, line 2"}
    done = arena(tmp_path, "verify", tmp_path / "run")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        *map(str, result.differences),
        f"2 matches repeated: 0 damaged lines, {len(fields)} differences.",
    ]
    assert not json.loads(arena(tmp_path, "verify", tmp_path / "run", "--json").out)["valid"]


def test_a_report_of_an_illegal_match_names_the_command_that_finds_it(tmp_path: Path) -> None:
    run(Config(("random", "club"), ("lights",), 2, "7"), tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    line = next(i for i, text in enumerate(log.read_text().splitlines()) if json.loads(text)["blunders"])
    change(log, line, lambda row: row["entries"].__setitem__(slice(None), ["1"] * len(row["entries"])))
    done = arena(tmp_path, "report", tmp_path / "run")
    assert done.code == 1
    assert done.err.startswith("duels: A logged match of lights is not legal: '1' is not allowed now;")
    assert done.err.endswith("To find it: duels arena verify FOLDER\n")


def test_damaged_lines_are_listed_until_the_run_is_repaired(tmp_path: Path) -> None:
    run(CONFIG, tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 2))
    done = arena(tmp_path, "verify", tmp_path / "run")
    lines = [f"log-1.jsonl, line {number}: this line is damaged." for number in (1, 2)]
    assert (done.code, done.out.splitlines()[:2]) == (1, lines)
    assert "2 missing, 2 damaged lines, 0 differences. To add the missing matches, run" in done.out
    run(CONFIG, tmp_path / "run")
    assert len(verify(Folder(tmp_path / "run")).damaged) == 2
    done = arena(tmp_path, "verify", tmp_path / "run")
    assert done.code == 1
    assert "All planned matches are there. To leave out the damaged lines: duels arena merge" in done.out
    merge([tmp_path / "run"], tmp_path / "merged")
    result = verify(Folder(tmp_path / "merged"))
    assert (result.is_valid, result.rows) == (True, 8)


def cut_last_line(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-5])


@pytest.mark.parametrize(("lose", "missing"), [(cut_last_line, 1), (Path.unlink, 8)])
def test_lost_matches_are_missing(lose: Callable[[Path], None], missing: int, tmp_path: Path) -> None:
    run(CONFIG, tmp_path / "run")
    lose(tmp_path / "run" / "log-1.jsonl")
    result = arena(tmp_path, "verify", tmp_path / "run")
    problems = f"{missing} missing, 0 damaged lines, 0 differences"
    repair = "To add the missing matches, run the command that made the folder."
    assert (result.code, result.out) == (1, f"{8 - missing} matches repeated: {problems}. {repair}\n")
    run(CONFIG, tmp_path / "run")
    assert verify(Folder(tmp_path / "run")).is_valid


def test_a_run_that_stops_early_has_no_gaps(tmp_path: Path) -> None:
    config = Config(("random", "perfect"), ("lights",), 400, "7", until=0.4)
    played = len(run(config, tmp_path / "run").load_rows())
    assert played < 400
    assert verify(Folder(tmp_path / "run")).is_valid
    log = tmp_path / "run" / "log-1.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[1:]))
    assert verify(Folder(tmp_path / "run")).missing == 1


def test_a_lost_answer_of_a_probe_is_missing(tmp_path: Path) -> None:
    run_probe(ProbeConfig("club", ("lights",)), tmp_path / "probe")
    cut_last_line(tmp_path / "probe" / "answers-1.jsonl")
    assert verify(Folder(tmp_path / "probe")).missing == 1


def test_logs_of_a_probe_that_are_damaged_meanwhile_are_noticed(tmp_path: Path) -> None:
    log = tmp_path / "probe" / "answers-1.jsonl"
    is_damaged = False

    def damage(text: str) -> None:
        nonlocal is_damaged
        if not is_damaged and log.exists() and log.read_bytes().count(b"\n") > 2:
            log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 1))
            is_damaged = True

    config = ProbeConfig("club", ("lights",))
    folder = run_probe(config, tmp_path / "probe", damage)
    problem = (
        "logs were damaged meanwhile: 1 rows lost, 1 lines damaged, the first in answers-1.jsonl, line 1"
    )
    assert folder.unfinished == (problem,)
    assert run_probe(config, tmp_path / "probe").unfinished == ()


def test_a_probe_is_verified_by_asking_again(tmp_path: Path) -> None:
    run_probe(ProbeConfig("club", ("lights",)), tmp_path / "probe")
    assert verify(Folder(tmp_path / "probe")).is_valid

    def answer_otherwise(row: dict[str, Any]) -> None:
        row |= {"action": "1" if row["action"] != "1" else "2", "policy": None}

    change(tmp_path / "probe" / "answers-1.jsonl", 0, answer_otherwise)
    result = verify(Folder(tmp_path / "probe"))
    assert "action" in {each.field for each in result.differences}
    assert arena(tmp_path, "verify", tmp_path / "probe").code == 1


def test_an_illegal_answer_of_a_probe_is_skipped_and_asked_again(tmp_path: Path) -> None:
    config = ProbeConfig("club", ("lights",))
    expected = run_probe(config, tmp_path / "probe").load_rows()
    change(tmp_path / "probe" / "answers-1.jsonl", 0, lambda row: row.update(action="9", policy=None))
    damaged = "answers-1.jsonl, line 1"
    assert verify(Folder(tmp_path / "probe")).damaged == [damaged]
    assert "1 damaged line" in arena(tmp_path, "report", tmp_path / "probe").out
    again = run_probe(config, tmp_path / "probe")
    result = verify(again)
    assert (result.damaged, result.differences, result.rows) == ([damaged], [], len(expected))
