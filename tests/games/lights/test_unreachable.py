"""The clause 'forced loss' never applies."""

import pytest

from duels.core.explore import iter_reachable
from duels.games.lights.rules import ON, Lights


@pytest.mark.parametrize("lights", range(1, 9))
def test_no_player_to_move_faces_a_dark_board(lights: int) -> None:
    dark = 0
    for match in iter_reachable(Lights(lights)):
        if ON in match.state.row:
            assert match.actor is match.state.mover
            continue
        # Everything is off: the match is over, and the one who did it has won, not lost.
        dark += 1
        assert match.actor is None
        assert match.last is not None
        assert match.outcome is not None
        assert match.outcome.winner is match.last.actor
    assert dark
