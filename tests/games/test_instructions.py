"""Instructions on boards: at most two short sentences wherever a seat decides, and nothing hidden."""

from random import Random

import pytest

from duels.core.match import Match
from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from tests.support import all_rules, play_randomly

MOST_LETTERS = 66  # two lines of a headline on a phone, for which a page keeps room


def test_a_full_board_of_chain_is_explained_above_the_empty_one() -> None:
    rules = find_game("chain").rules()
    drawing = rules.game.drawing(rules)
    match = Match.start(rules).play_text("1", "3", "4", "5", "6", "7", "2", "challenge", "heads")
    for seat in Seat:
        assert drawing.last_change(match.sight(seat)) == "The full board decohered."
    assert "the coin showed" not in drawing.draw(match.sight(Seat.TWO)), "on a cell that is free again"
    match = match.play_text("4")
    assert not any(drawing.last_change(match.sight(seat)) for seat in Seat)


def test_hunt_examples_fit_the_question_and_do_not_reveal_the_token() -> None:
    rules = find_game("hunt").rules()
    drawing = rules.game.drawing(rules)
    match = Match.start(rules)
    assert drawing.example(match.sight(Seat.ONE)) == "m 4 or t 4"
    for move, next_entry in (("move 1", "move 2"), ("tunnel 7", "move 6")):
        moved = match.play_text(move)
        assert drawing.example(moved.sight(Seat.ONE)) == "o 4"
        again = moved.play_text("observe 4", "move 3", "observe 4")
        assert drawing.example(again.sight(Seat.ONE)) == "m 4, stay or t 4"
        assert drawing.example(again.play_text(next_entry).sight(Seat.ONE)) == "o 5", (
            "4 cannot be named twice"
        )


@pytest.mark.parametrize("rules", all_rules(), ids=repr)
def test_instructions_on_boards_are_short(rules: AnyRules) -> None:
    drawing = rules.game.drawing(rules)
    instructions = set()
    for seed in range(12):
        match = play_randomly(Match.start(rules), Random(seed), seed)
        if isinstance(match.actor, Seat):
            instructions.add(drawing.instruction(match.sight(match.actor)))
    assert instructions
    for sentence in instructions:
        assert sentence[0].isupper()
        assert sentence[-1] in ".?"
        assert len(f"Your turn. {sentence}") < MOST_LETTERS


def test_hunt_says_that_the_first_observation_cannot_hit() -> None:
    rules = find_game("hunt").rules()
    drawing = rules.game.drawing(rules)
    match = Match.start(rules).play_text("move 4")
    assert "off the grid" in drawing.instruction(match.sight(Seat.ONE))
    match = match.play_text("observe 6", "move 2")
    assert "off the grid" not in drawing.instruction(match.sight(Seat.TWO))


def test_hunt_offers_the_tunnel_faintly_where_a_step_leads() -> None:
    rules = find_game("hunt").rules()
    match = Match.start(rules)
    for entries, near in (((), range(1, 8)), (("move 4", "observe 6", "move 2", "observe 6"), (3, 4, 5))):
        sight = match.play_text(*entries).sight(Seat.ONE)
        picture = str(rules.game.drawing(rules).draw(sight, targets=True))
        for cell in range(1, 8):
            target = picture.partition(f'data-action="tunnel {cell}"')[2].partition("</g>")[0]
            assert ("without it" in target) == ("stroke-dasharray" in target) == (cell in near)
