"""Openings: exact best responses, their bounds, and training that can be resumed."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import MemoryPolicy, make_policy_from_tables
from duels.games.hunt.certify.responder_problem import (
    ResponderProblem,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import CELLS, load_certificate, load_strategy
from tools.hunt.opening import WEIGHTS, Opening, list_paths
from tools.hunt.opening_bounds import Effort, LeafBounds, bound_opening
from tools.hunt.opening_training import OpeningTrainer, Plan, make_trainer


def make_tail(seat: Seat) -> tuple[MemoryPolicy, ResponderProblem]:
    policy = make_policy_from_tables(load_strategy()[seat])
    return policy, merge_mirror_images(make_problem(policy, seat))


def start_training() -> OpeningTrainer:
    return make_trainer(Seat.ONE, load_strategy()[Seat.ONE])


def test_a_token_tunnels_at_most_once() -> None:
    steps = [len(paths.cells) for paths in list_paths(3, may_tunnel=False)]
    assert steps == [1, 7, 19, 53]
    last = list_paths(3, may_tunnel=True)[-1]
    assert last.has_tunnel.sum() == 53
    parents = list_paths(3, may_tunnel=True)[2]
    assert not np.any(last.has_tunnel & ~parents.has_tunnel[last.parents])


@pytest.mark.parametrize("seat", Seat)
def test_the_strategys_own_actions_have_total_probability_one(seat: Seat) -> None:
    opening = Opening(seat, make_tail(seat)[0], turns=2)
    opening.propagate()
    for turn, probs in enumerate(opening.move_probs):
        parents, legal = opening.own_paths[turn + 1].parents, opening.legal[opening.digits[turn]]
        for parent in range(parents.max() + 1):
            assert np.allclose(probs[legal][:, parents == parent].sum(axis=1), 1)
        assert np.allclose(opening.observation_probs[turn][legal].sum(axis=2), 1)


def test_an_opening_that_copies_the_tail_has_its_value() -> None:
    policy, problem = make_tail(Seat.ONE)
    leaves = LeafBounds(Opening(Seat.ONE, policy), problem)
    leaves.tighten_low(leaves.everywhere)
    low = leaves.opening.back_up(leaves.low, 1e-9)
    assert leaves.responder.value() <= low <= load_certificate().against[Seat.ONE].high


@pytest.mark.slow
def test_bounds_only_tighten() -> None:
    policy, problem = make_tail(Seat.ONE)
    steps = [bounds for _, bounds in bound_opening(Opening(Seat.ONE, policy), problem, Effort(1, 2, 20, 10))]
    for earlier, later in pairwise(steps):
        assert earlier.low <= later.low <= later.high <= earlier.high


@pytest.mark.slow
def test_training_can_be_resumed_at_the_end_of_a_section(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    whole, first, second = start_training(), start_training(), start_training()
    plan = Plan(iterations=2, section=1, tail_interval=1)
    list(whole.train(plan))
    first.begin_section(plan)
    first.iterate(plan)
    first.finished = 1
    first.tail.symmetrize()
    first.save(checkpoint)
    list(second.train(plan, checkpoint))
    assert second.finished == 2
    assert np.array_equal(whole.tail.move_probs, second.tail.move_probs)
    for tables in zip(whole.opening.observation_probs, second.opening.observation_probs, strict=True):
        assert np.array_equal(*tables)


def test_rounded_probabilities_stay_close() -> None:
    opening = Opening(Seat.TWO, make_tail(Seat.TWO)[0], turns=2)
    legal = opening.legal[opening.digits[1]]
    before = opening.observation_probs[1][legal].copy()
    opening.round_probs()
    after = opening.observation_probs[1][legal]
    assert np.allclose(after.sum(axis=2), 1)
    assert np.abs(after - before).max() < 2 * CELLS / WEIGHTS
