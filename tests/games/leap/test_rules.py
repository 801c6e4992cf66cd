"""The book's rules of leap, statement by statement (docs/books.md)."""

import pytest

from duels.core.errors import IllegalMove
from duels.core.explore import iter_reachable
from duels.core.match import Match
from duels.core.rules import Ending, Seat
from duels.games.leap.rules import Enter, Leap, QuantumLeap, State

RULES = QuantumLeap()


def test_both_tokens_start_off_a_grid_of_21_cells() -> None:
    assert RULES.goal == 21
    assert RULES.format_state(RULES.initial()) == "- - 1"


def test_the_first_turn_enters_at_cell_1() -> None:
    match = Match.start(RULES)
    assert match.actions == (Enter(),)
    assert match.play_text("enter").actions == (Enter(),)
    assert match.play_text("enter", "enter").state.cells == (1, 1)


@pytest.mark.parametrize(
    ("cell", "leaps"),
    [
        (1, (1,)),
        (2, (1, 2)),
        (4, (1, 2, 4)),
        (6, (1, 2, 3, 6)),
        (8, (1, 2, 4, 8)),
        (12, (1, 2, 3, 4, 6)),
        (16, (1, 2, 4)),
        (20, (1,)),
    ],
)
def test_leaps_are_the_divisors_that_do_not_overshoot(cell: int, leaps: tuple[int, ...]) -> None:
    assert RULES.leaps(cell) == leaps


def test_every_turn_takes_ones_own_token_forward_by_a_divisor() -> None:
    for match in iter_reachable(RULES):
        cell = match.state.cell_of(match.state.mover)
        for action in match.actions:
            after = RULES.apply(match.state, action).state
            by = after.cell_of(match.state.mover) - cell
            assert by > 0
            assert after.cell_of(match.state.mover) <= RULES.goal
            assert cell == 0 or cell % by == 0
            assert after.cell_of(match.state.mover.other) == match.state.cell_of(match.state.mover.other)
            assert after.mover is match.state.mover.other


def test_tokens_share_cells_and_never_block_each_other() -> None:
    for cell in range(1, RULES.goal):
        alone = RULES.actions(State((cell, 0), Seat.ONE))
        for other in range(1, RULES.goal):
            assert RULES.actions(State((cell, other), Seat.ONE)) == alone


@pytest.mark.parametrize(("cell", "by"), [(16, 8), (16, 16), (12, 9), (20, 2), (4, 3), (8, 0)])
def test_leaps_that_overshoot_or_do_not_divide_are_illegal(cell: int, by: int) -> None:
    assert Leap(by) not in RULES.actions(State((cell, 1), Seat.ONE))


def test_rejects_illegal_leaps() -> None:
    with pytest.raises(IllegalMove):
        Match.start(RULES).play_text("enter", "enter", "2")


def test_the_first_token_on_cell_21_wins() -> None:
    leaps = ("1", "1", "2", "2", "4", "2", "8", "6", "4", "6", "1")
    match = Match.start(RULES).play_text("enter", "enter", *leaps)
    assert match.state.cells == (21, 18)
    assert match.outcome
    assert match.outcome.winner is Seat.ONE
    assert match.outcome.ending is Ending.WON
