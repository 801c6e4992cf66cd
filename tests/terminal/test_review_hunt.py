"""A review of hunt: play without sense is charged for, and luck stands where it struck."""

from random import Random
from typing import Any

import duels
from duels.core.match import Match, playing
from duels.core.rules import Seat
from duels.games import find_game
from duels.games.hunt.rules import Move, Observe, Phase
from duels.terminal.review import review_match
from duels.terminal.review_text import review_as_text

ROOM = find_game("hunt")
RULES = ROOM.rules()
ORACLE = ROOM.oracle(RULES)


def senseless_match(seed: int) -> Match[Any, Any, Any]:
    """Player 1 stays on 1 and names 1, 2, 1, 2 …, against the strategy."""
    rng = Random(seed)

    def decide(match: Match[Any, Any, Any], seat: Seat) -> Any:
        sight = match.sight(seat)
        if seat is Seat.TWO:
            return rng.choices(sight.actions, ORACLE.weights(sight))[0]
        if sight.view.phase is Phase.MOVE:
            return Move(1)
        return Observe(1 + len(match.turns) // 4 % 2)

    *_, match = playing(duels.start("hunt"), rng, decide)
    return match


def test_a_senseless_match_is_not_called_flawless() -> None:
    match = senseless_match(0)
    review = review_match(ROOM, match, ORACLE)
    assert len(match.turns) > 20
    assert review.loss(Seat.ONE) > 0.1 > 2 * review.loss(Seat.TWO)
    told = review_as_text(review)
    assert "gave nothing away" not in told
    assert "blunder" in told
