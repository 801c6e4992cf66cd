"""solve, hint, levels and practice: what people and programs are told about perfect play."""

import io
import json
from random import Random

import pytest

from duels.core.rules import Seat
from duels.games import find_game
from duels.solving.oracle import Exactness, Value
from duels.terminal.advice import MARKS, belief_strip, mark_of, percent
from duels.terminal.commands import run
from duels.terminal.practice import CLEAR_GAP, exercises


@pytest.fixture(autouse=True)
def home(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))


def test_solve_shows_the_opening(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights"]) == 0
    out = capsys.readouterr().out
    assert "Player 1 to move wins 100.0% (exact)." in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("* ") and "%" in line] == [
        "4",
        "2-3",
        "5-6",
    ]


def test_solve_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "chain", "--position", "__XX_O_ 1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["game"] == "chain"
    assert answer["position"] == "__XX_O_ 1"
    assert answer["to_move"] == 1
    assert answer["exactness"] == "exact"
    assert answer["exact"] == "2/3"
    assert answer["value"] == pytest.approx(2 / 3)
    best = [action["action"] for action in answer["actions"] if action["best"]]
    assert best == ["2"]
    assert {action["action"] for action in answer["actions"]} == {"1", "2", "5", "7"}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["lights", "--lights", "12"], 1),
        (["leap", "--goal", "1000"], 1),
        (["chain", "--cells", "5", "--run", "3"], None),
    ],
)
def test_solve_takes_sizes(
    arguments: list[str], value: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 0 <= answer["value"] <= 1
    if value is not None:
        assert answer["value"] == value


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "lights", "--position", "nonsense"],
        ["solve", "lights", "--position", "XXXXXXX 1"],
        ["solve", "chain", "--position", "__X!O__ 2"],
        ["solve", "lights", "--goal", "9"],
        ["solve", "chain", "--cells", "99"],
        ["solve", "nogame"],
    ],
)
def test_solve_refuses_what_it_cannot_answer(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Error" in captured.err


def test_verify_runs_second_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "lights", "--verify"]) == 0
    out = capsys.readouterr().out
    assert "Kayles" in out
    assert out.splitlines()[-1].endswith("passed, 0 failed")


def test_hint_at_the_prompt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\n1\n4\nquit\n"))
    assert run(["play", "lights"]) == 0
    out = capsys.readouterr().out
    assert "Hint: 4, 2-3 or 5-6 (100.0% to win)." in out
    assert "nim-sum" in out
    assert "Turning OFF light 4." in out


def test_levels_are_ordered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["levels", "lights", "--matches", "300", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["novice", "casual", "club", "expert", "perfect"]
    given_away = [row["given_away"] for row in rows]
    assert given_away == sorted(given_away, reverse=True)
    assert given_away[-1] == 0
    assert all(row["score"] > 0.5 for row in rows[1:])


@pytest.mark.parametrize("game", ["lights", "leap", "chain"])
def test_exercises_have_one_right_answer(game: str) -> None:
    room = find_game(game)
    oracle = room.oracle(room.rules())
    found = [exercise for exercise, _ in zip(exercises(room, oracle, Random(1)), range(12), strict=False)]
    assert len(found) == 12
    for exercise in found:
        values = sorted((judged.value.number for judged in exercise.verdict.actions), reverse=True)
        assert len(exercise.verdict.best) == 1
        assert values[0] - values[1] >= CLEAR_GAP


def test_practice_grades_right_and_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = find_game("leap")
    oracle = room.oracle(room.rules())
    first, second = (e for e, _ in zip(exercises(room, oracle, Random("5")), range(2), strict=False))
    right = room.rules().format(first.verdict.best[0])
    wrong = next(room.rules().format(j.action) for j in second.verdict.actions if not j.best)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"hint\n{right}\nx\n{wrong}\n"))
    assert run(["practice", "leap", "--count", "2", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert f"Right: {right} wins" in out
    assert f"{wrong} gives away" in out
    assert "1 of 2 right." in out
    assert "Hint:" in out


def test_marks_cover_every_loss() -> None:
    assert [mark_of(mark.most) for mark in MARKS] == [mark.name for mark in MARKS]
    assert mark_of(0) == "best"
    assert mark_of(1.5) == "blunder"


def test_values_say_how_sure_they_are() -> None:
    assert percent(Value(0.5)) == "50.0%"
    assert percent(Value(0.5, Exactness.BOUND, error=0.001)) == "50.0% ± 0.1"
    assert percent(Value(0.5, Exactness.ESTIMATE)) == "about 50.0%"


def test_a_belief_is_drawn_cell_by_cell() -> None:
    assert belief_strip({}) == ""
    strip = belief_strip({"cell 1": 0.0, "cell 2": 0.25, "cell 3": 0.75, "tunnel left": 0.5})
    assert strip == "[ ][░][█]  1: 0%, 2: 25%, 3: 75%, tunnel left: 50%\n"


def test_no_hint_needs_a_state() -> None:
    """An oracle is given a sight alone."""
    room = find_game("chain")
    rules = room.rules()
    sight = rules.parse_position("__X?O__ 2")
    assert sight.seat is Seat.TWO
    assert room.oracle(rules).judge(sight).actions
