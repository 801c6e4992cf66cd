"""Datasets: graded by the oracle, the same however often a run is broken off, never mixed up."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.games import GAMES
from duels.terminal.commands import run as run_command
from duels.terminal.export import Export, export


def run_of(game: str, games: int, *players: str, seed: str = "s", **options: Any) -> Export:
    one, two = players or ("club", "random")
    return Export(GAMES[game], GAMES[game].rules(**options), (one, two), seed, games)


def matches_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("game", GAMES)
def test_every_line_replays_and_is_graded(game: str, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"chain": {"max_boards": 2}, "hunt": {"max_turns": 6}}
    run = run_of(game, 3, **limits.get(game, {}))
    export(run, tmp_path / "out.jsonl")
    oracle = GAMES[game].oracle(run.rules)
    for number, told in enumerate(matches_in(tmp_path / "out.jsonl")):
        assert told["number"] == number
        match: Any = Match.start(run.rules)
        for turn in told["turns"]:
            if turn["actor"] != "chance":
                verdict = oracle.judge(match.sight(match.actor))
                taken = run.rules.parse(turn["action"])
                (judged,) = [j for j in verdict.actions if j.action == taken]
                assert turn["value"] == pytest.approx(verdict.value.number)
                less = max(0, verdict.value.number - judged.value.number)
                assert turn["regret"] == (0 if judged.best else pytest.approx(less))
                assert turn["position"] == run.rules.format_position(match.sight(match.actor))
            match = match.play_text(turn["action"])
        assert match.outcome.winner == told["winner"]
        assert match.outcome.reason == told["reason"]


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    assert export(run_of("chain", 6, max_boards=1), whole) == 0
    content = whole.read_bytes()
    for cut in (0, 10, len(content) // 2, len(content) - 1, len(content)):
        broken.write_bytes(content[:cut])
        assert export(run_of("chain", 6, max_boards=1), broken) == content[:cut].count(b"\n")
        assert broken.read_bytes() == content


def test_another_run_is_never_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    export(run_of("lights", 2), path)
    content = path.read_bytes()
    for other in (
        run_of("lights", 4, seed="t"),
        run_of("lights", 4, "club", "club"),
        run_of("lights", 4, lights=5),
        run_of("leap", 4),
    ):
        with pytest.raises(DuelsError, match="line 1: this match is of another run"):
            export(other, path)
    path.write_text("nonsense\n")
    with pytest.raises(DuelsError, match="no match in JSON"):
        export(run_of("lights", 2), path)
    path.write_bytes(content)
    assert export(run_of("lights", 3), path) == 2


def test_a_parquet_file_of_another_run_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    assert export(run_of("lights", 3), path) == 0
    content = path.read_bytes()
    for other in (run_of("lights", 3, seed="t"), run_of("lights", 3, lights=5), run_of("leap", 3)):
        with pytest.raises(DuelsError, match="of another run"):
            export(other, path)
    assert path.read_bytes() == content
    assert export(run_of("lights", 3), path) == 3
    path.write_text("my notes")
    with pytest.raises(DuelsError, match="no Parquet file"):
        export(run_of("lights", 3), path)
    parquet.write_table(pyarrow.table({"mine": [1]}), path)
    with pytest.raises(DuelsError, match="of another run"):
        export(run_of("lights", 3), path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.parquet"]


def test_parquet_has_a_row_a_decision(tmp_path: Path) -> None:
    run = run_of("hunt", 4, max_turns=5)
    export(run, tmp_path / "out.parquet")
    export(run, tmp_path / "out.jsonl")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.jsonl", "out.parquet"]
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    told = [
        (match["number"], turn) for match in matches_in(tmp_path / "out.jsonl") for turn in match["turns"]
    ]
    assert len(rows) == len(told)
    actions = run.rules.all_actions()
    for row, (number, turn) in zip(rows, told, strict=True):
        assert row["number"] == number
        assert {key: row[key] for key in ("position", "action", "value", "regret")}.items() <= turn.items()
        assert row["seat"] == turn["actor"]
        assert actions[row["action_number"]] == run.rules.parse(turn["action"])
        assert row["action_number"] in row["legal"]
        assert len(row["observation"]) == GAMES["hunt"].encoding(run.rules).size


def test_perfect_players_regret_nothing(tmp_path: Path) -> None:
    export(run_of("leap", 5, "perfect", "perfect"), tmp_path / "out.jsonl")
    regrets = [turn["regret"] for match in matches_in(tmp_path / "out.jsonl") for turn in match["turns"]]
    assert set(regrets) == {0.0}


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["export", "lights", "--games", "3", "--player", "casual"]) == 0
    told = capsys.readouterr()
    assert told.out == "lights-casual.jsonl\n"
    assert "3 of 3" in told.err
    assert len(matches_in(tmp_path / "lights-casual.jsonl")) == 3
    assert run_command(["export", "lights", "--games", "5", "--player", "casual"]) == 0
    assert "3 matches were there already" in capsys.readouterr().err
    assert run_command(["export", "lights", "--out", "lights.csv"]) == 1
    assert ".jsonl or .parquet" in capsys.readouterr().err
    assert run_command(["export", "lights", "--player", "nobody"]) == 2
