"""Both games from outside on every surface that our own games have."""

from pathlib import Path
from typing import Any

import pytest
from duels_liarsdice.rules import LiarsDice
from duels_tictactoe.rules import TicTacToe

import duels
from duels.core.match import Match
from duels.core.rules import Ending, Rules, Seat
from duels.envs.conformance import check_environments
from duels.envs.conformance import environments as adapters
from tests.examples.installing import duels as command

GAMES: dict[str, Rules[Any, Any, Any]] = {"tictactoe": TicTacToe(), "liarsdice": LiarsDice(2)}
OPTIONS = {"tictactoe": (), "liarsdice": ("--sides", "2")}
MATCHES = {"tictactoe": "1 2 3 5 8 4 6 9 7", "liarsdice": "1 2 1-1 2-1 liar"}
ENDINGS = {"tictactoe": {Ending.WON, Ending.DRAWN}, "liarsdice": {Ending.WON}}

both = pytest.mark.parametrize("name", GAMES)


def match_of(name: str) -> Match[Any, Any, Any]:
    return Match.start(GAMES[name]).play_text(*MATCHES[name].split())


@both
def test_every_environment_keeps_its_laws(name: str) -> None:
    """Gymnasium, PettingZoo, OpenSpiel and arrays, with grades, and perfect play in them."""
    checked = check_environments(GAMES[name], games=20)
    kinds = {kind.name for kind in (*adapters.UNGRADED, *adapters.GRADED)}
    assert {*checked.environments, *checked.refused} == kinds
    assert set(checked.endings) == ENDINGS[name]
    if name == "tictactoe":
        assert not checked.refused


def test_exploitability_of_perfect_play() -> None:
    assert duels.exploitability("perfect", TicTacToe()) == 0
    assert duels.exploitability("perfect", LiarsDice(2)) < 0.0002
    assert duels.exploitability("random", LiarsDice(2)) > 0.1


@both
def test_reviews_and_hints(name: str) -> None:
    match = match_of(name)
    review = duels.review(match)
    assert len(review.moments) == len(match.turns)
    for before in match.steps()[:-1]:
        if isinstance(before.actor, Seat):
            assert duels.hint(before.sight(before.actor)).reason


@both
def test_commands_about_a_record(name: str, site: Path, tmp_path: Path) -> None:
    record = tmp_path / "match.duel"
    record.write_text(duels.dump_record(match_of(name)), encoding="utf-8")
    for arguments in (
        ("verify", str(record)),
        ("replay", str(record)),
        ("review", str(record)),
        ("review", str(record), "--html", str(tmp_path / "review.html")),
        ("share", str(record), "--seat", "1"),
    ):
        done = command(site, tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
    (tmp_path / "copy.duel").write_text(done.stdout, encoding="utf-8")
    assert command(site, tmp_path, "replay", str(tmp_path / "copy.duel")).returncode == 0


@both
def test_commands_about_a_game(name: str, site: Path, tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    for arguments in (
        ("rules", name),
        ("solve", name, *OPTIONS[name]),
        ("solve", name, *OPTIONS[name], "--verify"),
        ("levels", name, *OPTIONS[name], "--matches", "4"),
        ("export", name, *OPTIONS[name], "--games", "3", "--out", str(out)),
        ("play", name, *OPTIONS[name], "--seat1", "club", "--seat2", "expert", "--seed", "1"),
    ):
        done = command(site, tmp_path, *arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    assert out.read_text(encoding="utf-8").count("\n") == 3


@both
def test_a_match_is_left_and_resumed(name: str, site: Path, tmp_path: Path) -> None:
    entries = {"tictactoe": ("5\n", "hint\n1\n"), "liarsdice": ("1-1\n", "hint\nliar\n")}[name]
    begun = command(site, tmp_path, "play", name, *OPTIONS[name], "--seed", "1", entered=entries[0])
    assert "duels resume" in begun.stderr
    resumed = command(site, tmp_path, "resume", entered=entries[1])
    assert "Hint: " in resumed.stdout, resumed.stderr
    assert resumed.returncode == (0 if name == "liarsdice" else 130)


@both
def test_practice(name: str, site: Path, tmp_path: Path) -> None:
    asked = command(site, tmp_path, "practice", name, *OPTIONS[name], entered="hint\n")
    assert "Puzzle 1" in asked.stdout, asked.stderr
    assert "Hint: " in asked.stdout
