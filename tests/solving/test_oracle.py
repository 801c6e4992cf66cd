"""What a verdict says of its actions, and what every oracle does alike."""

from typing import Any

import pytest

import duels
from duels.core.errors import NotYourTurn
from duels.core.rules import CHANCE, Seat, Sight
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


@pytest.mark.parametrize("game", GAMES)
def test_a_position_is_judged_once_for_its_verdict_and_its_reason(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = duels.start(game)
    oracle = find_game(game).oracle(match.rules)
    work_out = oracle._verdict_on
    asked = []

    def counted(sight: Sight[Any, Any]) -> Verdict[Any]:
        asked.append(sight)
        return work_out(sight)

    monkeypatch.setattr(oracle, "_verdict_on", counted)
    sight = match.sight(Seat.ONE)
    verdict = oracle.judge(sight)
    assert oracle.reason(sight)
    assert oracle.judge(sight) is verdict
    assert asked == [sight]
    after = match.play(Seat.ONE, sight.actions[0])
    while after.actor is CHANCE:
        after = after.play(CHANCE, after.actions[0])
    other = next(sight for sight in map(after.sight, Seat) if sight.actions)
    assert oracle.judge(other) == work_out(other), "and another position by itself"
