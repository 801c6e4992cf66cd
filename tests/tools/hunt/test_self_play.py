"""Training: the chain's exact sums against plain simulation, and reproducible results."""

from random import Random

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.rules import QuantumHunt, Tunnel
from duels.games.hunt.strategy import CELLS

pytest.importorskip("numba")

import numpy as np

from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import TYPES, find_next_type
from duels.games.hunt.memory import Window
from tools.hunt.best_responders import Stage
from tools.hunt.mirror_descent import descend
from tools.hunt.self_play import Chain, Grid, Plan, Step
from tools.hunt.training import train_seat


def grid() -> Grid:
    after = [[find_next_type(kind, cell) for cell in range(CELLS)] for kind in range(TYPES)]
    numbers = np.array([[-1 if kind is None else kind for kind in row] for row in after])
    return Grid(numbers, np.ones_like(numbers, bool))


def test_uniform_play_in_the_chain_matches_simulation() -> None:
    chain = Chain(Window(CELLS, 1), Window(CELLS, 1), grid())
    for _ in range(40):
        for seat in Seat:
            chain.turn(chain.policy(seat, Window(CELLS, 1), tunnels=True))
    rules, rng, games, won = QuantumHunt(), Random(3), 2000, 0
    for _ in range(games):
        match = Match.start(rules)
        while match.actor is not None:
            # The chain never tunnels where a step would do, nor does it enter by tunnel.
            cell = match.state.cells[match.state.mover - 1]
            actions = [
                action
                for action in match.actions
                if not isinstance(action, Tunnel) or (cell and abs(action.cell - cell) > 1)
            ]
            match = match.play(match.actor, rng.choice(actions))
        won += bool(match.outcome and match.outcome.winner is Seat.ONE)
    assert won / games == pytest.approx(chain.value, abs=4 * 0.5 / games**0.5)


def test_mirror_descent_finds_the_mixed_equilibrium_of_matching_pennies() -> None:
    one, two = np.array([[0.9, 0.1]]), np.array([[0.2, 0.8]])
    wins = np.array([[1.0, 0.0], [0.0, 1.0]])
    allowed, reach = np.ones((1, 2), bool), np.ones(1)
    for _ in range(400):
        descend(one, allowed, two @ wins.T, reach, 0.3, 0.1)
        descend(two, allowed, one @ (1 - wins), reach, 0.3, 0.1)
    assert one[0, 0] == pytest.approx(0.5, abs=0.01)
    assert two[0, 0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_training_is_reproducible_and_gives_legal_tables() -> None:
    plan = Plan(rounds=2, depth=1, stages=(Stage(2, 0.05, 0.01),))
    runs: list[list[Step]] = [[], []]
    tables = [train_seat(Seat.TWO, plan, steps.append) for steps in runs]
    assert tables[0] == tables[1]
    assert runs[0] == runs[1]
    assert [step.stage for step in runs[0]] == ["Player 2, adversary", "Player 2, best responders"]
    assert all(0.0 < step.value < 1.0 for step in runs[0])
    policy = make_policy_from_tables(tables[0])
    assert policy.move_probs.sum(axis=2) == pytest.approx(1.0)
    assert policy.observation_probs[:, :CELLS].sum(axis=2) == pytest.approx(1.0)
