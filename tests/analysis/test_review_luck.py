"""A review of flip, entry by entry: what it calls luck is chance alone, and what it calls a loss is one.

The result is always the sum of both by the way they are told apart; here each is worked out by itself.
"""

from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.review import Moment, review_match
from duels.core.match import Match, playing
from duels.core.rules import CHANCE, Seat
from duels.games import find_game
from duels.solving.oracle import Value

ROOM = find_game("flip")
RULES = ROOM.rules()
ORACLE = ROOM.oracle(RULES)
CLOSE = 1e-9


def to_player_1(match: Match[Any, Any, Any]) -> Value:
    if match.outcome:
        return Value(float(match.outcome.winner is Seat.ONE))
    return ORACLE.value(match.sight(Seat.ONE))


def match_of(level: str, seed: int) -> Match[Any, Any, Any]:
    player, rng = duels.make_player(level, ROOM, RULES), Random(seed)
    *_, match = playing(duels.start("flip"), rng, lambda match, seat: player.choose(match.sight(seat), rng))
    return match


def luck_of_chance(moment: Moment) -> Value:
    """What the tiles that came up are worth beyond the average of all that could, for Player 1."""
    before = moment.match.previous
    assert before
    after = to_player_1(moment.match)
    mean = error = 0.0
    for outcome, odds in zip(before.actions, RULES.odds(before.state), strict=True):
        value = to_player_1(before.play(CHANCE, outcome))
        mean += float(odds) * value.number
        error += float(odds) * value.error
    return Value(after.number - mean, error=after.error + error)


def loss_of_decision(moment: Moment) -> Value:
    """How much less the position after a decision is worth to who decided."""
    before = moment.match.previous
    assert before
    was, now = to_player_1(before), to_player_1(moment.match)
    lost = was.number - now.number
    return Value(lost if moment.actor is Seat.ONE else -lost, error=was.error + now.error)


@pytest.mark.parametrize(("level", "seed"), [("random", 1), ("casual", 2), ("expert", 3), ("perfect", 4)])
def test_luck_and_losses_worked_out_apart_add_up_to_the_result(level: str, seed: int) -> None:
    match = match_of(level, seed)
    review = review_match(ROOM, match, ORACLE)
    assert match.outcome
    assert review.result == float(match.outcome.winner is Seat.ONE)
    assert len({moment.actor for moment in review.moments}) == 3
    total = Value(review.opening, error=review.error)
    for moment in review.moments:
        if moment.actor is CHANCE:
            apart = luck_of_chance(moment)
            told, share = moment.luck, apart.number
            assert moment.loss == 0
        else:
            apart = loss_of_decision(moment)
            told, share = moment.loss, -apart.number if moment.actor is Seat.ONE else apart.number
            assert abs(moment.luck) <= apart.error + review.error + CLOSE  # nothing is hidden in flip
        assert abs(told - apart.number) <= apart.error + review.error + CLOSE
        total = Value(total.number + share, error=total.error + apart.error)
    assert abs(total.number - review.result) <= total.error + CLOSE
    # The bounds say something: luck and losses are much larger than what is not known about them.
    swings = sum(abs(moment.after - moment.before) for moment in review.moments)
    assert total.error < swings / 20


def test_perfect_play_gives_nothing_away_and_random_play_does() -> None:
    perfect = review_match(ROOM, match_of("perfect", 4), ORACLE)
    assert all(perfect.loss(seat) < 0.001 for seat in Seat)
    clumsy = review_match(ROOM, match_of("random", 1), ORACLE)
    assert sum(clumsy.loss(seat) for seat in Seat) > 0.1
