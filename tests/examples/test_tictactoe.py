"""Tic-tac-toe, an example with draws: its rules and the defaults that it gets."""

from fractions import Fraction
from random import Random

import pytest
from duels_tictactoe import GAME
from duels_tictactoe.rules import TicTacToe

import duels
from duels.analysis.review_page import render_review_page
from duels.core.errors import NotationError
from duels.core.laws import LawReport, check_everywhere
from duels.core.match import Match, play_through
from duels.core.record import dump_record
from duels.core.rules import Ending, Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.players import make_player
from duels.solving.induction import InductionOracle
from duels.solving.oracles import get_oracle
from duels.terminal.messages import HintStages
from duels.terminal.review import render_review
from duels.terminal.solve import render_solution
from tests.support import count_lines

RULES = TicTacToe()


def test_every_law_holds_everywhere() -> None:
    assert check_everywhere(RULES) == LawReport(states=5478, steps=16167)


def test_the_number_of_lines() -> None:
    """The published numbers: 9 · 8 · 7 · 6 · 5 lines, and from then on some have ended."""
    assert count_lines(RULES, 9) == (9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872)


@pytest.mark.parametrize(
    ("entries", "ending", "winner"),
    [
        ("1 4 2 5 3", Ending.WON, Seat.ONE),
        ("1 3 2 5 4 7", Ending.WON, Seat.TWO),
        ("1 2 3 5 8 4 6 9 7", Ending.DRAWN, None),
        ("1 2 3 4 5 6 8 7 9", Ending.WON, Seat.ONE),  # the ninth mark wins
    ],
)
def test_results_of_matches(entries: str, ending: Ending, winner: Seat | None) -> None:
    outcome = Match.start(RULES).play_text(*entries.split()).outcome
    assert outcome
    assert (outcome.ending, outcome.winner) == (ending, winner)


@pytest.mark.parametrize("text", ["", "X", "XO_X_____", "XO_X____ 1", "XO_X____! 2", "XO_X_____ 3"])
def test_rejects_invalid_positions(text: str) -> None:
    with pytest.raises(NotationError, match="Cannot read"):
        RULES.parse_position(text)


def test_a_drawn_match_is_recorded() -> None:
    match = Match.start(RULES).play_text(*"123584697")
    text = dump_record(match)
    assert text.endswith("result: drawn\n")
    assert load_record(text, GAME).match.outcome == match.outcome


# -- what every game has without asking for it -------------------------------------------------------


def test_missing_modules_have_defaults() -> None:
    sight = RULES.sight(RULES.initial(), Seat.ONE)
    assert GAME.encoding(RULES).size == 9 * 3 + 1
    assert GAME.greedy(RULES)(sight, sight.actions[0]) == 0.5
    assert "<svg" in GAME.drawing(RULES).draw(sight)
    assert "Three of your marks" in GAME.card()


def test_values_are_not_called_chances_to_win() -> None:
    opening = RULES.sight(RULES.initial(), Seat.ONE)
    assert duels.hint(opening).text == (
        "All actions are equally good (worth 50.0%). Every move keeps the draw."
    )
    stages, words = HintStages(), GAME.words(RULES)
    *_, hint = (strip_ink(stages.render(opening, words, (), get_oracle(RULES))) for _ in range(3))
    assert hint == "Hint: All actions are equally good (worth 50.0%). Every move keeps the draw.\n"
    assert "Player 1 to move is at 50.0% (1/2, exact)." in render_solution(opening, get_oracle(RULES))
    exercise = next(e for e in duels.exercises(GAME, "1") if e.verdict.value.number == 0.5)
    right = exercise.verdict.best[0]
    assert exercise.grade(right).text.startswith(f"Right: {RULES.format(right)} draws. ")
    drawn = duels.review(Match.start(RULES).play_text(*"123584697"))
    for text in (render_review(drawn), render_review_page(drawn)):
        assert "chance to win" not in text
        assert "The match's worth to Player 1" in text


def test_perfect_play_is_a_draw() -> None:
    oracle = get_oracle(RULES)
    assert isinstance(oracle, InductionOracle)
    assert oracle.value(RULES.sight(RULES.initial(), Seat.ONE)).fraction == Fraction(1, 2)
    corner = RULES.parse_position("X________ 2")
    assert [RULES.format(action) for action in oracle.judge(corner).best] == ["5"]
    assert oracle.reason(corner) == "5 keeps the draw; every other move loses."
    assert all(check.passed for check in oracle.verify())


@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("other", ["random", "greedy", "perfect"])
def test_a_perfect_player_never_loses(seat: Seat, other: str) -> None:
    players = {seat: make_player("perfect", RULES), seat.other: make_player(other, RULES)}
    rng = Random(f"{seat} {other}")
    for _ in range(30):
        *_, match = play_through(
            Match.start(RULES), rng, lambda match, actor: players[actor].choose(match.sight(actor), rng)
        )
        assert match.outcome
        assert match.outcome.winner in ((None,) if other == "perfect" else (None, seat))


def test_the_screen_of_a_match() -> None:
    words = GAME.words(RULES)
    match = Match.start(RULES).play_text("5", "1")
    board = words.board(match.sight(Seat.ONE))
    assert [cell.label for row in board.cells for cell in row] == list("123456789")
    assert strip_ink(str(board)) == " O | 2 | 3\n 4 | X | 6\n 7 | 8 | 9\n"
    drawn = Match.start(RULES).play_text(*"123584697")
    assert words.narrate(drawn.events_seen_by(None)).render().endswith("The board is full: a draw.\n")
    won = Match.start(RULES).play_text(*"14253")
    assert strip_ink(words.narrate(won.events_seen_by(None)).render()).endswith(
        "Player 1 has three in a row and wins!\n"
    )
