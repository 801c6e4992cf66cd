"""duels practice."""

import io
from datetime import date
from itertools import islice

import pytest

import duels
from duels.analysis import exercises
from duels.analysis.exercises import Exercise, Skill, get_daily_puzzle, select_by_skill
from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games import find_game
from duels.terminal import puzzle_commands
from duels.terminal.commands import run
from duels.terminal.prompts import POSITION_COMMANDS, Quit, format_help
from duels.terminal.puzzle_commands import load_progress
from duels.terminal.screen import Screen

pytestmark = pytest.mark.usefixtures("home")


def some(game: str, count: int, seed: object = 1) -> list[Exercise]:
    return list(islice(duels.exercises(game, str(seed)), count))


def test_a_rare_step_of_the_mix_is_right_in_practice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (exercise,) = (e for e in some("hunt", 1, 2))
    rules = find_game("hunt").rules()
    least = min((j for j in exercise.verdict.actions if j.best), key=lambda judged: judged.weight)
    assert least.weight < 0.5
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{rules.format(least.action)}\n"))
    assert run(["practice", "hunt", "--count", "1", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("What would the strategy do?")
    assert f"Right: {rules.format(least.action)} wins" in out


def test_flip_explains_which_answers_are_equivalent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "flip", "--seed", "3"]) == 0
    assert capsys.readouterr().out.startswith("All unseen tiles count as one answer")


def test_the_puzzle_shows_the_observation_before_the_challenge(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "chain", "--seed", "3"]) == 0
    output, question = capsys.readouterr().out.split("\n\n")
    assert output.startswith("Puzzle 1 of 5: you are X, to move\nCurrent Board:\n[ O?] [ O ]")
    assert output.endswith("Player 2 observes cell 1, adjacent to cell 2.")
    assert question == "Do you want to challenge? (yes/no): quit\n"


def test_an_interrupt_prints_the_score_on_its_own_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([find_game("leap").rules().format(some("leap", 1, 5)[0].verdict.best[0])])

    def answer(*_: object) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("duels.terminal.screen.Screen.ask", answer)
    assert run(["practice", "leap", "--seed", "5"]) == 130
    assert capsys.readouterr().out.endswith("\n\n1 of 1 right.\n")


def test_right_and_wrong_are_graded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = find_game("leap").rules()
    first, second = some("leap", 2, 5)
    right = rules.format(first.verdict.best[0])
    wrong = next(rules.format(j.action) for j in second.verdict.actions if not j.best)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"hint\n{right}\nx\n{wrong}\n"))
    assert run(["practice", "leap", "--count", "2", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert f"Right: {right} wins" in out
    assert f"{wrong} loses; " in out
    assert "1 of 2 right." in out
    assert "Hint:" in out


def test_the_commands_of_a_match_work_in_a_puzzle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("help\n?\nrules\nboard\nmoves\nhint\nback\nquit\n"))
    assert run(["practice", "chain", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    (exercise,) = some("chain", 1, 5)
    room = find_game("chain")
    words = room.words(room.rules())
    assert out.count(format_help({**POSITION_COMMANDS, "quit": "leave"})) == 2
    assert room.card() in out
    assert out.count(strip_ink(str(words.board(exercise.sight)))) == 2  # at the start and after the command
    assert strip_ink(words.moves(exercise.sight)) in out
    assert "Hint:" in out
    assert "right." not in out  # no puzzle was answered


def test_the_score_is_printed_at_the_end_of_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (exercise,) = some("leap", 1, 5)
    right = find_game("leap").rules().format(exercise.verdict.best[0])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{right}\n"))
    assert run(["practice", "leap", "--seed", "5"]) == 130
    assert capsys.readouterr().out.endswith("1 of 1 right.\n")


def test_a_game_without_clear_positions_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercises, "CLEAR_GAP", 1.1)
    assert run(["practice", "leap"]) == 0
    assert capsys.readouterr().out == "Found no positions with a clear answer in leap.\n"


def test_flip_shows_what_a_player_would_remember(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = find_game("flip").rules()
    words = find_game("flip").words(rules)
    sight = rules.parse_position("...../.4.../..5../...2e/..... 6,5 01 2")
    assert words.recap(sight).render() == "Shown and face down: D5 is a 5.\nQuantum Flips left: Player 2.\n"
    for lifted in (("A1+A2",), ("A1+A2", "2,5")):  # a quantum flip in progress counts
        sight = Match.start(rules).play_text(*lifted).sight(Seat.ONE)
        assert words.recap(sight).render() == "Quantum Flips left: Player 2.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["practice", "flip", "--seed", "3"]) == 0
    (exercise,) = some("flip", 1, 3)
    assert words.recap(exercise.sight).render() in capsys.readouterr().out


def test_an_answer_is_saved_before_its_grade_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal may disappear at any moment."""
    exercise = next(select_by_skill(exercises.exercises("leap", "1"), Skill()))
    monkeypatch.setattr(puzzle_commands, "exercises", lambda rules, seed: iter([exercise]))
    right = find_game("leap").rules().format(exercise.verdict.best[0])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{right}\n"))
    say = Screen.say

    def until_it_is_gone(screen: Screen, text: str) -> None:
        if "Right: " in text or " right." in text:
            raise OSError(5, "Input/output error")
        say(screen, text)

    monkeypatch.setattr(Screen, "say", until_it_is_gone)
    assert run(["practice", "leap", "--count", "1"]) == 1
    assert Skill.from_data(load_progress("practice")[repr(find_game("leap").rules())]).aim > Skill().aim


@pytest.mark.parametrize("word", ["q", "exit", "quit"])
@pytest.mark.parametrize("command", [["practice", "leap", "--seed", "5"], ["daily", "--date", "2026-01-01"]])
def test_the_commands_that_leave_a_match_leave_practice(
    command: list[str], word: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{word}\n"))
    assert run(command) == 0
    assert "'" + word not in capsys.readouterr().out


def test_a_daily_puzzle_explains_equivalent_answers_below_its_title(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    day = date(2026, 1, 1)
    answers = [
        rules.format(get_daily_puzzle(day, game).verdict.best[0])
        for game in (find_game(name) for name in ("lights", "leap", "chain"))
        for rules in [game.rules()]
    ]
    given = iter(answers)

    def answer(exercise: Exercise, title: str, screen: Screen, *output: object) -> object:
        screen.say(f"{title}: {output[-1]}\n")
        try:
            return exercise.sight.rules.parse(next(given))
        except StopIteration:
            raise Quit from None

    monkeypatch.setattr(puzzle_commands, "ask_exercise", answer)
    assert run(["daily", "--date", day.isoformat()]) == 0
    assert "Quantum Duel: the hunt, puzzle 4 of 5: What would the strategy do?" in capsys.readouterr().out
