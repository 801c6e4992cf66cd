"""The printed error of flip's oracle along good play."""

import re
from random import Random

import pytest

from duels.analysis.wording import format_percent
from duels.core.match import Match, play_through
from duels.games.flip import verify
from duels.games.flip.oracle import FlipOracle, make_oracle
from duels.games.flip.rules import QuantumTiles, State
from duels.players import make_player

BOOK = QuantumTiles()
GOAL = 0.001  # the error allowed wherever good play leads


@pytest.fixture(scope="module")
def oracle() -> FlipOracle:
    return make_oracle(BOOK)


def play_level(level: str, matches: int) -> list[State]:
    """Return every position, also chance's, of matches between players of a level."""
    player, rng = make_player(level, BOOK), Random(f"good play of {level}")
    states = []
    for _ in range(matches):
        steps = play_through(
            Match.start(BOOK), rng, lambda match, seat: player.choose(match.sight(seat), rng)
        )
        states += [match.state for match in steps if not match.over]
    return states


def get_printed_error(oracle: FlipOracle, state: State) -> float:
    """Return the number after ±, as a probability."""
    printed = re.search(r"± ([0-9.e-]+)", format_percent(oracle.value(BOOK.sight(state, state.mover))))
    return float(printed[1]) / 100 if printed else 0.0


@pytest.mark.parametrize("matches", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_bounds_are_tight_along_perfect_play(oracle: FlipOracle, matches: int) -> None:
    states = play_level("perfect", matches)
    assert len(states) > 16 * matches
    assert sum(state.quantum == (True, True) and max(state.scores) > 10 for state in states) >= matches
    assert max(get_printed_error(oracle, state) for state in states) < GOAL
    late = [state for state in states if verify.is_late(BOOK, state) and True in state.quantum]
    outside, _ = verify.compare(oracle, late[:3])
    assert late
    assert outside == 0


def test_bounds_are_rarely_wide_along_expert_play(oracle: FlipOracle) -> None:
    """They flip tiles that part the pairs for no gain, and then the pairs may run out in a long match."""
    errors = [get_printed_error(oracle, state) for state in play_level("expert", 6)]
    assert len(errors) > 100
    assert sum(error >= GOAL for error in errors) < len(errors) / 50
    assert max(errors) < 10 * GOAL
