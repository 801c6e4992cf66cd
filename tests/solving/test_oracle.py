"""What a verdict says of its actions, and what every oracle does alike."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

import duels
from duels.core.errors import NotYourTurn
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnySight, Seat
from duels.games import GAMES
from duels.games.lights import oracle as oracle_of_lights
from duels.games.lights.oracle import LightsOracle
from duels.games.lights.rules import Lights
from duels.solving.oracle import Exactness, Judged, Value, Verdict
from duels.solving.oracles import _MOST_KEPT, oracle_for
from duels.solving.progress import Progress
from duels.solving.protocols import explainer_of


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


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Value(0.5), "50.0%"),
        (Value(0.5, Exactness.BOUND, error=0.0004), "50.0%"),
        (Value(0.5, Exactness.BOUND, error=0.0005), "about 50.0%"),
        (Value(0.12345, Exactness.ESTIMATE), "about 12.3%"),
    ],
)
def test_a_value_in_a_sentence_says_where_its_digits_are_not_proven(value: Value, told: str) -> None:
    assert str(value) == told


def test_an_oracle_is_shared_by_equal_rules() -> None:
    rules = GAMES["lights"].rules
    first = oracle_for(rules())
    assert oracle_for(rules(lights=7)) is first
    assert oracle_for(rules(lights=8)) is not first
    for lights in range(8, 8 + _MOST_KEPT):
        oracle_for(rules(lights=lights))
    assert oracle_for(rules()) is not first, "the oldest are forgotten"


@pytest.mark.parametrize("concede", [Match.resign, Match.forfeit])
@pytest.mark.parametrize("game", GAMES)
def test_who_concedes_has_lost_and_nobody_decides_any_more(
    game: str, concede: Callable[[AnyMatch, Seat], AnyMatch]
) -> None:
    match = concede(duels.start(game), Seat.ONE)
    oracle = oracle_for(match.rules)
    for seat in Seat:
        assert oracle.value(match.sight(seat)).number == (seat is Seat.TWO)
        with pytest.raises(NotYourTurn):
            oracle.judge(match.sight(seat))


@pytest.mark.parametrize("game", GAMES)
def test_a_position_is_judged_once_for_its_verdict_and_its_reason(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = duels.start(game)
    oracle = oracle_for(match.rules)
    work_out = oracle._verdict_on
    asked = []

    def counted(sight: AnySight) -> Verdict[Any]:
        asked.append(sight)
        return work_out(sight)

    monkeypatch.setattr(oracle, "_verdict_on", counted)
    sight = match.sight(Seat.ONE)
    verdict = oracle.judge(sight)
    assert explainer_of(oracle).reason(sight)
    assert oracle.judge(sight) is verdict
    assert asked == [sight]
    after = match.play(Seat.ONE, sight.actions[0])
    while after.actor is CHANCE:
        after = after.play(CHANCE, after.actions[0])
    other = next(sight for sight in map(after.sight, Seat) if sight.actions)
    assert oracle.judge(other) == work_out(other), "and another position by itself"


def test_threads_that_want_the_same_oracle_wait_for_one_of_them_to_make_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = GAMES["lights"].rules(lights=41)
    inside = threading.Barrier(2)
    made: list[LightsOracle] = []

    def make(of: Lights, _told: Progress) -> LightsOracle:
        with suppress(threading.BrokenBarrierError):  # nobody else comes here meanwhile
            inside.wait(0.3)
        made.append(LightsOracle(of))
        return made[-1]

    monkeypatch.setattr(oracle_of_lights, "make_oracle", make)
    with ThreadPoolExecutor(2) as pool:
        found = set(pool.map(oracle_for, [rules, rules]))
    assert found == set(made)
    assert len(made) == 1
