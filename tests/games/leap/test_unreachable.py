"""The clauses 'closest wins' and 'forfeit' never apply."""

import pytest

from duels.core.explore import iter_reachable
from duels.games.leap.rules import QuantumLeap


@pytest.mark.parametrize("goal", [*range(1, 65), 100, 128, 211])
def test_every_cell_below_the_goal_has_a_move(goal: int) -> None:
    rules = QuantumLeap(goal)
    for cell in range(1, goal):
        leaps = rules.leaps(cell)
        assert leaps[0] == 1
        assert all(cell % leap == 0 and cell + leap <= goal for leap in leaps)


@pytest.mark.parametrize("goal", [*range(1, 22), 30])
def test_a_match_continues_until_a_token_reaches_the_goal(goal: int) -> None:
    for match in iter_reachable(QuantumLeap(goal)):
        arrived = [cell == goal for cell in match.state.cells]
        if match.actor is not None:
            assert match.actions
            assert not any(arrived)
        else:
            assert match.last is not None
            assert match.outcome is not None
            assert match.outcome.winner is match.last.actor
            assert sum(arrived) == 1
