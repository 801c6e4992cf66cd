"""Habits do what they are called, and become tables without losing anything."""

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.habits import HABITS, keeping_the_tunnel, of_weights
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
def test_tables_hold_whole_distributions_wherever_the_habit_comes_to(name: str) -> None:
    pytest.importorskip("numba")
    for seat in Seat:
        habit = of_weights(HABITS[name], seat)
        for table in (habit.moves, habit.names):
            totals = table.sum(axis=2).ravel()
            assert totals[totals > 0] == pytest.approx(1.0)
        # Whatever is moved to is named from, and nobody leaves the grid.
        reached = habit.moves.sum(axis=1) > 0
        assert (habit.names.sum(axis=2)[reached] > 0).all()
        assert habit.moves[:, :, -1].max() == 0.0
        remembered = habit.own.states
        for row in range(len(remembered), len(remembered) ** 2):
            assert habit.names[row, :, remembered[row // len(remembered)][0]].max() == 0.0


def test_a_habit_that_keeps_its_tunnel_is_known_by_its_cell() -> None:
    pytest.importorskip("numba")
    habit = of_weights(HABITS["never tunnels"], Seat.ONE)
    kept = keeping_the_tunnel(habit)
    assert kept
    assert kept.cell.tolist() == [*range(CELLS), -1]
    assert kept.moves.sum() == pytest.approx(habit.moves.sum())
    assert kept.names.sum() == pytest.approx(habit.names.sum())
    assert kept.moves[0, CELLS, :CELLS] == pytest.approx(1 / CELLS)
    assert keeping_the_tunnel(of_weights(HABITS["uniform"], Seat.ONE)) is None
