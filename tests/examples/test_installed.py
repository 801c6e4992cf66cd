"""Games of installed packages: found by name, listed and played like our own."""

import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.examples.installing import EXAMPLES, NAMES, duels


@pytest.mark.parametrize("name", NAMES)
def test_a_package_is_small(name: str) -> None:
    """A rules file, words, and where they are found."""
    files = {path.name for path in (EXAMPLES / name / "src" / f"duels_{name}").iterdir()}
    assert files - {"__pycache__"} == {"__init__.py", "rules.py", "words.py"}


def test_installed_games_are_listed_with_their_package(site: Path, tmp_path: Path) -> None:
    listed = duels(site, tmp_path, "games")
    assert listed.returncode == 0
    for name in NAMES:
        assert f"[duels-{name} 0.1.0]" in listed.stdout


def test_a_match_is_played_to_a_draw(site: Path, tmp_path: Path) -> None:
    played = duels(site, tmp_path, "play", "tictactoe", entered="\n".join("1x23584697") + "\n")
    assert played.returncode == 0
    assert "'x' is not a move. Enter 2, 3, 4, 5, 6, 7, 8 or 9." in played.stdout
    assert played.stdout.endswith("The board is full: a draw.\n")


def test_a_hint_and_an_option_of_its_own(site: Path, tmp_path: Path) -> None:
    solved = duels(
        site, tmp_path, "solve", "liarsdice", "--sides", "2", "--position", "2: ?, 1, 2-2", "--json"
    )
    assert solved.returncode == 0
    assert '"exactness": "bound"' in solved.stdout
    wrong = duels(site, tmp_path, "play", "liarsdice", "--sides", "0")
    assert wrong.returncode == 2


@pytest.mark.skipif(not find_spec("setuptools"), reason="nothing builds packages here")
@pytest.mark.parametrize("name", NAMES)
def test_pip_installs_an_example(name: str, tmp_path: Path) -> None:
    if int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("this setuptools does not build wheels by itself")
    project = shutil.copytree(
        EXAMPLES / name, tmp_path / "project"
    )  # pip leaves things behind where it builds
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    built = subprocess.run(
        [sys.executable, "-m", "pip", "install", *offline, "--target", tmp_path / "site", project],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert f"[duels-{name} 0.1.0]" in duels(tmp_path / "site", tmp_path, "games").stdout
