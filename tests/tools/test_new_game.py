"""The unchanged skeleton of a new game passes the laws, can be played, and can be reviewed."""

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from duels.core.laws import check_everywhere
from duels.core.match import Match
from duels.core.record import dump_record
from tests.examples.installing import ROOT, duels, install, run
from tools.new_game import Refused, main, write_game


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_game("toy_heap", tmp_path_factory.mktemp("games"))


@pytest.fixture(scope="module")
def site(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(project, tmp_path_factory.mktemp("site"))


def test_the_new_games_tests_pass(project: Path, site: Path, tmp_path: Path) -> None:
    """They check the laws."""
    tests = shutil.copytree(project / "tests", tmp_path / "tests")
    result = run(site, tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests))
    assert result.returncode == 0, result.stdout
    assert "4 passed" in result.stdout


def test_the_new_game_passes_the_laws(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    game = import_module("duels_toy_heap").GAME
    check_everywhere(game.rules())
    assert game.encoding(game.rules()).size == 13 + 1


def test_the_new_game_passes_lint_and_types(project: Path) -> None:
    for check in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *check, "--config", str(ROOT / "pyproject.toml"), str(project)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout


def test_the_new_game_can_be_played_at_the_terminal(site: Path, tmp_path: Path) -> None:
    entered = "board\n4\n3\n3\n3\nhint\nhint\nhint\n3\n"
    played = duels(site, tmp_path, "play", "toy_heap", entered=entered)
    assert played.returncode == 0, played.stderr
    assert "Welcome to Toy heap!\n\noooooooooooo  12 left\n" in played.stdout
    assert "'4' is not allowed now. Enter 1, 2 or 3." in played.stdout
    assert "3 wins at once." in played.stdout
    assert played.stdout.endswith("Player 2 has taken the last stone and wins!\n")


def test_bots_can_play_the_new_game_with_an_option(site: Path, tmp_path: Path) -> None:
    arguments = (
        "play",
        "toy_heap",
        "--stones",
        "5",
        "--seat1",
        "perfect",
        "--seat2",
        "random",
        "--seed",
        "1",
    )
    played = duels(site, tmp_path, *arguments)
    assert played.returncode == 0, played.stderr
    assert played.stdout.endswith("Player 1 has taken the last stone and wins!\n")


def test_the_new_game_can_be_reviewed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    game = import_module("duels_toy_heap").GAME
    match = Match.start(game.rules(stones=6)).play_text("1", "1", "3", "1")
    record = tmp_path / "match.duel"
    record.write_text(dump_record(match), encoding="utf-8")
    reviewed = duels(site, tmp_path, "review", str(record))
    assert reviewed.returncode == 0, reviewed.stderr
    assert "blunder" in reviewed.stdout


@pytest.mark.parametrize("name", ["", "Nim", "two words", "2x", "class", "../nim", "a-b", "é"])
def test_rejects_invalid_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is not a valid name for a game"):
        write_game(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_rejects_existing_games(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="A game 'lights' exists already"):
        write_game("lights", tmp_path)


def test_existing_files_are_not_overwritten(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nim").mkdir()
    assert main(["nim", str(tmp_path)]) == 1
    assert "exists already. Choose another name or folder." in capsys.readouterr().err
    assert not list((tmp_path / "nim").iterdir())


def test_make_writes_a_new_game(tmp_path: Path) -> None:
    make = ["make", "--no-print-directory", "new-game", f"PYTHON={sys.executable}"]
    result = subprocess.run(
        [*make, "NAME=nim", f"DIR={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "duels play nim --seat2 perfect" in result.stdout
    assert (tmp_path / "nim" / "pyproject.toml").is_file()
    forgotten = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=False)
    assert forgotten.returncode == 2
    assert "'' is not a valid name for a game" in forgotten.stderr
