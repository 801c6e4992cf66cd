"""Lessons: every position has a legal right answer and one theme."""

import pytest

from duels.analysis.lessons import get_lesson
from duels.games import GAMES, find_game
from duels.solving.oracles import get_oracle


@pytest.mark.parametrize("game", GAMES)
def test_a_lesson_has_three_or_four_steps_with_legal_answers(game: str) -> None:
    steps = get_lesson(find_game(game))
    assert len(steps) in (3, 4)
    for step in steps:
        assert 0 < len(step.answers) < len(step.sight.actions)
        assert set(step.answers) <= set(step.sight.actions)
        assert {step.comment(action) for action in step.sight.actions} == {step.lesson, step.retry}


@pytest.mark.parametrize("game", GAMES)
def test_marks_explain_parts_of_the_drawing(game: str) -> None:
    steps = get_lesson(find_game(game))
    assert any(step.marks for step in steps)
    for step in steps:
        picture = find_game(game).drawing(step.sight.rules).draw(step.sight, targets=True)
        for part, _ in step.marks:
            assert any(f'{attribute}="{part}"' in picture for attribute in ("data-key", "data-action")), part


@pytest.mark.parametrize("game", ["lights", "leap"])
def test_right_answers_win_and_wrong_ones_lose(game: str) -> None:
    for step in get_lesson(find_game(game)):
        for judged in get_oracle(step.sight.rules).judge(step.sight).actions:
            assert judged.value.number == (judged.action in step.answers)


def test_hunts_lesson_rejects_only_positions_where_a_hit_cannot_win() -> None:
    step = get_lesson(find_game("hunt"))[1]
    belief = get_oracle(step.sight.rules).belief(step.sight)
    own_cell = step.sight.view.cell  # a token there has been met: the mover loses
    rejected = {action.cell for action in step.sight.actions if action not in step.answers}
    free = {action.cell for action in step.sight.actions if not belief[f"position {action.cell}"]}
    assert rejected == free | {own_cell}


def test_a_game_from_outside_has_no_lesson() -> None:
    from duels_tictactoe import GAME

    assert get_lesson(GAME) == ()
