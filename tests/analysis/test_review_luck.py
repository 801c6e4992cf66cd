"""A review of flip, entry by entry: luck comes from chance alone, and losses from decisions.

The result is the sum of both by construction. So these tests compute each of them independently.
"""

from random import Random

import pytest

from duels.analysis.review import ReviewedEntry, review
from duels.core.match import AnyMatch
from duels.core.rules import CHANCE, Seat
from duels.games.flip.oracle import make_oracle
from duels.games.flip.rules import QuantumTiles
from duels.solving.oracle import Value
from tests.analysis.matches import level_match

RULES = QuantumTiles()
ORACLE = make_oracle(RULES)
CLOSE = 1e-9


def to_player_1(match: AnyMatch) -> Value:
    if match.outcome:
        return Value(float(match.outcome.winner is Seat.ONE))
    return ORACLE.value(match.sight(Seat.ONE))


def luck_of_chance(moment: ReviewedEntry) -> Value:
    """Return the value of the drawn tiles minus the mean of all possible draws, for Player 1."""
    before = moment.match.previous
    assert before
    after = to_player_1(moment.match)
    mean = error = 0.0
    for outcome, odds in zip(before.actions, RULES.odds(before.state), strict=True):
        value = to_player_1(before.play(CHANCE, outcome))
        mean += float(odds) * value.number
        error += float(odds) * value.error
    return Value(after.number - mean, error=after.error + error)


def loss_of_decision(moment: ReviewedEntry) -> Value:
    """Return the value that a decision lost to its player."""
    before = moment.match.previous
    assert before
    was, now = to_player_1(before), to_player_1(moment.match)
    lost = was.number - now.number
    return Value(lost if moment.actor is Seat.ONE else -lost, error=was.error + now.error)


@pytest.mark.parametrize(("level", "seed"), [("random", 1), ("casual", 2), ("expert", 3), ("perfect", 4)])
def test_separately_computed_luck_and_losses_add_up(level: str, seed: int) -> None:
    match = level_match("flip", level, Random(seed))
    match_review = review(match, ORACLE)
    assert match.outcome
    assert match_review.score == float(match.outcome.winner is Seat.ONE)
    assert len({moment.actor for moment in match_review.entries}) == 3
    total = Value(match_review.opening, error=match_review.error)
    for moment in match_review.entries:
        if moment.actor is CHANCE:
            apart = luck_of_chance(moment)
            amount, share = moment.luck, apart.number
            assert moment.loss == 0
        else:
            apart = loss_of_decision(moment)
            amount, share = moment.loss, -apart.number if moment.actor is Seat.ONE else apart.number
            assert abs(moment.luck) <= apart.error + match_review.error + CLOSE  # nothing is hidden in flip
        assert abs(amount - apart.number) <= apart.error + match_review.error + CLOSE
        total = Value(total.number + share, error=total.error + apart.error)
    assert abs(total.number - match_review.score) <= total.error + CLOSE
    # The bounds say something: luck and losses are much larger than what is not known about them.
    swings = sum(abs(moment.value_after - moment.value_before) for moment in match_review.entries)
    assert total.error < swings / 20


def test_only_imperfect_play_has_losses() -> None:
    perfect = review(level_match("flip", "perfect", Random(4)), ORACLE)
    assert all(perfect.loss(seat) < 0.001 for seat in Seat)
    clumsy = review(level_match("flip", "random", Random(1)), ORACLE)
    assert sum(clumsy.loss(seat) for seat in Seat) > 0.1
