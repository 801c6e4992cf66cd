"""Statistics of matches; a match is graded once."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duels
from duels.analysis import statistics as module
from duels.analysis.review import review
from duels.analysis.statistics import (
    MAX_STAGES,
    Decision,
    PlayedMatch,
    ResultTally,
    compute_statistics,
    get_decisions,
    grade_decisions,
)
from duels.analysis.wording import MISTAKE_NAMES, ONLY_MOVE
from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.solving.oracles import get_oracle
from duels.terminal.data_commands import render_statistics
from tests.support import GAME_NAMES, home, play_randomly

START = datetime(2026, 1, 1, tzinfo=UTC)


def make_match(game: str, seed: int = 1) -> AnyMatch:
    return play_randomly(Match.start(duels.find_game(game).rules()), Random(seed), 10_000)


def make_played_match(
    score: float, day: int, loss: float = 0.0, game: str = "lights", opponent: str = "club"
) -> PlayedMatch:
    decisions = (Decision(loss, "blunder", "a kind"), Decision(0.0, "best"))
    return PlayedMatch(game, opponent, score, START + timedelta(days=day), decisions)


def test_results_and_streaks_by_game_and_opponent() -> None:
    results = [1, 1, 1, 0.5, 1, 0, 0]
    statistics = compute_statistics(
        reversed([make_played_match(score, day) for day, score in enumerate(results)])
    )
    (tally,) = statistics.tallies
    assert (tally.won, tally.lost, tally.nobody) == (4, 2, 1)
    assert (tally.streak, tally.longest) == (-2, 3)
    separate = compute_statistics(
        [
            make_played_match(1, 0),
            make_played_match(0, 1, opponent="best"),
            make_played_match(1, 2, game="leap"),
        ]
    )
    assert [(tally.game, tally.opponent) for tally in separate.tallies] == [
        ("leap", "club"),
        ("lights", "best"),
        ("lights", "club"),
    ]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), max_size=40))
def test_stages_partition_the_matches(games: list[tuple[float, float]]) -> None:
    statistics = compute_statistics(
        make_played_match(score, day, loss) for day, (score, loss) in enumerate(games)
    )
    stages = statistics.stages.get("lights", ())
    assert len(stages) == min(MAX_STAGES, len(games))
    assert sum(stage.matches for stage in stages) == statistics.matches == len(games)
    assert sum(stage.decisions for stage in stages) == 2 * len(games)
    total = sum(stage.loss * stage.decisions for stage in stages)
    assert total == pytest.approx(sum(loss for _, loss in games))


def test_the_most_frequent_mistake_comes_first() -> None:
    slips = [
        Decision(0.2, "blunder", "rare"),
        *[Decision(0.1, "mistake", "usual")] * 2,
        Decision(0.01, "good"),
    ]
    statistics = compute_statistics([PlayedMatch("flip", "club", 0, START, tuple(slips))])
    assert [(mistake.kind, mistake.times) for mistake in statistics.mistakes] == [("usual", 2), ("rare", 1)]
    assert statistics.mistakes[0].loss == pytest.approx(0.2)
    assert asdict(statistics)["mistakes"][1] == {"game": "flip", "kind": "rare", "times": 1, "loss": 0.2}


@pytest.mark.parametrize("game", GAME_NAMES)
def test_grades_agree_with_the_review(game: str) -> None:
    match = make_match(game)
    oracle = get_oracle(match.rules)
    moments = review(match, oracle).entries
    for seat in Seat:
        graded = grade_decisions(match, seat, oracle)
        seat_moments = [moment for moment in moments if moment.actor is seat and moment.mark != ONLY_MOVE]
        assert [(decision.loss, decision.mark) for decision in graded] == [
            (m.loss, m.mark) for m in seat_moments
        ]
        for decision in graded:
            assert bool(decision.kind) == (decision.mark in MISTAKE_NAMES)
            assert decision.kind not in MISTAKE_NAMES, "every game of ours can tell kinds apart"


def test_hunt_decisions_are_measured_against_the_mixture() -> None:
    rules = duels.find_game("hunt").rules()
    oracle = get_oracle(rules)
    start = Match.start(rules).play_text("move 3", "observe 5", "move 6", "observe 2")
    verdict = oracle.judge(start.sight(Seat.ONE))
    graded = {
        judged: grade_decisions(start.play(Seat.ONE, judged.action).resign(Seat.ONE), Seat.ONE, oracle)
        for judged in verdict.actions
        if judged.weight
    }
    below = {judged: decisions[-1].below_mixture or 0.0 for judged, decisions in graded.items()}
    assert sum(judged.weight * amount for judged, amount in below.items()) == pytest.approx(0, abs=1e-9)
    worst = max(below, key=lambda judged: below[judged])
    assert below[worst] > 0.01
    statistics = compute_statistics([PlayedMatch("hunt", "best", 0, START, graded[worst])])
    (stage,) = statistics.stages["hunt"]
    mean = sum(each.below_mixture or 0.0 for each in graded[worst]) / len(graded[worst])
    assert stage.loss == 0
    assert stage.below_mixture == pytest.approx(mean)
    text = render_statistics(statistics)
    assert f"hunt     {100 * mean:.1f}" in text.split("Points below the mixed strategy per decision")[1]
    assert "given away" not in text


def test_mistakes_name_a_wrong_choice_of_the_right_kind() -> None:
    match = duels.start("lights").play_text("1-2").resign(Seat.TWO)  # best: 4, 2-3 or 5-6
    oracle = get_oracle(match.rules)
    assert [each.kind for each in grade_decisions(match, Seat.ONE, oracle)] == [
        "turning off a pair, the wrong one"
    ]
    match = duels.start("lights").play_text("7", "6", "5", "4", "3", "1").resign(Seat.ONE)  # best: 1-2
    *_, slip = grade_decisions(match, Seat.TWO, oracle)
    assert slip.kind == "turning off one light instead of turning off a pair"


def test_omits_numbers_that_are_all_zero() -> None:
    text = render_statistics(
        compute_statistics(
            [make_played_match(1, 0), make_played_match(1, 1), make_played_match(0, 2, 0.5, "chain")]
        )
    )
    assert "no winner" in text.splitlines()[0]
    assert [line.split()[0] for line in text.split("given away per decision")[1].splitlines()[1:2]] == [
        "chain"
    ]
    assert "0.0 to 0.0" not in text
    assert "given away" not in render_statistics(
        compute_statistics([make_played_match(1, 0), make_played_match(1, 1)])
    )


def test_resigning_is_not_graded() -> None:
    match = duels.start("lights").play_text("1-2")
    graded = grade_decisions(match.resign(Seat.TWO), Seat.TWO, get_oracle(match.rules))
    assert graded == ()


def test_a_match_is_graded_once(tmp_path: Path) -> None:
    match = make_match("chain")
    with home(tmp_path):
        first = get_decisions(match, Seat.ONE)
        with mock.patch.object(module, "review", side_effect=AssertionError):
            assert get_decisions(match, Seat.ONE) == first
        assert first
        assert get_decisions(match, Seat.TWO) != first
        files = list((tmp_path / "cache" / "grades").iterdir())
        assert len(files) == 2
        for file in files:
            file.write_text("{damaged")
        assert get_decisions(match, Seat.ONE) == first


def test_matches_without_an_oracle_are_not_graded(tmp_path: Path) -> None:
    match = make_match("hunt")
    large = play_randomly(Match.start(duels.find_game("hunt").rules(cells=9)), Random(1), 10_000)
    with home(tmp_path):
        assert get_decisions(match, Seat.ONE)
        assert get_decisions(large, Seat.ONE) == ()


def test_an_agreement_to_stop_is_no_decision_and_nobody_wins() -> None:
    match = duels.start("chain").play_text(*"1234567" * 2)
    oracle = get_oracle(match.rules)
    assert grade_decisions(match.stop(), Seat.ONE, oracle) == grade_decisions(match, Seat.ONE, oracle)
    tally = ResultTally("chain", "casual")
    outcome = match.stop().outcome
    assert outcome
    tally.add(float(outcome.score(Seat.ONE)))
    assert (tally.won, tally.lost, tally.nobody) == (0, 0, 1)
