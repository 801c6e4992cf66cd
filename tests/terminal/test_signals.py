"""Signals during a match: the terminal is restored, secrets are cleared, and the match is saved."""

import signal
import sys
import sysconfig
from pathlib import Path

import pytest

from duels.play.library import read_record
from tests.support import lines_of
from tests.terminal.terminal import CLEAR, HIDE, PASS, STOPPED, Job, Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

ENDING = [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT]


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_at_a_secret_prompt_the_terminal_gets_its_echo_back(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "hunt.duel"
    with Terminal(tmp_path, "play", "hunt", "--save", path) as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.ask("Enters: ")
        terminal.wait_for_no_echo()
        assert not terminal.echoes
        terminal.process.send_signal(number)
        assert terminal.wait() == 128 + number
        assert terminal.echoes
        assert "Nothing was played" in terminal.main_screen
    assert not path.exists()


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_the_exit_code_also_names_the_signal_outside_a_match(number: signal.Signals, tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.ask("Number or name: ")
        terminal.process.send_signal(number)
        assert terminal.wait() == 128 + number


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_clears_a_board_shown_to_one_person(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "hunt.duel"
    with Terminal(tmp_path, "play", "hunt", "--save", path) as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "MOVE 2")
        terminal.answer("Enters: ", "board")
        terminal.expect("Press Enter to hide this. ")
        terminal.process.send_signal(number)
        assert terminal.wait() == 128 + number
        after = terminal.text.rsplit("Press Enter to hide this. ", 1)[1]
        assert after.lstrip("\n").startswith(CLEAR), "the board is cleared before anything else is printed"
        assert terminal.echoes
    assert lines_of(read_record(path).match) == ["move 2"]


class Make(Terminal):
    """`make play` in a terminal."""

    shell = (
        "sh",
        "-c",
        f"exec make --directory={Path(__file__).parents[2]} --old-file=.venv/played "
        f"BIN={sysconfig.get_path('scripts')} play",
    )


@pytest.mark.parametrize("item", ["prompts", "play", ""])
def test_ctrl_c_ends_make_play_without_a_message_of_make(item: str, tmp_path: Path) -> None:
    with Make(tmp_path) as terminal:
        terminal.ask("Number or name: ")
        if item:
            terminal.send(f"{item}\n")
            terminal.answer("Number or name: ", "lights")
            terminal.answer("Number or name [casual]: ", "")
            terminal.answer("Number or name [me]: ", "")
            terminal.expect("choose")
            terminal.send("\x03")
            terminal.ask("Number or name: ")
        terminal.send("\x03")
        terminal.wait()
    assert "Interrupt" not in terminal.text
    assert "Error" not in terminal.text


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    """`nohup` makes its child ignore SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Terminal(tmp_path, "play", "lights") as terminal:
            terminal.ask("> ")
            terminal.process.send_signal(signal.SIGHUP)
            terminal.send("quit\n")
            assert terminal.wait() == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_two_people_need_a_terminal_that_can_be_cleared(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt", TERM="dumb") as terminal:
        assert terminal.wait() == 1
        assert "two people cannot play hunt here" in terminal.text
    assert not (tmp_path / "matches").exists()
    with Terminal(tmp_path, "play", "hunt", "--seat2", "greedy", TERM="dumb") as terminal:
        terminal.answer("Where do you go? MOVE n or TUNNEL n: ", "quit")
        assert terminal.wait() == 0


@pytest.mark.parametrize("prompt", ["Enters: ", HIDE])
def test_a_suspended_match_restores_the_terminal_and_hides_its_secrets(prompt: str, tmp_path: Path) -> None:
    with Job(tmp_path, "play", "hunt") as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "MOVE 2")
        terminal.answer("Enters: ", "OBSERVE 7")
        terminal.answer(PASS.format("Player 2"), "")
        if prompt == HIDE:
            terminal.answer("Enters: ", "board")
        terminal.ask(prompt)
        terminal.wait_for_no_echo()
        terminal.send("\x1a")
        terminal.ask(STOPPED)
        assert terminal.is_restored
        assert "Your token" not in terminal.main_screen
        terminal.send("\n")
        terminal.wait_for_no_echo()
        if prompt == HIDE:
            terminal.answer(HIDE, "")
        terminal.ask("Enters: ")
        terminal.send("MOVE 5\n")
        terminal.answer("Enters: ", "OBSERVE 2")
        terminal.press("q quit: ", "q")
        assert terminal.wait() == 0
        assert terminal.is_restored
    assert "MOVE 5" not in terminal.text
    assert "Player 2 wins by capturing Player 1's token!" in terminal.text


def test_editing_a_line_continues_after_a_suspension(tmp_path: Path) -> None:
    with Job(tmp_path, "play", "chain", NO_COLOR="1") as terminal:
        terminal.ask("want to observe: ")
        terminal.send("37")
        terminal.ask("37")
        terminal.send("\x1a")
        terminal.ask(STOPPED)
        assert terminal.is_restored
        terminal.send("\n")
        terminal.ask("want to observe: 37")
        terminal.wait_for_no_echo()
        terminal.send("\x1b[D\x7f\n")  # deletes the 3
        terminal.expect("You have observed cell 7.")
        terminal.answer("want to observe: ", "quit")
        assert terminal.wait() == 0
        assert terminal.is_restored


@pytest.mark.parametrize(("arguments", "prompt"), [((), "Number or name: "), (("play", "lights"), "> ")])
@pytest.mark.parametrize("colour", ["", "1"])
def test_a_question_is_repeated_after_a_suspension(
    arguments: tuple[str, ...], prompt: str, colour: str, tmp_path: Path
) -> None:
    with Job(tmp_path, *arguments, NO_COLOR=colour) as terminal:
        terminal.ask(prompt)
        terminal.send("\x1a")
        terminal.ask(STOPPED)
        terminal.send("\n")
        terminal.ask(prompt)
        terminal.send("quit\n")
        assert terminal.wait() == 0


def test_a_single_key_works_after_a_suspension(tmp_path: Path) -> None:
    with Job(tmp_path, "play", "lights", "--seat2", "greedy", NO_COLOR="1") as terminal:
        terminal.answer("> ", "resign")
        terminal.answer("(yes/no): ", "yes")
        terminal.ask("q quit: ")
        terminal.send("\x1a")
        terminal.ask(STOPPED)
        assert terminal.is_restored
        terminal.send("\n")
        terminal.ask("q quit: ")
        terminal.wait_for_no_echo()
        terminal.send("q")
        assert terminal.wait() == 0
        assert terminal.is_restored
