"""Simulation: means and standard errors, reproducible by seed."""

import pytest

from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import Action, QuantumHunt, View
from tools.hunt.simulation import SampleMean, mean_length, mean_score, simulate


def uniform(sight: Sight[Action, View]) -> list[float]:
    return [1.0] * len(sight.actions)


def test_a_mean_has_a_standard_error() -> None:
    sampled = SampleMean.from_samples([0.0, 1.0, 1.0, 0.0])
    assert sampled.mean == 0.5
    assert sampled.error == pytest.approx((1 / 3) ** 0.5 / 2)
    assert sampled.agrees(0.5 + 3.9 * sampled.error)
    assert not sampled.agrees(0.5 + 4.1 * sampled.error)


def test_agreement_uses_the_printed_error() -> None:
    sampled = SampleMean(0.5385, 0.0079)
    mean, margin = map(float, str(sampled).removesuffix(" (4 standard errors)").split(" ± "))
    assert sampled.agrees(0.5283)
    for exact in (0.5283, 0.5, 0.58):
        assert sampled.agrees(exact) == (abs(exact - mean) <= margin)


def test_one_cell_is_a_collision_on_the_second_turn() -> None:
    """On one cell Player 2 can only run into Player 1, and nothing can be named twice in a row."""
    matches = simulate(QuantumHunt(cells=1), dict.fromkeys(Seat, uniform), 10, seed=1)
    assert mean_score(matches, Seat.ONE) == SampleMean(1.0, 0.0)
    assert mean_score(matches, Seat.TWO) == SampleMean(0.0, 0.0)
    assert mean_length(matches) == SampleMean(2.0, 0.0)


def test_cut_off_games_count_half() -> None:
    matches = simulate(QuantumHunt(cells=7, max_turns=1), dict.fromkeys(Seat, uniform), 5, seed=1)
    assert mean_score(matches, Seat.TWO) == SampleMean(0.5, 0.0)


def test_reports_progress_sometimes() -> None:
    messages: list[str] = []
    simulate(QuantumHunt(), dict.fromkeys(Seat, uniform), 101, seed=1, progress=messages.append)
    assert messages == ["match 0 of 101", "match 100 of 101"]


def test_equal_seeds_give_equal_results() -> None:
    batches = [simulate(QuantumHunt(), dict.fromkeys(Seat, uniform), 30, seed) for seed in (1, 1, 2)]
    runs = [[match.turns for match in matches] for matches in batches]
    assert runs[0] == runs[1] != runs[2]
