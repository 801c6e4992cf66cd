"""Both example games at the command line, like our own."""

from pathlib import Path

import pytest
from duels_liarsdice.rules import LiarsDice
from duels_tictactoe.rules import TicTacToe

import duels
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules
from tests.examples.installing import duels as command

GAMES: dict[str, AnyRules] = {"tictactoe": TicTacToe(), "liarsdice": LiarsDice(2)}
OPTIONS = {"tictactoe": (), "liarsdice": ("--sides", "2")}
MATCHES = {"tictactoe": "1 2 3 5 8 4 6 9 7", "liarsdice": "1 2 1-1 2-1 liar"}

both = pytest.mark.parametrize("name", GAMES)


def match_of(name: str) -> AnyMatch:
    return Match.start(GAMES[name]).play_text(*MATCHES[name].split())


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
        result = command(site, tmp_path, *arguments)
        assert result.returncode == 0, result.stderr
    (tmp_path / "copy.duel").write_text(result.stdout, encoding="utf-8")
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
        result = command(site, tmp_path, *arguments)
        assert result.returncode == 0, (arguments, result.stderr)
    assert out.read_text(encoding="utf-8").count("\n") == 3


@both
def test_a_match_can_be_left_and_resumed(name: str, site: Path, tmp_path: Path) -> None:
    entries = {"tictactoe": ("5\n", "hint\n1\n"), "liarsdice": ("1-1\n", "hint\nliar\n")}[name]
    begun = command(site, tmp_path, "play", name, *OPTIONS[name], "--seed", "1", entered=entries[0])
    assert "duels resume" in begun.stderr
    resumed = command(site, tmp_path, "resume", entered=entries[1])
    assert "Hint: " in resumed.stdout, resumed.stderr
    assert resumed.returncode == (0 if name == "liarsdice" else 130)


@both
def test_practice(name: str, site: Path, tmp_path: Path) -> None:
    result = command(site, tmp_path, "practice", name, *OPTIONS[name], entered="hint\n")
    assert "Puzzle 1" in result.stdout, result.stderr
    assert "Hint: " in result.stdout
