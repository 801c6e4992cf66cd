"""Datasets: graded by the oracle, resumable, and never mixed with another run."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

import duels
from duels.analysis.encoding import ObservationEncoder
from duels.analysis.export import Export, export
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import AnyRules, Seat
from duels.games import GAMES
from duels.players import make_player
from duels.solving.oracles import get_oracle
from tests.analysis.toys import Steps
from tests.envs.reference import MatchEngine


def run_of(game: str, games: int, *players: str, seed: str = "s", **options: Any) -> Export:
    one, two = players or ("club", "random")
    return Export(GAMES[game].rules(**options), (one, two), seed, games)


def matches_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("game", GAMES)
def test_every_line_replays_and_is_graded(game: str, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"chain": {"max_boards": 2}, "hunt": {"max_turns": 6}}
    run = run_of(game, 3, **limits.get(game, {}))
    export(run, tmp_path / "out.jsonl")
    oracle = get_oracle(run.rules)
    for number, line in enumerate(matches_in(tmp_path / "out.jsonl")):
        assert line["number"] == number
        match: Any = Match.start(run.rules)
        for turn in line["turns"]:
            if turn["actor"] != "chance":
                verdict = oracle.judge(match.sight(match.actor))
                taken = run.rules.parse(turn["action"])
                (judged,) = [j for j in verdict.actions if j.action == taken]
                assert turn["value"] == pytest.approx(verdict.value.number)
                less = max(0, verdict.value.number - judged.value.number - judged.allowance)
                assert turn["regret"] == (0 if judged.best else pytest.approx(less))
                numbers = {run.rules.format(j.action): j.value.number for j in verdict.actions}
                assert dict(zip(turn["actions"], turn["values"], strict=True)) == pytest.approx(numbers)
                player: Any = make_player(run.players[match.actor - 1], run.rules)
                odds = player.odds(match.sight(match.actor))
                assert turn["policy"] == pytest.approx([odds.get(j.action, 0) for j in verdict.actions])
                assert turn["position"] == run.rules.format_position(match.sight(match.actor))
            match = match.play_text(turn["action"])
        assert match.outcome.code == line["result"]
        assert match.outcome.ending.value == line["ending"]
        assert match.outcome.winner == line["winner"]


def test_resumes_an_interrupted_run(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    assert export(run_of("chain", 6, max_boards=1), whole) == 0
    content = whole.read_bytes()
    for cut in (0, 10, len(content) // 2, len(content) - 1, len(content)):
        broken.write_bytes(content[:cut])
        assert export(run_of("chain", 6, max_boards=1), broken) == content[:cut].count(b"\n")
        assert broken.read_bytes() == content


def test_rejects_a_file_of_another_run(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    export(run_of("lights", 2), path)
    content = path.read_bytes()
    for other in (
        run_of("lights", 4, seed="t"),
        run_of("lights", 4, "club", "club"),
        run_of("lights", 4, lights=5),
        run_of("leap", 4),
    ):
        with pytest.raises(DuelsError, match="line 1: this match belongs to another run"):
            export(other, path)
    path.write_text("nonsense\n")
    with pytest.raises(DuelsError, match="not a match in JSON"):
        export(run_of("lights", 2), path)
    path.write_bytes(content)
    assert export(run_of("lights", 3), path) == 2


@pytest.mark.parametrize("line", ['{"my": "only copy"}', '{"game": "lights", "mine": 1', "notes", "\u2028"])
@pytest.mark.parametrize("matches", [0, 2])
def test_keeps_an_unknown_last_line(line: str, matches: int, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    if matches:
        export(run_of("lights", matches), path)
    with path.open("a", encoding="utf-8") as file:
        file.write(line)
    content = path.read_bytes()
    with pytest.raises(DuelsError, match=f"line {matches + 1}: not a match of this run"):
        export(run_of("lights", matches + 1), path)
    assert path.read_bytes() == content


def test_keeps_a_parquet_file_of_another_run(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    assert export(run_of("lights", 3), path) == 0
    content = path.read_bytes()
    for other in (run_of("lights", 3, seed="t"), run_of("lights", 3, lights=5), run_of("leap", 3)):
        with pytest.raises(DuelsError, match="another run"):
            export(other, path)
    assert path.read_bytes() == content
    assert export(run_of("lights", 3), path) == 3
    path.write_text("my notes")
    with pytest.raises(DuelsError, match="not a Parquet file"):
        export(run_of("lights", 3), path)
    parquet.write_table(pyarrow.table({"mine": [1]}), path)
    with pytest.raises(DuelsError, match="another run"):
        export(run_of("lights", 3), path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.parquet"]


def test_parquet_has_one_row_per_decision(tmp_path: Path) -> None:
    run = run_of("hunt", 4, max_turns=5)
    export(run, tmp_path / "out.parquet")
    export(run, tmp_path / "out.jsonl")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.jsonl", "out.parquet"]
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    expected = [
        (match["number"], turn) for match in matches_in(tmp_path / "out.jsonl") for turn in match["turns"]
    ]
    assert len(rows) == len(expected)
    actions = run.rules.all_actions()
    for row, (number, turn) in zip(rows, expected, strict=True):
        assert row["number"] == number
        assert {key: row[key] for key in ("position", "action", "value", "regret")}.items() <= turn.items()
        assert row["seat"] == turn["actor"]
        assert actions[row["action_number"]] == run.rules.parse(turn["action"])
        assert row["action_mask"][row["action_number"]] == 1
        assert len(row["observation"]) == GAMES["hunt"].encoding(run.rules).size


@pytest.mark.parametrize("game", GAMES)
def test_rows_match_environment_observations(game: str, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"chain": {"max_boards": 1}, "hunt": {"max_turns": 4}}
    run = run_of(game, 4, "random", "random", **limits.get(game, {}))
    export(run, tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    rules, rows = run.rules, table.to_pylist()
    actions = rules.all_actions()
    for name, size in (("observation", ObservationEncoder(rules).size), ("action_mask", len(actions))):
        assert table.schema.field(name).type.list_size == size
    for place, row in enumerate(rows):
        later_rows = [
            r for r in rows[place + 1 :] if (r["number"], r["seat"]) == (row["number"], row["seat"])
        ]
        assert row["done"] == (not later_rows)
        assert (row["final_observation"] is None) == bool(later_rows)
        legal = [bool(mask) for mask in row["action_mask"]]
        assert [value is not None for value in row["values"]] == legal
        assert [share > 0 for share in row["policy"]] == legal  # of a random player
        assert sum(row["policy"]) == pytest.approx(1)
        if not rules.has_hidden_information and not row["regret"]:
            assert row["values"][row["action_number"]] == pytest.approx(row["value"], abs=1e-3)
    # The last observation of a seat is that of an engine which has played the same.
    if game == "flip":
        return
    engine = MatchEngine(rules)
    for match in range(4):
        played = [row for row in rows if row["number"] == match]
        if rules.all_outcomes():  # chance draws by other dice there
            break
        engine.reset(0)
        for row in played:
            assert engine.observe(row["seat"] - 1).tolist() == row["observation"]
            assert engine.mask().tolist() == row["action_mask"]
            engine.step(row["action_number"], 0)
        for row in played:
            if row["done"]:
                assert engine.observe(row["seat"] - 1).tolist() == row["final_observation"]
                assert engine.mask_for(row["seat"] - 1).tolist() == row["final_action_mask"]


def test_worker_processes_play_the_same_matches(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    export(run_of("chain", 9, max_boards=1), one)
    counts: list[int] = []
    assert export(run_of("chain", 9, max_boards=1), two, lambda done, games: counts.append(done), jobs=2) == 0
    assert two.read_bytes() == one.read_bytes()
    assert counts == list(range(10))


def test_extends_a_finished_run(tmp_path: Path) -> None:
    path, whole = tmp_path / "out.parquet", tmp_path / "whole.parquet"
    assert export(run_of("chain", 7, max_boards=1), whole) == 0
    played: list[int] = []
    for games, existing in ((2, 0), (5, 2), (7, 5)):
        run = run_of("chain", games, max_boards=1)
        assert export(run, path, lambda done, _: played.append(done)) == existing
    assert played == [0, 1, 2, 2, 3, 4, 5, 5, 6, 7]
    assert parquet.read_table(path) == parquet.read_table(whole)
    # A run of more games that is broken off has its new matches beside the old file.
    lines = tmp_path / "out.parquet.jsonl"
    export(run_of("chain", 9, max_boards=1), tmp_path / "nine.jsonl")
    content = (tmp_path / "nine.jsonl").read_bytes().splitlines(keepends=True)
    lines.write_bytes(b"".join(content[7:8]) + content[8][:20])
    assert export(run_of("chain", 9, max_boards=1), path) == 8
    export(run_of("chain", 9, max_boards=1), tmp_path / "nine.parquet")
    assert parquet.read_table(path) == parquet.read_table(tmp_path / "nine.parquet")
    assert not lines.exists()


def test_resumes_a_run_interrupted_during_cleanup(tmp_path: Path) -> None:
    path, lines = tmp_path / "out.parquet", tmp_path / "out.parquet.jsonl"
    export(run_of("lights", 4), path)
    export(run_of("lights", 6), tmp_path / "six.jsonl")
    content = (tmp_path / "six.jsonl").read_bytes().splitlines(keepends=True)
    for first, last, existing in ((0, 4, 4), (2, 5, 5)):
        again = tmp_path / "again"
        again.mkdir(exist_ok=True)
        (again / path.name).write_bytes(path.read_bytes())
        (again / lines.name).write_bytes(b"".join(content[first:last]))
        assert export(run_of("lights", 6), again / path.name) == existing
        numbers = parquet.read_table(again / path.name)["number"].to_pylist()
        assert numbers == sorted(numbers)
        assert set(numbers) == set(range(6))
        assert sorted(p.name for p in again.iterdir()) == ["out.parquet"]
    for first, last in ((0, 2), (5, 6)):
        lines.write_bytes(b"".join(content[first:last]))
        with pytest.raises(DuelsError, match=r"another run|are missing"):
            export(run_of("lights", 6), path)


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_asking_for_fewer_games_removes_none(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    export(run_of("lights", 5), path)
    content = path.read_bytes()
    assert export(run_of("lights", 2), path) == 5
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["games.jsonl", "games.parquet"])
def test_names_a_missing_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(DuelsError, match=r"The folder .*new does not exist"):
        export(run_of("lights", 1), tmp_path / "new" / name)


def test_parquet_has_no_more_games_than_requested(tmp_path: Path) -> None:
    export(run_of("lights", 5), tmp_path / "out.parquet.jsonl")  # as if it had been broken off here
    assert export(run_of("lights", 2), tmp_path / "out.parquet") == 2
    assert set(parquet.read_table(tmp_path / "out.parquet")["number"].to_pylist()) == {0, 1}


@pytest.mark.parametrize("game", GAMES)
def test_the_docs_list_every_field(game: str, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "environments" / "datasets.md").read_text(encoding="utf-8")
    _, *tables = re.split(r"^\| (?:match|turn|row) \|.*\n", page, flags=re.MULTILINE)
    match, turn, row = (
        [
            field
            for cell in re.findall(r"^\|([^|]*)\|", table.split("\n\n")[0], re.MULTILINE)
            for field in re.findall(r"`(\w+)`", cell)
        ]
        for table in tables
    )
    limits: dict[str, Any] = {"chain": {"max_boards": 2}, "hunt": {"max_turns": 6}}
    run = run_of(game, 2, **limits.get(game, {}))
    for name in ("out.jsonl", "out.parquet"):
        export(run, tmp_path / name)
    for line in matches_in(tmp_path / "out.jsonl"):
        assert list(line) == match
        for each in line["turns"]:
            assert list(each) == turn
            graded = each["actor"] != "chance"
            assert [key for key in turn if each[key] is None] == [
                key
                for key in turn
                if (key == "error" and game == "hunt") or (not graded and key not in ("actor", "action"))
            ]
    assert parquet.read_schema(tmp_path / "out.parquet").names == row
    errors = parquet.read_table(tmp_path / "out.parquet")["error"].to_pylist()
    assert {error is None for error in errors} == {game == "hunt"}


def test_perfect_players_have_no_regret(tmp_path: Path) -> None:
    export(run_of("leap", 5, "perfect", "perfect"), tmp_path / "out.jsonl")
    regrets = [turn["regret"] for match in matches_in(tmp_path / "out.jsonl") for turn in match["turns"]]
    assert set(regrets) == {0.0}


def steps_run(games: int, **options: Any) -> Export:
    rules: AnyRules = Steps(**options)
    return Export(rules, ("random", "random"), "s", games)


def test_exports_every_ending_of_an_unregistered_game(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    export(steps_run(40), path)
    drawn = [match for match in matches_in(path) if match["result"] == "drawn"]
    assert drawn
    assert all((match["ending"], match["winner"]) == ("drawn", None) for match in drawn)
    assert {match["ending"] for match in matches_in(path)} == {"won", "drawn"}
    export(steps_run(3, max_turns=1), tmp_path / "cut.jsonl")
    assert {match["result"] for match in matches_in(tmp_path / "cut.jsonl")} == {"cut off"}


def test_resumes_a_run_with_list_options(tmp_path: Path) -> None:
    for name in ("out.jsonl", "out.parquet"):
        assert export(steps_run(2, goals=(4, 6)), tmp_path / name) == 0
        assert export(steps_run(3, goals=(4, 6)), tmp_path / name) == 2
        with pytest.raises(DuelsError, match="another run"):
            export(steps_run(3, goals=(4, 7)), tmp_path / name)
    assert matches_in(tmp_path / "out.jsonl")[0]["options"] == {"goals": [4, 6]}


def test_rows_have_the_reward_of_their_seat(tmp_path: Path) -> None:
    export(steps_run(40), tmp_path / "out.parquet")
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    for row in rows:
        expected = 0 if row["ending"] == "drawn" else 1 if row["winner"] == row["seat"] else -1
        assert row["reward"] == (expected if row["done"] else 0)
    assert {row["reward"] for row in rows} == {-1, 0, 1}


@pytest.mark.parametrize("seat", Seat)
def test_a_stopped_match_ends_with_the_observation_of_its_position(seat: Seat) -> None:
    match = duels.start("chain").play_text(*"1234567" * 2, "4")
    encoder = ObservationEncoder(match.rules)
    assert encoder.encode(seat, match.stop()) == encoder.encode(seat, match)
    assert encoder.next_actions(seat, match.stop()) == match.actions
