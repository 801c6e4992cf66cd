"""Habits do what they are called, and become tables without losing anything."""

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.habits import HABITS, LAST, as_tables, of_weights
from duels.games.hunt.rules import Move, Observe, QuantumHunt
from duels.games.hunt.strategy import CELLS

ENTERED = Match.start(QuantumHunt()).play_text("move 3", "observe 7", "move 6", "observe 1")


def test_whoever_stays_stays() -> None:
    sight = ENTERED.sight(Seat.ONE)
    weights = dict(zip(sight.actions, HABITS["always stays"](sight.view, sight.actions), strict=True))
    assert [action for action, weight in weights.items() if weight] == [Move(3)]


def test_whoever_sweeps_begins_anew_after_the_last_cell() -> None:
    sight = ENTERED.play_text("move 3").sight(Seat.ONE)
    weights = dict(zip(sight.actions, HABITS["sweeps"](sight.view, sight.actions), strict=True))
    assert [action for action, weight in weights.items() if weight] == [Observe(1)]


@pytest.mark.parametrize("name", HABITS)
def test_tables_hold_whole_distributions(name: str) -> None:
    pytest.importorskip("numpy")
    for seat in Seat:
        habit = of_weights(HABITS[name], seat)
        assert habit.moves.sum(axis=2) == pytest.approx(1.0)
        assert habit.names.sum(axis=2) == pytest.approx(1.0)
        assert habit.moves[:, :, -1].max() == 0.0  # nobody leaves the grid
        never_again = [habit.names[row, :, LAST.states[row // len(LAST.states)][0]] for row in range(8, 64)]
        assert max(part.max() for part in never_again) == 0.0


def test_a_habit_that_keeps_its_tunnel_is_stored_as_it_is() -> None:
    pytest.importorskip("numpy")
    habit = of_weights(HABITS["never tunnels"], Seat.ONE)
    tables = as_tables(habit)
    for row in (0, 9, 63):
        for cell in range(CELLS):
            weights = tables.name_weights(row, cell)
            assert [w / sum(weights) for w in weights] == pytest.approx(habit.names[row, cell].tolist())
        entering = tables.move_weights(row, CELLS)
        assert len(set(entering)) == 1
