"""Training against best responses: scores add up, and exploitability falls."""

from array import array

import pytest

from duels.core.rules import Seat
from duels.games.hunt.strategy import Tables
from tests.games.hunt.certify.test_pomdp import MEMORY, some_tables_alike_in_the_mirror, tightest

pytest.importorskip("numba")

import numpy as np

from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.pomdp import Effort
from duels.games.hunt.certify.responder_problem import list_mirrored_rows, make_problem, merge_mirror_images
from tools.hunt.best_responders import Stage, Strategy, improve
from tools.hunt.gains import GradingController

SMALL = MEMORY.cells


def test_scores_of_strategy_and_responder_add_up() -> None:
    problem = make_problem(
        make_policy_from_tables(some_tables_alike_in_the_mirror(1), MEMORY, MEMORY), Seat.ONE
    )
    responder = GradingController(problem, 300_000)
    responder.iterate(200)
    opening = 2 * SMALL
    root = responder.vectors.first_vector[opening]
    enters = np.zeros(8)
    enters[SMALL] = 1.0
    responder.play(np.array([root]), enters[None], rounds=60)
    move_worth, move_reach, name_worth, name_reach = responder.gains
    won = responder.value()
    assert responder.vectors.values[root] @ enters == pytest.approx(won)
    assert move_reach[0, SMALL] == pytest.approx(1.0)
    assert (problem.transition_probs[0, SMALL] * move_worth[0, SMALL]).sum() == pytest.approx(1 - won)
    assert (problem.observation_probs[0].T * name_worth[0]).sum() == pytest.approx(1 - won)
    assert name_reach[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seat", list(Seat))
def test_training_against_best_responses_reduces_exploitability(seat: Seat) -> None:
    tables = some_tables_alike_in_the_mirror(2)
    problem = merge_mirror_images(
        make_problem(make_policy_from_tables(tables, MEMORY, MEMORY), seat), MEMORY, MEMORY
    )
    before = tightest(problem, Effort(sweeps=8, depth=4)).low
    strategy = strategy_of(tables)
    opening = 2 * SMALL if seat is Seat.ONE else None
    for result, won in improve(strategy, problem, opening, (Stage(60, 0.1, 0.005),)):
        assert 0.0 <= result < 1.0
        assert 0.0 < won < 1.0
    assert tightest(problem, Effort(sweeps=8, trials=300, depth=4)).high < before


def strategy_of(tables: Tables) -> Strategy:
    rows = len(MEMORY.states) ** 2
    moves = np.array(tables.moves, float).reshape(rows, SMALL + 1, SMALL)
    names = np.array(tables.observations, float).reshape(rows, SMALL, SMALL)
    return Strategy(
        moves / moves.sum(axis=2, keepdims=True), names / names.sum(axis=2, keepdims=True),
        moves > 0, names > 0, np.array(list_mirrored_rows(MEMORY, MEMORY)),
    )  # fmt: skip


def test_the_strategy_is_symmetric() -> None:
    strategy = strategy_of(some_tables_alike_in_the_mirror(4))
    strategy.observation_probs[1, 0] = strategy.observation_probs[1, 0, ::-1]
    strategy.symmetrize()
    assert array("d", strategy.observation_probs[strategy.mirrored_rows][:, ::-1, ::-1].ravel()) == array(
        "d", strategy.observation_probs.ravel()
    )
