"""Coverage of intervals, by simulation and against exact results."""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from duels.arena.confidence import (
    Interval,
    clustered_share,
    confidence_sequence,
    count_results_to_exclude,
    mean_interval,
    ratio_interval,
    standard_error,
    t_quantile,
    wilson_interval,
)
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.arena.schemas import Row
from duels.arena.scores import adjusted_interval, make_match_pairs
from duels.core.rules import Rules, Seat
from duels.games import find_game
from duels.players import make_player

AT = (3, 10, 30, 100, 300)


@pytest.mark.parametrize(("name", "true"), [("coin", 0.3), ("rare", 0.05), ("narrow", 0.5), ("certain", 0.9)])
def test_a_sequence_covers_at_all_times(name: str, true: float) -> None:
    draws: dict[str, Callable[[Random], float]] = {
        "coin": lambda rng: float(rng.random() < 0.3),
        "rare": lambda rng: float(rng.random() < 0.05),
        "narrow": lambda rng: rng.uniform(0.45, 0.55),
        "certain": lambda rng: 0.9,
    }
    runs, missed = 400, 0
    for seed in range(runs):
        rng = Random(f"{name} {seed}")
        values = [draws[name](rng) for _ in range(AT[-1])]
        missed += (
            count_results_to_exclude([(each, each) for each in values], 1.0, true, len(values)) is not None
        )
    assert missed <= 0.05 * runs


def test_low_variance_narrows_the_interval() -> None:
    rng = Random(1)
    coins = [float(rng.random() < 0.5) for _ in range(300)]
    narrow = adjusted_interval([(each, rng.uniform(0.49, 0.51)) for each in coins])
    wide = adjusted_interval([(each, each) for each in coins])
    assert narrow.margin < 0.05 < wide.margin
    assert narrow.low < 0.5 < narrow.high


def test_a_sequence_never_widens() -> None:
    rng = Random(2)
    results = [(float(rng.random() < 0.7), rng.uniform(0.6, 0.8)) for _ in range(60)]
    bounds = [confidence_sequence(results[:size], 1.0) for size in range(0, 61, 10)]
    assert all(low <= later and high >= until for (low, high), (later, until) in pairwise(bounds))


def test_starts_without_information_and_rejects_invalid_values() -> None:
    assert confidence_sequence([], 1.0) == (0, 1)
    for invalid in ((1.5, 1.5), (0.5, 1.6)):
        with pytest.raises(ValueError, match="out of range"):
            confidence_sequence([invalid], 1.0)


def test_the_number_of_results_that_a_verdict_takes_is_predicted() -> None:
    """Six pairs that are won decide; equal results never do."""
    won = [(1.0, 1.0), (0.5, 0.5)] * 2
    count = count_results_to_exclude(won, 1.0, 0.5, 100)
    assert count
    again = (won * 100)[:count]
    assert confidence_sequence(again, 1.0)[0] > 0.5 >= confidence_sequence(again[:-1], 1.0)[0]
    assert count_results_to_exclude([(0.5, 0.5)], 1.0, 0.5, 100) is None
    assert count_results_to_exclude([], 1.0, 0.5, 100) is None


def test_equal_pairs_make_the_share_of_the_points_precise() -> None:
    """One point in nearly every pair: matches alone would give a margin of 9 points."""
    pairs = [1.0] * 100 + [2.0] * 10 + [0.0] * 10
    interval = clustered_share(pairs, [2] * 120)
    assert interval.margin == pytest.approx(0.0369, abs=1e-3)
    assert interval.low < 0.5 < interval.high


def test_intervals_agree_with_published_values() -> None:
    assert wilson_interval(17, 30).low == pytest.approx(0.392, abs=0.001)  # gg-bench's o3-mini
    assert wilson_interval(17, 30).high == pytest.approx(0.726, abs=0.001)
    assert wilson_interval(0, 30).low == 0
    assert wilson_interval(0, 0).margin == 0.5
    assert mean_interval([1.0, 2.0, 3.0] * 20).margin == pytest.approx(2.0010 / 88.5**0.5, rel=1e-4)
    assert ratio_interval([0.0, 2.0], [1, 3]).estimate == 0.5


def test_few_or_skewed_units_have_no_variance_estimate() -> None:
    equal_values, one_off = [0.7] * 90, [0.7] * 89 + [1.4]
    for interval in (
        mean_interval([0.7]),
        ratio_interval([], []),
        mean_interval([0.0, 1.0] * 24),
        mean_interval(equal_values),
        mean_interval(one_off),
    ):
        assert (interval.low, interval.high) == (-math.inf, math.inf)
    assert clustered_share([2.0], [2]) == Interval(1.0, 0.0, 1.0)
    assert clustered_share([], []) == Interval(0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("chance", "freedom", "expected"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 3, 3.1824),
        (0.975, 4, 2.7764),
        (0.975, 5, 2.5706),
        (0.975, 10, 2.2281),
        (0.975, 30, 2.0423),
        (0.975, 120, 1.9799),
        (0.995, 3, 5.8409),
        (0.995, 9, 3.2498),
        (0.999, 4, 7.1732),
        (0.999, 20, 3.5518),
    ],
)
def test_student_quantiles_agree_with_published_tables(chance: float, freedom: int, expected: float) -> None:
    assert t_quantile(chance, freedom) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("units", [3, 5, 15])
@pytest.mark.parametrize("repeat_chance", [0.0, 0.8])
def test_shares_of_dependent_matches_are_covered(units: int, repeat_chance: float) -> None:
    """A pair whose matches have the same result four times in five counts little more than one match."""
    runs, true, covered = 2000, 0.4, 0
    rng = Random(f"{units} {repeat_chance}")
    for _ in range(runs):
        points = []
        for _ in range(units):
            first = rng.random() < true
            second = first if rng.random() < repeat_chance else rng.random() < true
            points.append(float(first + second))
        interval = clustered_share(points, [2] * units)
        covered += interval.low <= true <= interval.high
    assert covered >= (0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5) * runs


def exact_result(rules: Rules, one: str, two: str) -> float:  # type: ignore[type-arg]
    """Return Player 1's exact result between two levels, in a game without chance."""
    odds = {Seat.ONE: make_player(one, rules).odds, Seat.TWO: make_player(two, rules).odds}  # type: ignore[attr-defined]

    @cache
    def state_value(state: object) -> float:
        outcome = rules.outcome(state)
        if outcome:
            return float(outcome.score(Seat.ONE))
        seat = rules.actor(state)
        assert isinstance(seat, Seat)
        return math.fsum(
            chance * state_value(rules.apply(state, action).state)
            for action, chance in odds[seat](rules.sight(state, seat)).items()
            if chance
        )

    return state_value(rules.initial())


def played(game: str, one: str, two: str, pairs: int) -> list[Row]:
    """Play matches of two players, in pairs."""
    rules = find_game(game).rules()
    judge, players = Judge(rules), {name: make_player(name, rules) for name in (one, two)}
    return [
        play_match(
            MatchPlan(game, (), names, str(pair), pair), judge, {s: players[names[s - 1]] for s in Seat}
        )
        for pair in range(pairs)
        for names in ((one, two), (two, one))
    ]


def samples_of(rows: list[Row], one: str, two: str) -> dict[str, tuple[list[float], list[float]]]:
    """Return parts and wholes by pair: results without luck, and the losses of each player."""
    adjusted = [unit.adjusted_score for unit in make_match_pairs(rows, one)]
    results = {"result": (adjusted, [1.0] * len(adjusted))}
    for player in (one, two):
        lost, decided = (
            [
                sum(row[what][row["players"].index(player)] for row in rows[i : i + 2])
                for i in range(0, len(rows), 2)
            ]
            for what in ("shortfalls", "decisions")
        )
        results[player] = lost, decided
    return results


ALL_SORTS = [
    (game, one, two)
    for game in ("lights", "leap")
    for one, two in (("best", "random"), ("best", "expert"), ("random", "expert"), ("greedy", "club"))
]


@pytest.mark.parametrize(
    ("game", "one", "two", "pairs"),
    [
        ("lights", "best", "random", 400),
        ("lights", "best", "expert", 150),
        *(pytest.param(*each, 500, marks=pytest.mark.slow) for each in ALL_SORTS),
    ],
)
def test_skewed_results_and_rare_mistakes_are_covered_or_have_no_interval(
    game: str, one: str, two: str, pairs: int
) -> None:
    """Ten pairs may have no variation: results vary in one pair of six, experts err in one of seven."""
    rng, runs = Random(f"{game} {one} {two}"), 400
    for what, (parts, wholes) in samples_of(played(game, one, two, pairs), one, two).items():
        true = sum(parts) / sum(wholes)
        for size in (10, 50, 100):
            with_interval = missed = 0
            for _ in range(runs):
                drawn = rng.choices(range(len(parts)), k=size)
                interval = ratio_interval(
                    [parts[place] for place in drawn], [wholes[place] for place in drawn]
                )
                assert interval.margin > 0, what
                with_interval += math.isfinite(interval.margin)
                missed += not interval.low <= true <= interval.high
            assert missed <= 0.05 * runs + 3 * (0.95 * 0.05 * runs) ** 0.5, (what, size)
            assert with_interval == 0 or size >= 50
            # Random play loses 1 in 23 of 25 pairs of leap: just even enough for an interval.
            share = 0.5 if (game, one, what) == ("leap", "best", "random") else 0.8
            assert with_interval > share * runs or size < 100 or true == 0, what


@pytest.mark.parametrize(
    ("game", "pairs"),
    [("lights", 200), *(pytest.param(game, 1200, marks=pytest.mark.slow) for game in ("lights", "leap"))],
)
def test_a_level_against_a_level_is_covered_and_unbiased(game: str, pairs: int) -> None:
    """The true result is computed exactly. The adjusted mean agrees with it, and intervals cover it.

    Pairs drawn again and again from those played have their mean as the true result.
    """
    rules = find_game(game).rules()
    true = (exact_result(rules, "club", "expert") + 1 - exact_result(rules, "expert", "club")) / 2
    adjusted = [
        unit.adjusted_score for unit in make_match_pairs(played(game, "club", "expert", pairs), "club")
    ]
    error = standard_error(adjusted, [1.0] * pairs)
    assert error < 0.25 / pairs**0.5
    assert abs(sum(adjusted) / pairs - true) < 3 * error
    rng, runs, mean_of_all = Random(game), 300, sum(adjusted) / pairs
    fixed = 0
    for _ in range(runs):
        usual = mean_interval(rng.choices(adjusted, k=50))
        fixed += usual.low <= mean_of_all <= usual.high
    assert abs(fixed - 0.95 * runs) <= 3 * (0.95 * 0.05 * runs) ** 0.5


class Unknown:
    """A player whose policy the arena does not know, such as a model. It errs with a fixed probability."""

    def __init__(self, player: Any, errors: float) -> None:
        self.player, self.errors = player, errors

    def choose(self, sight: Any, rng: Random) -> Any:
        if rng.random() < self.errors:
            return rng.choice(sight.actions)
        return self.player.choose(sight, rng)


def results_of(
    game: str, errors: float | None, opponent: str, pairs: int, boards: int = 6
) -> list[tuple[float, float]]:
    """Return the plain and adjusted results of pairs against a level.

    The player is unknown and errs; with None it is `expert`, whose policy is known. Both kinds of result are
    shifted to the same mean, which is then the true result of pairs drawn from these.
    """
    rules = find_game(game).rules(**({"max_boards": boards} if game == "chain" else {}))
    one = make_player("expert" if errors is None else "best", rules)
    players = {"one": one if errors is None else Unknown(one, errors), "two": make_player(opponent, rules)}
    judge = Judge(rules)
    rows = [
        play_match(
            MatchPlan(game, (), names, str(pair), pair), judge, {s: players[names[s - 1]] for s in Seat}
        )
        for pair in range(pairs)
        for names in (("one", "two"), ("two", "one"))
    ]
    units = make_match_pairs(rows, "one")
    shift = sum(unit.score - unit.adjusted_score for unit in units) / pairs
    return [(unit.score, min(1 + unit.score, unit.adjusted_score + shift)) for unit in units]


KINDS = [
    (game, errors, opponent)
    for game in ("lights", "leap", "chain")
    for errors, opponent in ((0.0, "club"), (0.2, "club"), (0.05, "club"), (1.0, "club"), (None, "club"))
]


@pytest.mark.parametrize(
    ("game", "errors", "opponent", "pairs"),
    [
        ("lights", 0.0, "club", 60),
        ("lights", 1.0, "club", 60),
        *(pytest.param(*each, 60 if "chain" in each else 400, marks=pytest.mark.slow) for each in KINDS),
    ],
)
def test_however_often_you_look_the_interval_covers(
    game: str, errors: float | None, opponent: str, pairs: int
) -> None:
    """Looking after every pair, at most five of 100 runs ever exclude the true result."""
    results = results_of(game, errors, opponent, pairs)
    true, rng, runs = sum(plain for plain, _ in results) / pairs, Random(f"{game} {errors}"), 200
    missed = sum(
        count_results_to_exclude(rng.choices(results, k=100), 1.0, true, 100) is not None for _ in range(runs)
    )
    assert missed <= 0.05 * runs


@pytest.mark.parametrize(
    ("game", "errors", "often"),
    [
        pytest.param("lights", 1.0, 0.9),
        *(
            pytest.param(game, errors, often, marks=pytest.mark.slow)
            for game in ("lights", "leap", "chain")
            for errors, often in ((0.0, 0.4), (1.0, 0.9))
        ),
    ],
)
def test_twenty_pairs_settle_a_random_player_and_mostly_a_perfect_one(
    game: str, errors: float, often: float
) -> None:
    """Chain has the arena's limit of boards: with fewer, many matches are cut off."""
    results = results_of(game, errors, "club", 40 if game == "chain" else 200, boards=50)
    rng, runs = Random(game), 100
    settled = [count_results_to_exclude(rng.choices(results, k=40), 1.0, 0.5, 40) for _ in range(runs)]
    assert sum(count is not None and count <= 20 for count in settled) >= often * runs
    assert sum(count is not None for count in settled) >= 0.8 * runs
