"""The choices after a match, the players' names, pauses and line lengths."""

import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import pytest

from duels.games import find_game
from duels.play.library import read_record
from duels.terminal.keyboard import SILENCE_SECONDS
from tests.support import GAME_NAMES, command, duels, environment, lines_of
from tests.terminal.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

AFTER_REVIEW = "Press b board by board, r rematch, s swap seats, v review, n new game, q quit: "
AFTER = "Press r rematch, s swap seats, v review, n new game, q quit: "
RESIGN = "Do you want to resign? (yes/no): "
LIGHTS = "> "
PLAIN: dict[str, Any] = {"NO_COLOR": "1"}
INK = re.compile(r"\x1b\[[0-9;]*m")


def records(folder: Path) -> list[Path]:
    return sorted((folder / "matches").glob("*.duel"), key=lambda path: path.stat().st_mtime_ns)


def give_up(terminal: Terminal) -> None:
    terminal.answer(LIGHTS, "resign")
    terminal.answer(RESIGN, "yes")


# -- after a match -------------------------------------------------------------------------------


def test_letters_typed_while_a_match_ends_are_not_shown(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.expect("You lost.")
        assert not terminal.echoes
        terminal.press(AFTER, "v")
        terminal.press(AFTER_REVIEW, "q")
        assert terminal.wait() == 0
        assert terminal.echoes


def test_one_key_starts_a_rematch(tmp_path: Path) -> None:
    """Three matches in a row, with swapped seats once, in one run of the program."""
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.press(AFTER, "r")
        terminal.expect("You are Player 1 against greedy.")
        give_up(terminal)
        terminal.press(AFTER, "S")
        terminal.expect("You are Player 2 against greedy.")
        give_up(terminal)
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
        assert terminal.echoes
    played = [read_record(path) for path in records(tmp_path)]
    assert [record.headers["seat1"] for record in played] == ["human", "human", "greedy"]
    assert len({record.headers["seed"] for record in played}) == 3, "each match has its own seed"
    assert "duels review" not in terminal.text
    assert terminal.text.count("You lost.") == 3
    # In the third match the position depends on greedy's random first move.
    assert terminal.text.count("\nYour resignation threw away the win; playing on kept it.") in (2, 3)


def test_after_a_review_the_choice_is_offered_again(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        terminal.answer(LIGHTS, "4")  # not an action, so the question is repeated
        give_up(terminal)
        terminal.press(AFTER, "v")
        terminal.expect("resign")
        terminal.press(AFTER_REVIEW, "b")
        for key in ("\x1b[C", "\x1b[D", "q"):
            terminal.press("q stop --", key)
        terminal.press(AFTER_REVIEW, "x")  # not a valid key
        terminal.press("\r\nPress b, r, s, v, n or q. ", "\x1b[A\x1bOQ")  # an arrow key is not valid either
        terminal.send("\x04")
        assert terminal.wait() == 0
    (path,) = records(tmp_path)
    reviewed = duels(tmp_path, "review", path).out
    assert " ".join(reviewed.split()) in " ".join(INK.sub("", terminal.text).split())


def test_a_match_can_be_reviewed_after_its_file_is_deleted(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.ask(AFTER)
        (path,) = records(tmp_path)
        path.unlink()
        terminal.send("v")
        terminal.press(AFTER_REVIEW, "q")
        assert terminal.wait() == 0


WHICH = "\r\nPress r, s, v, n or q. "


@pytest.mark.parametrize("word", ["review", "rematch\n", "n\nq\n", "vv"])
def test_a_word_after_the_match_chooses_nothing(word: str, tmp_path: Path) -> None:
    """A word typed after the match ends chooses nothing."""
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.press(AFTER, word)
        terminal.ask(WHICH)
        terminal.send("q")  # follows another key too soon
        terminal.send("q")
        terminal.send("\x04")
        assert terminal.wait() == 0
    assert terminal.text.endswith(f"{AFTER}{WHICH}q\n".replace("\r", ""))
    assert len(records(tmp_path)) == 1


def test_a_key_counts_again_after_a_silence(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.press(AFTER, "word")
        terminal.ask(WHICH)
        time.sleep(3 * SILENCE_SECONDS)
        terminal.send("s\n")  # Enter is optional
        terminal.expect("You are Player 2 against greedy.")
        terminal.send("\x03")
        assert terminal.wait() == 130


def test_keys_typed_while_the_match_ends_choose_nothing(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        terminal.answer(LIGHTS, "resign")
        terminal.ask(RESIGN)
        terminal.send("yes\nr")
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
    assert len(records(tmp_path)) == 1


def test_a_new_game_is_chosen_from_the_menu(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        give_up(terminal)
        terminal.press(AFTER, "n")
        terminal.expect("Which game?")
        terminal.answer("Number or name: ", "chain")
        terminal.answer("Number or name [casual]: ", "greedy")
        terminal.answer("Number or name [me]: ", "")
        terminal.answer("Number or name [short]: ", "")
        terminal.expect("You are Player 1 (X) against greedy.")
        terminal.answer("want to observe: ", "quit")
        terminal.answer("Number or name: ", "quit")
        assert terminal.wait() == 0


def test_a_resumed_match_offers_a_rematch(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    play = ("play", "lights", "--lights", "9", "--seat2", "greedy", "--save", path)
    duels(tmp_path, *play, entered="1-2\nquit\n")
    with Terminal(tmp_path, "resume", path, **PLAIN) as terminal:
        terminal.expect("You are Player 1 against greedy.")
        give_up(terminal)
        terminal.press(AFTER, "s")
        give_up(terminal)
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
    (again,) = records(tmp_path)
    assert read_record(again).match.rules == find_game("lights").rules(lights=9)
    assert read_record(again).headers["seat1"] == "greedy"


def test_in_a_pipe_nothing_is_asked_after_a_match(tmp_path: Path) -> None:
    result = duels(tmp_path, "play", "lights", "--seat2", "greedy", entered="resign\nr\n")
    assert result.out.endswith("Player 1 resigns. Player 2 wins!\n")
    assert "You are" not in result.out
    assert re.fullmatch(r"\nRecord: \S+\nReview it with: duels review \S+\n", result.err)


def test_resigning_needs_a_confirmation_on_a_terminal(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", **PLAIN) as terminal:
        terminal.answer(LIGHTS, "resign")
        terminal.answer(RESIGN, "n")
        give_up(terminal)
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0


@pytest.mark.parametrize("word", ["q", "exit", "Q"])
@pytest.mark.parametrize("game", GAME_NAMES)
def test_aliases_of_quit_work_unless_the_game_uses_them(word: str, game: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "play", game, entered=f"{word}\n")
    assert result.code == (130 if game == "flip" and word != "exit" else 0)


# -- players -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seat", "other"), [(1, 2), (2, 1)])
def test_a_person_sees_their_seat_and_the_winner(seat: int, other: int, tmp_path: Path) -> None:
    """With one light left, the player to move wins."""
    path = tmp_path / "match.duel"
    lines = ["1-2", "3-4", "5-6"] if seat == 2 else ["1-2", "3-4", "5", "6"]
    path.write_text(
        f"duels record 2\ngame: lights\nseat{seat}: human\nseat{other}: greedy\nseed: 1\n\n"
        + "".join(f"{line}\n" for line in lines)
    )
    with Terminal(tmp_path, "resume", path) as terminal:
        terminal.expect(f"You are \x1b[36mPlayer {seat}\x1b[0m against greedy.")  # your colour at either seat
        terminal.answer(LIGHTS, "1")
        terminal.answer(LIGHTS, "7")
        terminal.expect("You won")
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0


def test_two_people_see_no_result_in_the_second_person(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights") as terminal:
        give_up(terminal)
        terminal.press(AFTER, "q")
        assert terminal.wait() == 0
    assert "You are" not in terminal.text
    assert "You won" not in terminal.text
    assert "You lost" not in terminal.text


# -- the pause -----------------------------------------------------------------------------------

# Longer than any test would wait.
LONG = (
    "from duels.terminal.screen import PACES; PACES['normal'] = 60.0\n"
    "from duels.terminal.commands import main; main()"
)


PAUSING: dict[str, Any] = {"DUELS_PACE": "normal", **PLAIN}


@pytest.mark.parametrize("key", [" ", "\n", "x", "\x1b[A"])
def test_a_key_skips_the_pause(key: str, tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "greedy", program=LONG, **PAUSING) as terminal:
        terminal.answer(LIGHTS, "1-2")
        terminal.expect("Turning OFF lights 1 and 2.\r\n\r\nStates: X X O O O O O\r\n")
        terminal.wait_for_no_echo()
        terminal.send(key)
        terminal.expect("greedy turns OFF")
        terminal.answer(LIGHTS, "quit")
        assert terminal.wait() == 0
    assert "'x'" not in terminal.text, "the key is not an entry"


def test_a_coin_stays_in_the_air_for_a_moment(tmp_path: Path) -> None:
    play = ("play", "chain", "--chance", "heads")
    with Terminal(tmp_path, *play, program=LONG, **PAUSING) as terminal:
        for entry in ("3", "5", "4"):
            terminal.answer("want to observe: ", entry)
        terminal.answer("(yes/no): ", "yes")
        terminal.expect("Flipping a coin...\r\n")
        terminal.wait_for_no_echo()
        assert "Heads" not in terminal.text
        terminal.send(" ")
        terminal.expect("eads")
        terminal.answer("want to observe: ", "quit")
        assert terminal.wait() == 0


@pytest.mark.parametrize("options", [("--pace", "off"), ()])
def test_pace_off_and_pipes_have_no_pause(options: tuple[str, ...], tmp_path: Path) -> None:
    play = ("play", "lights", "--seat2", "greedy", *options)
    if options:
        with Terminal(tmp_path, *play, program=LONG, **PAUSING) as terminal:
            terminal.answer(LIGHTS, "1-2")
            terminal.answer(LIGHTS, "quit")
            assert terminal.wait() == 0
        return
    result = subprocess.run(  # a pipe
        [sys.executable, "-c", LONG, *play],
        input=b"1-2\nquit\n",
        capture_output=True,
        env=environment(tmp_path, **PAUSING),
        timeout=30,
        check=False,
    )
    assert b"Player 2, choose" in result.stdout


# -- lines ---------------------------------------------------------------------------------------


def test_a_line_is_edited_with_the_arrows(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    with Terminal(tmp_path, "play", "chain", "--save", path) as terminal:
        terminal.answer("want to observe: ", "37\x1b[D\x7f")  # deletes the 3
        terminal.answer(
            "want to observe: ", "\x1b[A\x1b[A4"
        )  # the other person's entries are not in the history
        terminal.answer("want to observe: ", "quit")
        assert terminal.wait() == 0
    assert lines_of(read_record(path).match) == ["7", "4"]


@pytest.mark.parametrize("columns", [60, 40])
def test_printed_text_is_wrapped_between_words(columns: int, tmp_path: Path) -> None:
    entries = ("rules", "help", "moves", "board", "nonsense", "undo", "1")
    with Terminal(tmp_path, "play", "leap", "--seat2", "greedy", size=(columns, 24)) as terminal:
        for entry in entries:
            terminal.answer("Choose your move: ", entry)
        terminal.answer("Choose your move: ", "quit")
        assert terminal.wait() == 0
    text = INK.sub("", terminal.text)
    # Ignore echoed input and paths, which we do not wrap.
    lines = [line for line in text.splitlines() if str(tmp_path) not in line]
    assert max(map(len, lines)) <= columns
    words = set(text.split())
    assert set(find_game("leap").card().split()) <= words
    assert not [line for line in lines if re.search(r"\[\d*$", line)], "no line is broken within a cell"


# -- commands for the shell ----------------------------------------------------------------------


def test_printed_commands_work_in_the_shell(tmp_path: Path) -> None:
    """`make play` runs the script although it is not on the path."""
    script = Path(sysconfig.get_path("scripts"), "duels")
    env = {**environment(tmp_path), "PATH": "/usr/bin:/bin"}
    result = subprocess.run(
        [script, "play", "lights"],
        input="1-2\nquit\n",
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    message = result.stderr.split("Continue with: ")[1].strip()
    assert message.split()[1] == "resume"
    resumed = subprocess.run(
        message, shell=True, input="quit\n", cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert "Turning OFF lights 1 and 2." in resumed.stdout


def test_a_program_started_as_a_module_prints_module_commands(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "duels", "play", "lights"],
        input="1-2\nquit\n",
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Continue with: python -m duels resume " in result.stderr


def test_bytes_in_a_pipe_are_those_of_the_books(tmp_path: Path) -> None:
    result = command(tmp_path, "play", "leap", "--seat2", "greedy", entered=b"1\nquit\n")
    assert b"[1]" not in result.stdout.split(b"\n")[0]
    assert max(map(len, result.stdout.splitlines())) > 60, "a pipe is not wrapped"


def test_an_error_is_wrapped_between_words(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "lights", "--seat2", "somebody", size=(50, 24)) as terminal:
        assert terminal.wait() == 2
    lines = terminal.text.splitlines()
    assert max(map(len, lines)) <= 50
    message = "Invalid value for '--seat2': There is no player 'somebody'; there are human, random, greedy, "
    assert message in " ".join(lines)
    with Terminal(tmp_path, "resume", size=(30, 24)) as terminal:
        assert terminal.wait() == 1
    assert len(terminal.text.splitlines()) > 1
    assert max(map(len, terminal.text.splitlines())) <= 30
