"""duels review --step."""

import re
import sys
from pathlib import Path

import pytest

import duels
from duels.core.narration import PlayerNames
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.players import HUMAN
from duels.terminal.commands import run
from tests.terminal.terminal import CLEAR, Terminal

ENTRIES = ("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "hunt.duel"
    match = duels.start("hunt").play_text(*ENTRIES)
    path.write_text(dump_record(match, {"seat1": HUMAN, "seat2": "best"}), encoding="utf-8")
    return path


def test_the_open_board_shows_both_tokens_and_observations() -> None:
    match = duels.start("hunt")
    words = match.rules.game.words(match.rules)

    def drawn(*entries: str) -> list[str]:
        played = match.play_text(*entries)
        board = words.open_board(played.sight(Seat.ONE), played.sight(Seat.TWO))
        return strip_ink(str(board)).splitlines()[:3]

    grid = "         [1][2][3][4][5][6][7]"
    assert drawn() == [grid, "Player 1  off the grid", "Player 2  off the grid"]
    assert drawn(*ENTRIES[:4]) == [grid, "Player 1        @     *", "Player 2  *              @"]
    assert drawn("move 3", "observe 3") == [grid, "Player 1        @*", "Player 2  off the grid"]

    one, two = (match.sight(seat) for seat in Seat)
    board = str(words.open_board(one, two, names=PlayerNames("Ann", "best", reader=Seat.ONE)))
    assert strip_ink(board).splitlines()[1:3] == ["You  off the grid", "best  off the grid"]


def test_a_board_without_secrets_is_the_board() -> None:
    match = duels.start("lights").play_text("4")
    words, (one, two) = match.rules.game.words(match.rules), (match.sight(seat) for seat in Seat)
    assert words.open_board(one, two) == words.board(one)


def test_a_pipe_gets_every_board(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record), "--step"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\d)\. (You|best): (.*)$", out, re.MULTILINE) == [
        (str(number), "You" if (number - 1) // 2 % 2 == 0 else "best", entry)
        for number, entry in enumerate(ENTRIES, start=1)
    ]
    assert out.count("[1][2][3][4][5][6][7]") == len(ENTRIES) + 1
    assert out.count("Your chance to win: ") == len(ENTRIES) + 1
    assert "What you could know about best's token: " in out
    assert run(["review", str(record), "--step", "--json"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_review_pages_forwards_and_backwards(record: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, "review", record, "--step", NO_COLOR="1") as terminal:
        for key in ("\x1b[C", "\n", " ", "\x1b[D", "b", "q"):
            terminal.press("q stop --", key)
        assert terminal.wait() == 0
        assert terminal.echoes
    assert re.findall(r"-- entry (\d) of 8", terminal.text) == list("012321")
    screens = [screen for screen in terminal.text.split(CLEAR) if "-- entry " in screen]
    assert "2. You: observe 5" in screens[2]
    assert "2. You: observe 5" in screens[4]
    assert "2. You: observe 5" not in screens[3]
    assert max(screen.count("\n") for screen in screens) < 24
