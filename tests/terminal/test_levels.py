"""duels levels: the table of losses and scores."""

import json
import re

import pytest

from duels.analysis.levels import LevelRow
from duels.games import GAMES, find_game
from duels.solving.oracle import GIVEN_AWAY
from duels.terminal import data_commands
from duels.terminal.commands import run
from duels.terminal.data_commands import render_levels


def test_a_difference_within_its_margin_is_marked() -> None:
    rows = [
        LevelRow("random", 1.0, 1.0, GIVEN_AWAY, 0.1, 0.01, None, None, 100),
        LevelRow("novice", 0.8, 0.8, GIVEN_AWAY, 0.08, 0.01, 0.52, 0.03, 100),
        LevelRow("casual", 0.5, 0.47, GIVEN_AWAY, 0.05, 0.01, 0.6, 0.03, 100),
    ]
    random, novice, casual = render_levels(find_game("chain").rules(), rows, 100).splitlines()[3:6]
    assert "too few matches" not in random + casual
    assert re.match(r"casual +50% +47% ", casual), "the intended and the measured share"
    assert novice.endswith("52.0% ± 3.0 points  too few matches to tell")


@pytest.mark.parametrize(
    ("game", "part"),
    [
        ("lights", ""),
        ("leap", ""),
        ("chain", "luck decides"),
        ("flip", "luck decides"),
        ("hunt", "guessing decides"),
    ],
)
def test_the_table_names_what_makes_levels_close(game: str, part: str) -> None:
    rules = find_game(game).rules()
    rows = [
        LevelRow("random", 1.0, 1.0, GIVEN_AWAY, 0.1, 0.01, None, None, 9),
        LevelRow("novice", 0.8, 0.8, GIVEN_AWAY, 0.1, 0.01, 0.52, 0.03, 9),
    ]
    table = render_levels(rules, rows, 9)
    assert table.endswith(
        "--matches.\n" + (f"Some levels are close: {part} much of this game.\n" if part else "")
    )
    rows[1].margin = 0.001
    assert "--matches" not in render_levels(rules, rows, 9), "all levels are clearly different"


def test_levels_accepts_the_options_of_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["levels", "lights", "--lights", "5", "--matches", "40", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["random", "novice", "casual", "club", "expert", "perfect"]
    assert rows[-1]["per_decision"] == 0
    assert rows[0]["measured_share"] == 1
    assert rows[2]["measured_share"] == rows[2]["per_decision"] / rows[0]["per_decision"]
    assert run(["levels", "lights", "--lights", "5", "--matches", "40"]) == 0
    assert capsys.readouterr().out.startswith("lights: what each level gives away per decision")
    assert run(["levels", "lights", "--goal", "5"]) == 2


def test_hunts_strongest_level_is_called_best(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["levels", "hunt", "--matches", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert (rows[-1]["name"], rows[-1]["measure"]) == ("best", "below the mixture")
    assert [row["name"] for row in rows] == ["random", "casual", "best"]


def test_the_table_names_the_levels_that_are_equal() -> None:
    rows = [LevelRow("random", 1.0, 1.0, GIVEN_AWAY, 0.1, 0.01, None, None, 9)]
    table = render_levels(find_game("hunt").rules(), rows, 9)
    assert "In hunt, novice plays like casual, club plays like best and expert plays like best.\n" in table
    assert " plays like " not in render_levels(find_game("flip").rules(), rows, 9)


def test_without_a_game_all_five_are_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [LevelRow("random", 1.0, 1.0, GIVEN_AWAY, 0.1, 0.01, None, None, 9)]
    monkeypatch.setattr(data_commands, "measure_levels", lambda *arguments: rows)
    assert run(["levels"]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    assert [table.split(":")[0] for table in tables] == list(GAMES)
    assert run(["levels", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == list(GAMES)
