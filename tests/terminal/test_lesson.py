"""duels lesson."""

import io
import sys
from pathlib import Path

import pytest

from duels.analysis.lessons import get_lesson
from duels.games import GAMES, find_game
from duels.terminal.commands import run
from tests.terminal.terminal import Terminal

pytestmark = pytest.mark.usefixtures("home")


def play(game: str, entries: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{entry}\n" for entry in entries)))
    return run(["lesson", game])


@pytest.mark.parametrize("game", GAMES)
def test_right_answers_lead_through_the_lesson(
    game: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = find_game(game).words(find_game(game).rules())
    steps = get_lesson(find_game(game))
    entries = [entry for step in steps for entry in words.entries(step.sight, step.answers[0])]
    assert play(game, entries, monkeypatch) == 0
    output = capsys.readouterr().out
    for step in steps:
        assert step.task in output
        assert step.lesson in output
    assert f"duels play {game} --seat2 casual" in output


def test_a_wrong_answer_gets_a_tip_and_the_same_question(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = get_lesson(find_game("leap"))[0]
    assert play("leap", ["1", "7", "quit"], monkeypatch) == 0
    output = capsys.readouterr().out
    assert output.index(step.retry) < output.index(step.lesson)
    assert "That was the lesson" not in output


def test_a_game_without_a_lesson_says_where_its_rules_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lesson", "tictactoe"]) in (1, 2)
    assert "tictactoe" in capsys.readouterr().err


OFFER = "Your first match of leap? Press l for a lesson of two minutes, p to play [l]: "


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_lesson_is_offered_once_before_the_first_match_against_a_machine(tmp_path: Path) -> None:
    arguments = ("play", "leap", "--seat2", "casual")
    with Terminal(tmp_path, *arguments, "--plain", offers_lesson=True) as terminal:
        terminal.answer("Choose your move: ", "quit")
        assert terminal.wait() == 0
    with Terminal(tmp_path, "play", "leap", offers_lesson=True) as terminal:
        terminal.answer("Choose your move: ", "quit")
        assert terminal.wait() == 0
    with Terminal(tmp_path, *arguments, offers_lesson=True) as terminal:
        terminal.press(OFFER, "\n")
        terminal.expect("Step 1 of ")
        terminal.answer("Choose your move: ", "quit")
        terminal.answer("Press Enter to start the match. ", "")
        terminal.expect("against casual.")
    with Terminal(tmp_path, *arguments, offers_lesson=True) as terminal:
        terminal.expect("against casual.")
    assert OFFER not in terminal.text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_menu_has_the_lessons(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.answer("Number or name: ", "learn")
        terminal.answer("Number or name: ", "leap")
        terminal.expect("Step 1 of ")
