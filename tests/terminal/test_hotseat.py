"""Two people with secrets at one keyboard, in a pseudo-terminal."""

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from duels.core.rules import Seat
from duels.games import find_game
from duels.play.library import read_record
from tests.support import COMMAND, command, environment, lines_of
from tests.terminal.terminal import CLEAR, HIDE, PASS, Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

AFTER = "q quit: "
ESCAPE = "\x1b["


def secretly(terminal: Terminal, entries: Sequence[str]) -> None:
    """Enter wrong entries and commands at a secret prompt, then the last entry."""
    *asides, last = entries
    for entry in asides:
        terminal.answer("Enters: ", entry)
        terminal.answer(HIDE, "")
    terminal.answer("Enters: ", last)


def play_turn(terminal: Terminal, player: str, secret: Sequence[str], observe: str) -> None:
    terminal.answer(PASS.format(player), "")
    secretly(terminal, secret)
    terminal.answer("Enters: ", observe)


def hunt(folder: Path, one: Sequence[str], two: Sequence[str], later: Sequence[str]) -> Terminal:
    """Two people play hunt: one turn each, then Player 1's second turn with a takeback."""
    with Terminal(folder, "play", "hunt", "--save", folder / "hunt.duel") as terminal:
        play_turn(terminal, "Player 1", one, "OBSERVE 7")
        play_turn(terminal, "Player 2", two, "OBSERVE 7")
        terminal.answer(PASS.format("Player 1"), "")
        secretly(terminal, later)
        terminal.answer("Enters: ", "board")
        terminal.answer(HIDE, "")
        terminal.answer("Enters: ", "undo")
        terminal.answer("Player 2, do you agree to take it back? (yes/no): ", "yes")
        terminal.answer(PASS.format("Player 1"), "")
        secretly(terminal, later)
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    return terminal


def test_public_text_does_not_depend_on_secrets(tmp_path: Path) -> None:
    """Matches that differ only in secrets print the same public bytes."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    asides = ["board", "moves", "MOVE 9", "observe 3", "nonsense"]
    a = hunt(tmp_path / "a", [*asides, "MOVE 2"], [*asides, "MOVE 5"], [*asides, "MOVE 6", "MOVE 3"])
    b = hunt(tmp_path / "b", [*asides, "TUNNEL 4"], [*asides, "TUNNEL 1"], [*asides, "MOVE 6", "stay"])
    aloud = [t.public_text.replace(str(tmp_path / name), "HERE") for t, name in ((a, "a"), (b, "b"))]
    assert aloud[0] == aloud[1]
    assert a.private_text != b.private_text, "each person saw their own board"
    assert "Your token is at position 2" in a.private_text
    assert "Your token is at position 4" in b.private_text
    assert "Position 6 is not next to position 2" in a.private_text
    lines = lines_of(read_record(tmp_path / "a" / "hunt.duel").match)
    assert lines == ["move 2", "observe 7", "move 5", "observe 7", "move 3"]
    lines = lines_of(read_record(tmp_path / "b" / "hunt.duel").match)
    assert lines == ["tunnel 4", "observe 7", "tunnel 1", "observe 7", "move 4"]


def test_secret_entries_are_never_echoed_and_the_screen_is_cleared_between(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt") as terminal:
        play_turn(terminal, "Player 1", ["MOVE 2"], "OBSERVE 6")
        play_turn(terminal, "Player 2", ["TUNNEL 3"], "OBSERVE 5")
        play_turn(terminal, "Player 1", ["bogus 4", "MOVE 1"], "OBSERVE 3")
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
        assert terminal.echoes
    assert "MOVE 2" not in terminal.text
    assert "TUNNEL 3" not in terminal.text
    assert "bogus 4" not in terminal.public_text
    assert "Enters: OBSERVE 6" in terminal.text, "a public entry is echoed"
    for player in ("Player 1", "Player 2"):
        before, after = terminal.text.split(PASS.format(player), 1)
        assert CLEAR in before
        assert after.lstrip("\n").startswith(CLEAR)
    assert "Player 1 wins by capturing Player 2's token!" in terminal.main_screen


def test_the_scroll_back_is_restored_after_a_match(tmp_path: Path) -> None:
    """Only the alternate screen is cleared, and the result stays on the main screen."""
    with Terminal(tmp_path, "play", "hunt") as terminal:
        play_turn(terminal, "Player 1", ["MOVE 2"], "OBSERVE 6")
        play_turn(terminal, "Player 2", ["MOVE 3"], "OBSERVE 5")
        play_turn(terminal, "Player 1", ["MOVE 3"], "OBSERVE 7")
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
    assert terminal.text.startswith("\x1b[?1049h")
    assert CLEAR not in terminal.main_screen
    assert "\x1b[3J" not in terminal.text, "this code would clear the scroll-back"
    assert "MOVE" not in terminal.main_screen.replace("enter MOVE n, STAY or TUNNEL n", "")
    assert "Collision Detected:" in terminal.main_screen


def test_a_long_private_text_is_shown_in_pages(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt", size=(60, 12)) as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "rules")
        pages = 1
        while terminal.ask_any("Press Enter for more. ", HIDE) != HIDE:
            terminal.send("\n")
            pages += 1
        terminal.send("\n")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    assert pages > 2
    screens = [screen for screen in terminal.screens if "Press Enter " in screen]
    assert max(screen.count("\n") for screen in screens) < 12
    card = " ".join(find_game("hunt").card().split())
    lines = [line for screen in screens for line in screen.split("\nPress Enter ")[0].split("\n")]
    assert card in " ".join(" ".join(lines).split())


def test_text_typed_ahead_of_a_secret_question_is_not_shown(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt") as terminal:
        terminal.ask(PASS.format("Player 1"))
        terminal.send("\nMOVE 2\n")  # at once, before the question is shown
        terminal.expect("Enters: ")
        terminal.answer("Enters: ", "OBSERVE 7")
        terminal.expect("Player 2's token is not at position 7.")
        terminal.ask(PASS.format("Player 2"))
        terminal.send("\x03")
        assert terminal.wait() == 130
    assert "MOVE 2" not in terminal.text


def test_undecodable_input_at_a_secret_question(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt") as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", b"\xff\xfe MOVE \xc3")
        terminal.answer(HIDE, b"\xff")
        terminal.answer("Enters: ", "MOVE 2")
        terminal.answer("Enters: ", b"\xff\xfe")
        terminal.expect("is not an observation. Enter OBSERVE and a position")
        terminal.answer(HIDE, "")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    assert "Traceback" not in terminal.text


def test_a_resumed_program_hides_secrets_again(tmp_path: Path) -> None:
    """The shell changes the terminal's settings in the meantime."""
    with Terminal(tmp_path, "play", "hunt") as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.ask("Enters: ")
        os.kill(terminal.process.pid, signal.SIGSTOP)
        os.waitpid(terminal.process.pid, os.WUNTRACED)
        settings = termios.tcgetattr(terminal.master)
        settings[3] |= termios.ECHO
        termios.tcsetattr(terminal.master, termios.TCSANOW, settings)
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.wait_for_no_echo()
        terminal.send("MOVE 2\n")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    assert "MOVE 2" not in terminal.text


def test_undo_past_an_answer_needs_consent_and_shows_no_secret(tmp_path: Path) -> None:
    record = tmp_path / "hunt.duel"
    with Terminal(tmp_path, "play", "hunt", "--save", record) as terminal:
        play_turn(terminal, "Player 1", ["MOVE 2"], "OBSERVE 7")
        play_turn(terminal, "Player 2", ["MOVE 5"], "OBSERVE 7")
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "undo")
        terminal.answer("Player 2, do you agree to take it back? (yes/no): ", "yes")
        terminal.expect("Taken back: 3 entries.")
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "OBSERVE 5")
        terminal.answer(PASS.format("Player 2"), "")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    assert "MOVE" not in terminal.public_text.replace("enter MOVE n, STAY or TUNNEL n", "")
    assert lines_of(read_record(record).match) == ["move 2", "observe 5"]


def test_a_movement_entered_at_the_open_question_is_erased(tmp_path: Path) -> None:
    """People may repeat a hidden entry at the next question, which echoes it."""
    with Terminal(tmp_path, "play", "hunt") as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "MOVE 3")
        terminal.expect("(hidden)")
        terminal.answer("Enters: ", "MOVE 3")
        terminal.expect("is not an observation")
        terminal.answer(HIDE, "")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    *_, last, _ = terminal.screens  # the last screen is cleared
    assert "MOVE 3" not in last
    assert "Enters: quit" in last


def test_resuming_shows_neither_persons_secrets(tmp_path: Path) -> None:
    record = tmp_path / "hunt.duel"
    with Terminal(tmp_path, "play", "hunt", "--save", record) as terminal:
        play_turn(terminal, "Player 1", ["MOVE 2"], "OBSERVE 7")
        terminal.answer(PASS.format("Player 2"), "")
        terminal.answer("Enters: ", "MOVE 5")
        terminal.answer("Enters: ", "quit")
        assert terminal.wait() == 0
    with Terminal(tmp_path, "resume") as terminal:
        terminal.answer(PASS.format("Player 2"), "")
        terminal.answer("Enters: ", "board")
        terminal.answer(HIDE, "")
        terminal.answer("Enters: ", "OBSERVE 2")
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
    assert "MOVE 2" not in terminal.text
    assert "MOVE 5" not in terminal.text
    assert "position 5" in terminal.private_text
    assert "position 5" not in terminal.public_text
    assert "Player 2 wins by capturing Player 1's token!" in terminal.text


@pytest.mark.parametrize("seat", Seat)
def test_a_machines_token_is_never_shown(tmp_path: Path, seat: Seat) -> None:
    """The person's screen does not depend on the machine's secrets."""
    screens = []
    for cell in (5, 6):
        machine = {Seat.ONE: "human", Seat.TWO: "human"} | {seat.other: "random"}
        entries = ["move 2", "observe 7", f"move {cell}", "observe 7"]
        if seat is Seat.TWO:
            entries = [f"move {cell}", "observe 7", "move 2", "observe 7", f"move {cell}", "observe 1"]
        header = f"seat1: {machine[Seat.ONE]}\nseat2: {machine[Seat.TWO]}\nseed: 1\n\n"
        record = tmp_path / f"{cell}.duel"
        record.write_text(f"duels record 1\ngame: hunt\n{header}" + "".join(f"{e}\n" for e in entries))
        with Terminal(tmp_path, "resume", record) as terminal:
            for entry in ("board", "moves", "undo", "MOVE 7"):
                terminal.answer("Where do you go? MOVE n, STAY or TUNNEL n: ", entry)
            terminal.answer("Where do you go? MOVE n, STAY or TUNNEL n: ", "MOVE 3")
            terminal.answer("Which position do you observe? OBSERVE n: ", "quit")
            assert terminal.wait() == 0
        screens.append(terminal.text.replace(record.name, "RECORD"))
    assert screens[0] == screens[1]
    assert "random observes position 7. Your token is not there." in screens[0]
    assert "You cannot take this back" in screens[0]


@pytest.mark.parametrize("key", ["\x03", "\x04"])
@pytest.mark.parametrize(
    ("game", "prompts"),
    [
        ("lights", ["> "]),
        ("flip", ["single tile: "]),
        ("hunt", ["then press Enter. "]),
        ("hunt", ["then press Enter. ", "Enters: "]),
    ],
)
def test_leaving_before_the_first_decision_saves_nothing(
    tmp_path: Path, key: str, game: str, prompts: list[str]
) -> None:
    record = tmp_path / "match.duel"
    with Terminal(tmp_path, "play", game, "--save", record) as terminal:
        for prompt in prompts[:-1]:
            terminal.answer(prompt, "")
        terminal.ask(prompts[-1])
        terminal.send(key)
        terminal.expect("Nothing was played, so nothing was saved.")
        assert terminal.wait() == 130
        assert terminal.echoes, "the settings are restored"
    assert "Traceback" not in terminal.text
    assert not record.exists()


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_leaving_by_key_after_a_decision_saves_it(tmp_path: Path, key: str) -> None:
    record = tmp_path / "match.duel"
    with Terminal(tmp_path, "play", "hunt", "--save", record) as terminal:
        play_turn(terminal, "Player 1", ["MOVE 2"], "OBSERVE 6")
        terminal.answer(PASS.format("Player 2"), "")
        terminal.ask("Enters: ")
        terminal.send(key)
        terminal.expect("The match is saved. Continue with: duels resume")
        assert terminal.wait() == 130
    assert "duels resume\n" in terminal.main_screen
    assert lines_of(read_record(record).match) == ["move 2", "observe 6"]


def test_leaving_by_key_while_a_secret_is_shown_hides_it(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "hunt") as terminal:
        terminal.answer(PASS.format("Player 1"), "")
        terminal.answer("Enters: ", "MOVE 77")
        terminal.ask(HIDE)
        terminal.send("\x03")
        assert terminal.wait() == 130
        assert terminal.echoes
    assert "position 77" in terminal.private_text
    assert "position 77" not in terminal.public_text
    assert "\x1b[?1049l" in terminal.text.split(HIDE)[1]


def test_leaving_the_menu_by_key(tmp_path: Path) -> None:
    for key, code in (("\x03", 130), ("\x04", 0)):
        with Terminal(tmp_path) as terminal:
            terminal.ask("Number or name: ")
            terminal.send(key)
            assert terminal.wait() == code
        assert "Traceback" not in terminal.text


@pytest.mark.parametrize(
    ("arguments", "variables", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": ""}, True),  # by convention, an empty value has no effect
        ((), {"NO_COLOR": "1"}, False),
        ((), {"TERM": "dumb"}, False),
        (("--plain",), {}, False),
    ],
)
def test_colour_on_a_terminal(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, Any], coloured: bool
) -> None:
    with Terminal(tmp_path, "play", "chain", *arguments, **variables) as terminal:
        terminal.answer("want to observe: ", "4")
        terminal.answer("want to observe: ", "quit")
        assert terminal.wait() == 0
    assert (ESCAPE in terminal.text) == coloured


def test_no_colour_and_no_screen_tricks_in_a_pipe(tmp_path: Path) -> None:
    for game, entries in (("chain", b"4\nquit\n"), ("hunt", b"MOVE 9\nMOVE 3\nboard\nOBSERVE 4\nquit\n")):
        result = command(tmp_path, "play", game, entered=entries)
        assert result.returncode == 0
        assert b"\x1b" not in result.stdout + result.stderr


def test_two_people_cannot_share_secrets_when_only_the_keyboard_is_a_terminal(tmp_path: Path) -> None:
    """The terminal would echo secrets while the output goes elsewhere."""
    master, keyboard = os.openpty()
    try:
        result = subprocess.run(
            [*COMMAND, "play", "hunt"],
            stdin=keyboard,
            capture_output=True,
            text=True,
            env=environment(tmp_path),
            check=False,
        )
    finally:
        os.close(master)
        os.close(keyboard)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "Do not redirect the output." in result.stderr
    assert not list(tmp_path.rglob("*.duel"))
