"""Names and the score through rematches and swaps, in a pseudo-terminal."""

import sys
from pathlib import Path

import pytest

from duels.play.library import read_record
from tests.support import lines_of
from tests.terminal.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

MENU, AFTER = "Number or name: ", " q menu: "


def start_match(terminal: Terminal, game: str, *names: str, first: str) -> None:
    terminal.answer(MENU, "prompts")
    terminal.answer(MENU, game)
    terminal.answer("Number or name [casual]: ", "friend")
    terminal.answer("Who sits on the left? Name [Left]: ", names[0])
    terminal.answer("Who sits on the right? Name [Right]: ", names[1])
    terminal.answer(f"Number or name [{names[0] or 'Left'}]: ", first)


def resign(terminal: Terminal) -> None:
    terminal.answer("> ", "resign")
    terminal.answer("Do you want to resign? (yes/no): ", "yes")


def test_two_people_have_names_and_a_score(tmp_path: Path) -> None:
    with Terminal(tmp_path, NO_COLOR="1") as terminal:
        start_match(terminal, "lights", "Ann", "Bob", first="bob")
        terminal.expect("Bob is Player 1 and moves first. Ann is Player 2.")
        resign(terminal)  # Bob loses
        terminal.expect("Score: 0 for Bob, 1 for Ann.")
        terminal.press(AFTER, "v")
        terminal.expect("Player 1 was Bob, Player 2 was Ann.")
        terminal.expect("Why you lost, Bob:")
        terminal.press(AFTER, "r")
        terminal.expect("Bob is Player 1 and moves first.")
        resign(terminal)
        terminal.expect("Score: 0 for Bob, 2 for Ann.")
        terminal.press(AFTER, "s")
        terminal.expect("Ann is Player 1 and moves first. Bob is Player 2.")
        terminal.answer("> ", "1-2")
        terminal.answer("> ", "4-5")
        terminal.answer("> ", "undo")
        terminal.press("Whose decision is taken back? Press 1 for Ann, 2 for Bob: ", "1")
        terminal.answer("Bob, do you agree to take it back? (yes/no): ", "no")
        resign(terminal)
        terminal.expect("Score: 1 for Bob, 2 for Ann.")
        terminal.press(AFTER, "q")
        terminal.answer(MENU, "quit")
        assert terminal.wait() == 0
    assert terminal.text.count("Score:") == 3
    saved = "".join(path.read_text() for path in (tmp_path / "matches").iterdir())
    assert "Ann" not in saved


def test_the_keyboard_is_passed_by_name(tmp_path: Path) -> None:
    with Terminal(tmp_path, NO_COLOR="1") as terminal:
        start_match(terminal, "hunt", "", "", first="right")
        terminal.answer("Pass the keyboard to Right (Player 1), then press Enter. ", "")
        terminal.answer("Enters: ", "quit")
        terminal.answer(MENU, "quit")
        assert terminal.wait() == 0


def test_two_people_without_names_have_a_score(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", NO_COLOR="1") as terminal:
        resign(terminal)
        terminal.press(" q quit: ", "s")
        terminal.expect("The person at seat 2 is Player 1 and moves first.")
        resign(terminal)
        terminal.expect("Score: 1 for the person at seat 1, 1 for the person at seat 2.")


def test_a_machine_has_a_score(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "casual", NO_COLOR="1") as terminal:
        terminal.answer("> ", "1-2")
        terminal.answer("> ", "quit")
        assert terminal.wait() == 0
    with Terminal(tmp_path, "resume", NO_COLOR="1") as terminal:
        resign(terminal)
        terminal.press(" q quit: ", "s")
        terminal.expect("You are Player 2 against casual.")
        resign(terminal)
        terminal.expect("Score: 0 for you, 2 for casual.")


def test_a_slip_can_be_taken_back_while_the_other_person_is_asked(tmp_path: Path) -> None:
    record = tmp_path / "slip.duel"
    with Terminal(tmp_path, "play", "lights", "--save", record, NO_COLOR="1") as terminal:
        terminal.answer("> ", "1-2")
        terminal.answer("> ", "undo")
        terminal.answer("Player 2, do you agree to take it back? (yes/no): ", "yes")
        terminal.expect("Taken back: 1 entry.")
        for entry in ("4", "1", "7"):
            terminal.answer("> ", f"1\n{entry}")
        terminal.answer("> ", "undo")  # Player 2 is asked, Player 1 slipped
        terminal.press("Whose decision is taken back? Press 1 for Player 1, 2 for Player 2: ", "1")
        terminal.answer("Player 2, do you agree to take it back? (yes/no): ", "yes")
        terminal.expect("Taken back: 1 entry.")
        terminal.answer("> ", "quit")
        assert terminal.wait() == 0
    assert lines_of(read_record(record).match) == ["4", "1"]
