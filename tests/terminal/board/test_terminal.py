"""The board in a pseudo-terminal: start, exit and the saved match."""

import os
import re
import signal
import sys
from pathlib import Path
from time import sleep
from typing import Any
from unittest import mock

import pytest

from duels.play.library import read_record
from duels.terminal.keyboard import SILENCE_SECONDS
from tests.support import duels, lines_of
from tests.terminal.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

AGAINST = ("play", "lights", "--seat2", "greedy", "--seed", "3", "--board")
CHOOSE = "choose"  # one of the key labels, which are drawn last


def record_in(folder: Path) -> Path:
    (path,) = (folder / "matches").glob("*.duel")
    return path


def test_a_match_on_the_board_is_saved_and_can_be_replayed(tmp_path: Path) -> None:
    """The match is saved and can be replayed, and the terminal is restored."""
    with Terminal(tmp_path, "play", "lights", "--board") as terminal:
        terminal.expect(CHOOSE)
        for light in "1234567":
            terminal.send(light)
            terminal.expect(f"Turning OFF light {light}.")
        terminal.expect("rematch")
        terminal.send("q")
        assert terminal.wait() == 0
        assert terminal.is_restored
    match = read_record(record_in(tmp_path)).match
    assert match.outcome
    assert lines_of(match) == list("1234567")
    assert match.outcome.reason in terminal.main_screen
    replay = duels(tmp_path, "replay", record_in(tmp_path)).out
    assert match.outcome.reason in replay
    assert "legal" in duels(tmp_path, "verify", record_in(tmp_path)).out


def test_a_key_pressed_while_the_board_opens_leaves_without_a_warning(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--board") as terminal:
        terminal.send("q")
        assert terminal.wait() == 0
        assert "Warning" not in terminal.main_screen


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
        pytest.param(None, 130, marks=pytest.mark.slow),
    ],
)
def test_a_signal_or_ctrl_c_saves_the_match(number: signal.Signals | None, code: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, *AGAINST) as terminal:
        terminal.expect(CHOOSE)
        terminal.send("4")
        terminal.expect("Turning OFF light 4.")
        terminal.expect(CHOOSE)
        if number:
            terminal.process.send_signal(number)
        else:
            terminal.send("\x03")
        assert terminal.wait() == code
        assert terminal.is_restored
    path = record_in(tmp_path)
    assert "The match is saved. Continue with: duels resume\n" in terminal.main_screen
    assert lines_of(read_record(path).match)[0] == "4"
    with Terminal(tmp_path, "resume", "--board") as terminal:
        terminal.expect("Turning OFF light 4.")
        terminal.expect(CHOOSE)
        terminal.send("q")
        assert terminal.wait() == 0


def test_the_resume_command_names_the_file_if_another_match_is_newer(tmp_path: Path) -> None:
    older, newer = ((tmp_path / "matches" / f"{name}.duel") for name in ("older", "newer"))
    older.parent.mkdir()
    for path, time in ((older, 1_000_000_000), (newer, 1_100_000_000)):
        path.write_text("duels record 2\ngame: lights\nseat1: human\nseat2: greedy\nseed: 1\n\n4\n1\n")
        os.utime(path, (time, time))
    for path, output in ((older, f"duels resume {older}"), (newer, "duels resume")):
        with Terminal(tmp_path, "resume", path, "--board", size=(200, 24)) as terminal:
            terminal.expect(CHOOSE)
            terminal.send("q")
            assert terminal.wait() == 0
        assert f"Continue with: {output}\n" in terminal.main_screen


def test_a_match_without_decisions_is_deleted(tmp_path: Path) -> None:
    with Terminal(tmp_path, *AGAINST) as terminal:
        terminal.expect(CHOOSE)
        terminal.send("q")
        assert terminal.wait() == 0
    assert "Nothing was played, so nothing was saved." in terminal.main_screen
    assert not list((tmp_path / "matches").glob("*.duel"))


def start_from_menu(terminal: Terminal, item: str, game: str) -> None:
    terminal.answer("Number or name: ", item)
    terminal.answer("Number or name: ", game)
    terminal.answer("Number or name [casual]: ", "greedy")
    terminal.answer("Number or name [me]: ", "")


def test_the_menu_opens_the_board_and_a_match_leads_back_to_the_menu(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"NO_COLOR": "1"}
    with Terminal(tmp_path, **plain) as terminal:
        start_from_menu(terminal, "play", "lights")
        for after in "rq":
            terminal.expect(CHOOSE)
            terminal.send("r")
            terminal.expect("Do you want to resign?")
            terminal.send("y")
            terminal.expect("You lost")
            terminal.expect("menu")
            terminal.send(after)
        terminal.answer("Number or name: ", "q")
        assert terminal.wait() == 0
    assert len(list((tmp_path / "matches").glob("*.duel"))) == 2
    colours = [code for code in ("\x1b[36m", "\x1b[33m", ";36", ";33", "38;2") if code in terminal.text]
    assert not colours


@pytest.mark.parametrize(
    ("item", "arguments", "size", "reason"),
    [
        ("prompts", (), (80, 24), ""),
        ("play", ("--plain",), (80, 24), ""),
        ("play", (), (59, 24), "The full-screen board needs 60 columns and 16 rows."),
    ],
)
def test_the_menu_can_use_the_prompts(
    item: str, arguments: tuple[str, ...], size: tuple[int, int], reason: str, tmp_path: Path
) -> None:
    with Terminal(tmp_path, *arguments, size=size) as terminal:
        start_from_menu(terminal, item, "leap")
        terminal.answer("Choose your move: ", "quit")
        terminal.answer("Number or name: ", "quit")
        assert terminal.wait() == 0
    assert reason in " ".join(terminal.text.split())
    assert ("  2. prompts" in terminal.text) is (not arguments)


def test_a_word_typed_as_the_match_ends_chooses_nothing(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--board") as terminal:
        terminal.expect(CHOOSE)
        for light in "123456":
            terminal.send(light)
            terminal.expect(f"Turning OFF light {light}.")
        terminal.send("7")
        terminal.expect("rematch")
        terminal.send("view")
        terminal.expect("Press r, s, v, n or q.")
        terminal.send("\x03")
        assert terminal.wait() == 130
    assert "Marks by points lost" not in terminal.text


def test_two_people_play_hunt_and_the_scrollback_has_no_secret(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt", "--board") as terminal:
        for keys in ("47", "21"):
            terminal.expect("Pass the keyboard")
            sleep(2 * SILENCE_SECONDS)
            terminal.send("\r")
            for key, label in zip(keys, ("Where do you go?", "Which position do you observe?"), strict=True):
                terminal.expect(label)
                terminal.send(key)
        terminal.expect("Pass the keyboard")
        terminal.send("q")
        assert terminal.wait() == 0
    assert lines_of(read_record(record_in(tmp_path)).match) == ["move 4", "observe 7", "move 2", "observe 1"]
    scrollback = re.sub(r"\x1b\[\?[0-9;]+[hl]", "", terminal.main_screen)
    assert scrollback.strip() == "The match is saved. Continue with: duels resume"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["play", "lights"], "the full-screen board needs a terminal."),
        (["play", "lights", "--seat1", "greedy", "--seat2", "greedy"], "needs a terminal."),
    ],
)
def test_a_board_needs_a_terminal(arguments: list[str], why: str, tmp_path: Path) -> None:
    result = duels(tmp_path, *arguments, "--board")
    assert result.code == 1
    assert result.err.startswith("duels: ")
    assert why in result.err


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    missing = {name: None for name in sys.modules if name.split(".")[0] == "textual"} | {"textual": None}
    ours = [name for name in sys.modules if name.startswith("duels.terminal.board.")]
    with mock.patch.dict(sys.modules, missing):
        for name in ours:
            del sys.modules[name]
        result = duels(tmp_path, "play", "lights", "--board")
    assert result.code == 1
    assert "This needs textual" in result.err
    assert "duels[tui]" in result.err


def test_a_board_with_too_many_cells_is_refused(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--lights", "500", "--board") as terminal:
        assert terminal.wait() == 1
    assert "the full-screen board shows at most 400 cells, not 500." in terminal.text
