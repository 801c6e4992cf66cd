"""Policies given as functions become complete tables."""

import pytest

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import drop_tunnel, make_policy_from_function
from duels.games.hunt.strategy import CELLS
from tools.hunt.naive import NAIVE


@pytest.mark.parametrize("name", NAIVE)
def test_tables_hold_distributions_at_reachable_states(name: str) -> None:
    pytest.importorskip("numpy")
    for seat in Seat:
        policy = make_policy_from_function(NAIVE[name], seat)
        for table in (policy.move_probs, policy.observation_probs):
            totals = table.sum(axis=2).ravel()
            assert totals[totals > 0] == pytest.approx(1.0)
        # Whatever is moved to is named from, and nobody leaves the grid.
        reached = policy.move_probs.sum(axis=1) > 0
        assert (policy.observation_probs.sum(axis=2)[reached] > 0).all()
        assert policy.move_probs[:, :, -1].max() == 0.0
        cache_shape = policy.own_memory.states
        for row in range(len(cache_shape), len(cache_shape) ** 2):
            assert policy.observation_probs[row, :, cache_shape[row // len(cache_shape)][0]].max() == 0.0


def test_the_type_of_a_policy_without_tunnels_is_its_cell() -> None:
    pytest.importorskip("numpy")
    policy = make_policy_from_function(NAIVE["never tunnels"], Seat.ONE)
    without_tunnel = drop_tunnel(policy)
    assert without_tunnel
    assert without_tunnel.type_cells.tolist() == [*range(CELLS), -1]
    assert without_tunnel.move_probs.sum() == pytest.approx(policy.move_probs.sum())
    assert without_tunnel.observation_probs.sum() == pytest.approx(policy.observation_probs.sum())
    assert without_tunnel.move_probs[0, CELLS, :CELLS] == pytest.approx(1 / CELLS)
    assert drop_tunnel(make_policy_from_function(NAIVE["uniform"], Seat.ONE)) is None
