"""A person against a machine at a terminal: the machine has a name, and only the person is `you`."""

from pathlib import Path

import pytest

from duels.core.match import Match
from duels.core.narration import PlayerNames
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games import find_game
from duels.play.narrator import Narrator
from tests.terminal.terminal import Terminal

BOTH = frozenset(Seat)
AGAINST_CASUAL = PlayerNames("human", "casual", Seat.ONE)
START = "duels record 1\ngame: {}\nseat1: human\nseat2: casual\nseed: 1\n\n"


@pytest.mark.parametrize(
    ("game", "entries", "last"),
    [
        ("lights", "4 1-2", "casual turns OFF lights 1 and 2.\n\nStates: X X O X O O O\n\n"),
        ("lights", "1-2 3-4 5-6 7", "X X X X X X X\n\ncasual wins by turning OFF the last light.\n"),
        ("leap", "enter", "Welcome to Quantum Leap!\n\nYou enter at cell 1.\n["),
        ("leap", "enter enter 1 1", "casual moves to cell 2.\n[ ][X,O][3]"),
        ("chain", "1 7", "casual observes cell 7.\n\nCurrent Board:\n[ X ] [ _ ]"),
        ("flip", "A1 3 B1 4", "casual flips tile B1 revealing a 4. New score: 4.\n\n   1   2   3   4   5\n"),
        ("flip", "A1 3 B1+B2 4,5", "casual makes a Quantum Flip revealing tiles B1:4 and B2:5.\n"),
        ("hunt", "move_1 observe_7 move_3 observe_1", "casual wins by capturing your token!\n\n[Q*][2][3]"),
        ("hunt", "move_1 observe_7", "casual's token is not at position 7.\n"),
    ],
)
def test_moves_of_a_machine_are_reported_by_its_name(game: str, entries: str, last: str) -> None:
    rules = find_game(game).rules()
    match = Match.start(rules).play_text(*[entry.replace("_", " ") for entry in entries.split()])
    narrator = Narrator(rules.game.words(rules), BOTH, AGAINST_CASUAL)
    text = strip_ink("".join(narrator.render_match(match)))
    assert last in text
    assert "Player 2, " not in text
    assert "Player 2 (O), " not in text


@pytest.mark.parametrize(
    ("game", "entries", "result"),
    [
        ("leap", "enter enter 1 1 2 2 2 2 3 2 9 2 2 2 1", "You have reached the Quantum Cell and won"),
        ("chain", "7 1 4 3 5 accept 2 accept 6 accept", "You have an unbroken chain"),
        ("flip", "A1 5 B1 1 A2 5 B2 1 A3 5 B3 1 A4 5 B4 1 A5 4", "That exceeds 21. casual wins!"),
        ("hunt", "move_1 observe_5 move_2 observe_3 move_1 observe_2", "You win by capturing casual's "),
        ("hunt", "move_1 observe_2 move_1 observe_3", "Both tokens reveal they are at position 1. casual "),
        ("hunt", "move_1 observe_2 move_2 observe_3 move_2 observe_3", "You lose due to initiating"),
    ],
)
def test_results_name_the_person_and_the_machine(game: str, entries: str, result: str) -> None:
    rules = find_game(game).rules()
    match = Match.start(rules).play_text(*[entry.replace("_", " ") for entry in entries.split()])
    narrator = Narrator(rules.game.words(rules), BOTH, AGAINST_CASUAL)
    text = strip_ink("".join(narrator.render_match(match)))
    assert match.over
    assert result in text
    assert "Player 1" not in text.replace("Player 1: ", "")
    assert "Player 2" not in text.replace("Player 2: ", "")


def resume_hunt(folder: Path, entries: str) -> Path:
    record = folder / "hunt.duel"
    record.write_text(START.format("hunt") + entries)
    return record


def test_hunts_two_questions_differ_and_the_grid_is_shown(tmp_path: Path) -> None:
    record = resume_hunt(tmp_path, "tunnel 3\nobserve 5\nmove 7\nobserve 6\n")
    with Terminal(tmp_path, "resume", record, NO_COLOR="1") as terminal:
        terminal.expect("Where do you go? MOVE n or TUNNEL n: TUNNEL 3\r\n")
        terminal.expect("Which position do you observe? OBSERVE n: OBSERVE 5\r\n")
        terminal.expect(
            "casual observes position 6. Your token is not there.\r\n\r\n[1][2][@][4][5*][6!][7]\r\n"
        )
        terminal.answer("Where do you go? MOVE n or STAY: ", "stay")
        terminal.expect("[1][2][@][4][5*][6!][7]\r\n")
        terminal.expect("Last observed by you (*): 5; by casual (!): 6.\r\n")
        terminal.answer("Which position do you observe? OBSERVE n: ", "quit")
        assert terminal.wait() == 0
    assert "Enters" not in terminal.text
    assert "(hidden)" not in terminal.text


def test_plain_text_keeps_the_books_words(tmp_path: Path) -> None:
    record = resume_hunt(tmp_path, "move 3\nobserve 5\nmove 7\nobserve 6\n")
    with Terminal(tmp_path, "resume", record, "--plain") as terminal:
        terminal.expect("Player 2's token is not at position 5.\r\n")
        terminal.expect("Player 2:\r\nEnters: (hidden)\r\nEnters: OBSERVE 6\r\n")
        terminal.expect("Player 1's token is not at position 6.\r\n")
        terminal.answer("Player 1:\r\nEnters: ", "quit")
        assert terminal.wait() == 0
