"""What a verdict says of its actions, and what every oracle does alike."""

import pytest

import duels
from duels.core.errors import NotYourTurn
from duels.core.rules import Seat
from duels.games import GAMES, find_game
from duels.solving.oracle import Judged, Value, Verdict


def test_what_perfect_play_takes_costs_nothing_and_nothing_costs_less() -> None:
    judged = (
        Judged("mixed, looks bad", Value(0.3), True, 0.4),
        Judged("mixed, looks good", Value(0.5), True, 0.6),
        Judged("worse", Value(0.1), False, 0.0),
        Judged("not taken, looks better", Value(0.6), False, 0.0),
    )
    verdict = Verdict(Value(0.42), judged)
    assert verdict.losses == pytest.approx([0, 0, 0.32, 0])
    assert verdict.loss("worse") == pytest.approx(0.32)
    assert not verdict.alike
    assert Verdict(Value(0.0), (Judged("a", Value(0.0), True, 0.5), Judged("b", Value(0.0), True, 0.5))).alike


@pytest.mark.parametrize("game", GAMES)
def test_who_resigns_has_lost_and_nobody_decides_any_more(game: str) -> None:
    match = duels.start(game).resign(Seat.ONE)
    oracle = find_game(game).oracle(match.rules)
    for seat in Seat:
        assert oracle.value(match.sight(seat)).number == (seat is Seat.TWO)
        with pytest.raises(NotYourTurn):
            oracle.judge(match.sight(seat))
