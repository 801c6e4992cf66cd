"""The loss of each level, its score against the next, and the uncertainty."""

import re
from random import Random
from statistics import mean, stdev
from typing import Any

import pytest

from duels.analysis import levels
from duels.analysis.levels import (
    _QUICK_MATCHES,
    MeasuredLevel,
    _compute_ratio,
    _estimate_luck_adjusted_score,
    describe_other_factors,
    get_default_matches,
    measure_levels,
    play_measured_match,
)
from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.play.step import play_out
from duels.players.levels import LEVEL_SHARES
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.solving.oracles import get_oracle
from duels.terminal.data_commands import render_levels
from tests.analysis.toys import HideOracle, Steps


@pytest.mark.parametrize(
    ("game", "matches", "clear"),
    [
        ("lights", 300, 5),
        ("chain", 20, 5),
        # This number of matches separates only the last two levels of flip.
        pytest.param("flip", 10, 1, marks=pytest.mark.slow),
    ],
)
def test_levels_are_ordered(game: str, matches: int, clear: int) -> None:
    rows = measure_levels(find_game(game).rules(), matches, "levels")
    assert [row.name for row in rows] == ["random", "novice", "casual", "club", "expert", "perfect"]
    given_away = [row.per_decision for row in rows]
    assert given_away == sorted(given_away, reverse=True)
    assert given_away[-1] == 0
    assert all(row.score > 0.5 for row in rows[1:] if row.score is not None)
    assert all(row.is_clear for row in rows[-clear:])


@pytest.mark.parametrize(
    ("game", "matches"),
    [
        ("lights", 1500),
        ("leap", 1500),
        ("chain", 60),
        pytest.param("chain", 300, marks=pytest.mark.slow),
        pytest.param("flip", 60, marks=pytest.mark.slow),
    ],
)
def test_luck_adjustment_keeps_the_mean(game: str, matches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[AnyMatch] = []

    def watched(*how: Any) -> AnyMatch:
        ends.append(play_out(*how))
        return ends[-1]

    monkeypatch.setattr(levels, "play_out", watched)
    rules = find_game(game).rules()
    club, casual = (MeasuredLevel(get_oracle(rules), LEVEL_SHARES[name]) for name in ("club", "casual"))
    rng, seats = Random(4), [Seat(n % 2 + 1) for n in range(matches)]
    scores = [play_measured_match(club, casual, seat, rng) for seat in seats]
    points = [
        float(end.outcome.winner is seat) if end.outcome and end.outcome.winner else 0.5
        for end, seat in zip(ends, seats, strict=True)
    ]
    luck = [point - score for point, score in zip(points, scores, strict=True)]
    error = stdev(luck) / matches**0.5
    assert abs(mean(luck)) < 3 * error
    # Else what the levels give away would be lost in the noise, and the test could not fail.
    losses = []
    for seat in seats:
        play_measured_match(casual, club, seat, rng)
        losses.append(casual.loss)
    assert 3 * error < 2 * mean(losses)


def test_hunt_measures_quick_matches_and_labels_estimates() -> None:
    messages: list[str] = []
    rows = measure_levels(find_game("hunt").rules(), 4, "x", messages.append)
    assert rows[-1].per_decision == 0
    assert {row.measure for row in rows} == {BELOW_THE_MIXTURE}
    assert messages == [
        f"{name}, {n} of 4 matches" for name in ("random", "casual", "best") for n in range(4)
    ]
    assert {row.matches for row in rows[1:]} == {4 * _QUICK_MATCHES}
    table = render_levels(find_game("hunt").rules(), rows, 4)
    assert "estimate" in table
    assert not re.search("gives? away|given away|loss", table)


def test_higher_hunt_levels_play_closer_to_the_mixture() -> None:
    rules = find_game("hunt").rules()
    rng = Random(1)
    amounts: list[float] = []
    for share in (1.0, LEVEL_SHARES["club"], LEVEL_SHARES["best"]):
        own, other = (MeasuredLevel(get_oracle(rules), share) for _ in range(2))
        loss, decisions = 0.0, 0
        for n in range(12):
            play_measured_match(own, other, Seat(n % 2 + 1), rng)
            loss, decisions = loss + own.loss, decisions + own.decisions
        amounts.append(loss / decisions)
    assert amounts == sorted(set(amounts), reverse=True)
    assert amounts[-1] == 0


def test_hunt_levels_lose_their_share_of_random_play() -> None:
    rules = find_game("hunt").rules()
    match = Match.start(rules).play_text("move 3", "observe 5", "move 6", "observe 2")
    sight = match.sight(Seat.ONE)
    at_random = MeasuredLevel(get_oracle(rules), 1.0).expected_loss(sight)
    assert at_random > 0.005
    levels = [MeasuredLevel(get_oracle(rules), share) for share in LEVEL_SHARES.values()]
    assert [level.expected_loss(sight) for level in levels] == pytest.approx(
        [share * at_random for share in LEVEL_SHARES.values()]
    )


def test_adjusting_for_hidden_luck_keeps_the_mean_and_reduces_variance() -> None:
    """A level against itself scores one half, seats alternating, however unequal the seats are."""
    rules = find_game("hunt").rules()
    oracle, rng = get_oracle(rules), Random(4)
    points = [
        _estimate_luck_adjusted_score(oracle, dict.fromkeys(Seat, 0.5), Seat(n % 2 + 1), rng)
        for n in range(1000)
    ]
    assert mean(points) == pytest.approx(0.5, abs=4 * 0.2 / 1000**0.5)
    assert stdev(points) < 0.3  # of plain results it is one half


def test_the_margin_narrows_with_the_number_of_matches() -> None:
    small, large = _compute_ratio([0.0, 1.0] * 10, [1] * 20), _compute_ratio([0.0, 1.0] * 1000, [1] * 2000)
    assert small[0] == large[0] == 0.5
    assert small[1] / large[1] == pytest.approx(10, rel=0.05)
    assert large[1] == pytest.approx(1.96 * 0.5 / 2000**0.5, rel=0.01)
    assert _compute_ratio([0.2, 0.4], [1, 2])[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("game", "part"),
    [
        ("lights", ""),
        ("leap", ""),
        ("chain", "luck decides"),
        ("flip", "luck decides"),
        ("hunt", "guessing decides"),
    ],
)
def test_other_factors_depend_on_the_game(game: str, part: str) -> None:
    assert describe_other_factors(find_game(game).rules()) == part
    assert get_default_matches(find_game(game).rules()) == (100 if part else 1000)


def test_draws_count_half_in_an_unregistered_game() -> None:
    rows = measure_levels(Steps(), 200, "steps")
    assert rows[-1].per_decision == 0
    assert all(row.score is not None and row.score > 0.5 for row in rows[1:])


def test_a_game_with_chance_and_secrets_is_played_to_its_end() -> None:
    """The oracle sees only one side, so luck cannot be removed and the estimates are plain results."""
    oracle = HideOracle()
    rng = Random(1)
    points = [
        _estimate_luck_adjusted_score(oracle, dict.fromkeys(Seat, 0.0), Seat.ONE, rng) for _ in range(400)
    ]
    assert set(points) == {0.0, 1.0}
    assert mean(points) == pytest.approx(0.5, abs=0.1)
