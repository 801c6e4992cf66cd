"""Naive policies match their names."""

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.rules import Move, Observe, QuantumHunt
from tools.hunt.naive import NAIVE

ENTERED = Match.start(QuantumHunt()).play_text("move 3", "observe 7", "move 6", "observe 1")
EDGE = Match.start(QuantumHunt()).play_text("move 1", "observe 7", "move 6", "observe 2")


def test_a_staying_policy_never_moves() -> None:
    sight = ENTERED.sight(Seat.ONE)
    weights = dict(zip(sight.actions, NAIVE["always stays"](sight.view, sight.actions), strict=True))
    assert [action for action, weight in weights.items() if weight] == [Move(3)]


def test_a_sweep_restarts_after_the_last_cell() -> None:
    sight = ENTERED.play_text("move 3").sight(Seat.ONE)
    weights = dict(zip(sight.actions, NAIVE["sweeps"](sight.view, sight.actions), strict=True))
    assert [action for action, weight in weights.items() if weight] == [Observe(1)]


def test_an_edge_runner_enters_at_an_edge_and_stays_there() -> None:
    for match, cells in ((Match.start(QuantumHunt()), [1, 7]), (ENTERED, [2]), (EDGE, [1])):
        sight = match.sight(Seat.ONE)
        weights = zip(sight.actions, NAIVE["edge runner"](sight.view, sight.actions), strict=True)
        assert [action for action, weight in weights if weight] == [Move(cell) for cell in cells]
