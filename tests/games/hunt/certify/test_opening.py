"""Openings as arrays, and bounds on the best response to them."""

from array import array
from itertools import pairwise
from random import Random

import pytest

from duels.core.rules import Seat

pytest.importorskip("numba")

import numpy as np

from duels.games.hunt.certify.certificate import Effort, LeafBounds, certify
from duels.games.hunt.certify.opening import Opening, list_paths
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import make_problem, merge_mirror_images
from duels.games.hunt.strategy import CELLS, PATHS, PublicState, Tables, load_certificate, load_strategy


def read_opening(seat: Seat) -> Opening:
    opening = Opening(seat)
    opening.read_tables(load_strategy()[seat])
    return opening


def test_a_token_tunnels_at_most_once() -> None:
    for length, paths in enumerate(list_paths(3, may_tunnel=False)):
        assert paths.cells.tolist() == [path[-1] if path else CELLS for path in PATHS[length]]
    last = list_paths(3, may_tunnel=True)[-1]
    assert last.has_tunnel.sum() == len(PATHS[-1])
    parents = list_paths(3, may_tunnel=True)[2]
    assert not np.any(last.has_tunnel & ~parents.has_tunnel[last.parents])


@pytest.mark.parametrize("seat", Seat)
def test_the_arrays_have_the_probabilities_of_the_tables(seat: Seat) -> None:
    opening, tables, rng = read_opening(seat), load_strategy()[seat], Random(1)
    for turn, (digits, paths) in enumerate(opening.list_turns()):
        for history in rng.sample(opening.legal[digits].tolist(), min(40, len(opening.legal[digits]))):
            public = PublicState()
            for place in range(digits):
                public = public.observe(history // CELLS ** (digits - 1 - place) % CELLS)
            path = rng.randrange(len(paths.cells))
            own_path = PATHS[turn + 1][path]
            moves = tables.move_weights(public, own_path[:-1])
            assert opening.move_probs[turn][history, path] == moves[own_path[-1]] / sum(moves)
            weights = tables.observation_weights(public, own_path)
            expected = [weight / sum(weights) for weight in weights]
            assert opening.observation_probs[turn][history, path].tolist() == expected


def test_the_bounds_contain_the_value_of_a_known_response() -> None:
    """A strategy that always takes the same actions loses at once."""
    tables = load_strategy()[Seat.ONE]
    pure = []
    for table in (tables.moves, tables.observations):
        weights = np.array(table).reshape(-1, CELLS)
        is_best = weights == weights.max(axis=1, keepdims=True)
        pure.append(array("H", is_best.astype(np.uint16).tobytes()))
    *_, (_, step) = certify({Seat.ONE: Tables(*pure)}, Effort(sweeps=1, batches=1, trials=10, starts=10))
    assert step.bounds.low > 0.6 < step.bounds.high


def test_the_lower_bound_is_between_that_of_a_controller_and_the_claim() -> None:
    tables = load_strategy()[Seat.ONE]
    problem = merge_mirror_images(make_problem(make_policy_from_tables(tables), Seat.ONE))
    leaves = LeafBounds(read_opening(Seat.ONE), problem)
    leaves.tighten_low(leaves.everywhere)
    low = leaves.opening.back_up(leaves.low, 1e-9)
    assert 0.5 < low <= load_certificate().against[Seat.ONE].high


@pytest.mark.slow
def test_bounds_only_tighten() -> None:
    steps = list(certify({Seat.ONE: load_strategy()[Seat.ONE]}, Effort(1, 2, 20, 10)))
    for (_, earlier), (_, later) in pairwise(steps):
        assert earlier.bounds.low <= later.bounds.low <= later.bounds.high <= earlier.bounds.high
        assert earlier.finished_share < later.finished_share


@pytest.mark.slow
def test_a_responder_without_a_tunnel_wins_less() -> None:
    tables, effort = {Seat.ONE: load_strategy()[Seat.ONE]}, Effort(3, 2, 20, 10)
    *_, (_, free) = certify(tables, effort)
    *_, (_, bound) = certify(tables, effort, may_tunnel=False)
    assert bound.bounds.high < free.bounds.high
    assert bound.bounds.low < free.bounds.low
