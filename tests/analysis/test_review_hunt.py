"""A review of hunt: play without sense is charged for, and luck stands where it struck."""

from random import Random
from typing import Any

import duels
from duels.analysis.review_data import review_as_data
from duels.analysis.review_page import review_as_page
from duels.core.match import Match, playing
from duels.core.rules import Seat
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import Move, Observe, Phase, QuantumHunt
from duels.terminal.review_text import review_as_text

ORACLE = make_oracle(QuantumHunt())


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
    review = duels.review(match, ORACLE)
    assert len(match.turns) > 20
    assert review.loss(Seat.ONE) == 0  # the strategy might have done each of it
    assert review.mixing_odds(Seat.ONE) < 0.001 < 0.01 < review.mixing_odds(Seat.TWO)
    told = " ".join(review_as_text(review).split())
    assert "no mistakes" not in told
    assert f"cost about {-100 * review.mixing(Seat.ONE):.1f} points in all, most with entry " in told
    assert review.mixing(Seat.ONE) < -0.2


def test_a_collision_is_told_where_the_token_went_onto_the_other() -> None:
    match = duels.start("hunt").play_text(
        "move 3", "observe 7", "move 5", "observe 1", "move 3", "observe 6", "move 4", "observe 2",
        "move 4", "observe 7",
    )  # fmt: skip
    assert match.outcome
    assert match.outcome.winner is Seat.TWO
    review = duels.review(match, ORACLE)
    moved, named = review.moments[-2:]
    assert moved.mishap.startswith("you went onto the other token, which was there with about ")
    assert named.before == named.after == moved.after == 0.0
    assert moved.luck < -0.2
    assert (named.luck, named.loss, named.mark, named.alike) == (0, 0, "", "Lost already.")
    assert not any(moment.mishap for moment in review.moments[:-2])
    total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
    assert abs(total - review.score) < 1e-9
    told = " ".join(review_as_text(review).split())
    assert f"from you in all, mostly when you played move 4 (entry 9): {moved.mishap}." in told
    assert review_as_data(review)["moments"][-2]["mishap"] == moved.mishap
    assert f"Player 1, {moved.mishap}." in review_as_page(review)
