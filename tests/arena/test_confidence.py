"""The intervals: what they cover, by simulation, and against results that are known exactly."""

import math
from collections.abc import Callable
from functools import cache
from random import Random

import pytest

from duels.arena.bout import Asked, Bout, play_with
from duels.arena.confidence import Sequence95, mean, ratio, sequence_of, wilson
from duels.arena.scores import HIGHEST, LOWEST, pair_results
from duels.arena.values import Judge
from duels.core.rules import Rules, Seat
from duels.games import find_game
from duels.players import make_player

AT = (3, 10, 30, 100, 300)


@pytest.mark.parametrize(("name", "true"), [("coin", 0.3), ("rare", 0.05), ("narrow", 0.5), ("certain", 0.9)])
def test_a_sequence_covers_at_all_times_at_once(name: str, true: float) -> None:
    draws: dict[str, Callable[[Random], float]] = {
        "coin": lambda rng: float(rng.random() < 0.3),
        "rare": lambda rng: float(rng.random() < 0.05),
        "narrow": lambda rng: rng.uniform(0.45, 0.55),
        "certain": lambda rng: 0.9,
    }
    runs, missed = 60, 0
    for seed in range(runs):
        rng, sequence = Random(f"{name} {seed}"), Sequence95()
        outside = False
        for number in range(1, AT[-1] + 1):
            sequence.add(draws[name](rng))
            if number in AT:
                interval = sequence.interval
                outside |= not interval.low <= true <= interval.high
        missed += outside
    assert missed <= 0.05 * runs


def test_little_spread_makes_it_narrow() -> None:
    rng = Random(1)
    narrow = sequence_of((rng.uniform(0.49, 0.51) for _ in range(200)), LOWEST, HIGHEST)
    wide = sequence_of((float(rng.random() < 0.5) for _ in range(200)), LOWEST, HIGHEST)
    assert narrow.margin < 0.05 < wide.margin
    assert narrow.low < 0.5 < narrow.high


def test_nothing_is_known_at_the_start_and_wrong_values_are_refused() -> None:
    sequence = Sequence95()
    assert (sequence.interval.low, sequence.interval.high) == (0, 1)
    with pytest.raises(ValueError, match="outside"):
        sequence.add(1.5)


def test_the_usual_intervals() -> None:
    assert wilson(17, 30).low == pytest.approx(0.392, abs=0.001)  # gg-bench's o3-mini
    assert wilson(17, 30).high == pytest.approx(0.726, abs=0.001)
    assert wilson(0, 30).low == 0
    assert wilson(0, 0).margin == 0.5
    assert mean([1.0, 2.0, 3.0]).margin == pytest.approx(1.96 / 3**0.5, rel=1e-3)
    assert ratio([0.0, 2.0], [1, 3]).estimate == 0.5
    assert ratio([], []).margin == 0


def exact_result(rules: Rules, one: str, two: str) -> float:  # type: ignore[type-arg]
    """Player 1's result when these levels play, by summing over all ways a game without chance can go."""
    odds = {Seat.ONE: make_player(one, rules).odds, Seat.TWO: make_player(two, rules).odds}  # type: ignore[attr-defined]

    @cache
    def worth(state: object) -> float:
        outcome = rules.outcome(state)
        if outcome:
            return float(outcome.score(Seat.ONE))
        seat = rules.actor(state)
        assert isinstance(seat, Seat)
        return math.fsum(
            chance * worth(rules.apply(state, action).state)
            for action, chance in odds[seat](rules.sight(state, seat)).items()
            if chance
        )

    return worth(rules.initial())


@pytest.mark.parametrize(
    ("game", "runs"),
    [("lights", 8), *(pytest.param(game, 40, marks=pytest.mark.slow) for game in ("lights", "leap"))],
)
def test_a_level_against_a_level_is_covered_and_unbiased(game: str, runs: int) -> None:
    """The true result is computed exactly; the adjusted mean and its sequence must agree with it."""
    rules = find_game(game).rules()
    true = (exact_result(rules, "club", "expert") + 1 - exact_result(rules, "expert", "club")) / 2
    judge = Judge(rules)
    players = {name: Asked(make_player(name, rules), rules) for name in ("club", "expert")}
    missed, adjusted = 0, []
    for seed in range(runs):
        rows = []
        for pair in range(30):
            for names in (("club", "expert"), ("expert", "club")):
                bout = Bout(game, (), names, f"{seed} {pair}", pair)
                seated = {seat: players[names[seat - 1]] for seat in Seat}
                rows.append(play_with(bout, judge, seated))
        results = [result.adjusted for result in pair_results(rows, "club")]
        adjusted += results
        missed += any(
            not (found := sequence_of(results[:size], LOWEST, HIGHEST)).low <= true <= found.high
            for size in (5, 10, 30)
        )
    assert missed <= 0.05 * runs + 1
    known = mean(adjusted)
    assert known.margin < 0.03
    assert abs(known.estimate - true) < 2 * known.margin
