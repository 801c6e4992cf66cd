"""The responder's problem includes everything that the rules allow."""

import pytest

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import find_next_type, make_problem
from duels.games.hunt.rules import OFF_GRID, Move, Phase, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import load_strategy


def test_responder_moves_agree_with_the_rules() -> None:
    rules = QuantumHunt()
    types = [(cell, tunnel) for tunnel in (False, True) for cell in range(1, 8)] + [(OFF_GRID, True)]
    for kind, (start, tunnel) in enumerate(types):
        state = State((start, OFF_GRID), (tunnel, True), (0, 0), Seat.ONE, Phase.MOVE)
        for cell in range(1, 8):
            allowed = [a for a in (Move(cell), Tunnel(cell)) if a in rules.actions(state)]
            state_after = rules.apply(state, allowed[0]).state if allowed else None
            expected = types.index((state_after.cells[0], state_after.tunnels[0])) if state_after else None
            assert find_next_type(kind, cell - 1) == expected


def test_every_line_of_the_strategy_is_included() -> None:
    """When the strategy acts, its moves and signals are distributions over legal actions."""
    pytest.importorskip("numpy")
    for seat, tables in load_strategy().items():
        problem = make_problem(make_policy_from_tables(tables), seat)
        supported = problem.support != 0
        rows = sorted(set(problem.kernels[supported].tolist()))
        on_grid = problem.transition_probs[rows, :7, :7]
        assert on_grid.sum(axis=2) == pytest.approx(1.0)
        assert problem.observation_probs[rows, :, :7].sum(axis=1) == pytest.approx(1.0)
        assert all(on_grid[:, a, b].max() == 0.0 for a in range(7) for b in range(7) if abs(a - b) > 1)
