"""Matches of a run: results add up, luck has mean 0, and matches are repeatable."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from duels.analysis.agents import get_player_odds
from duels.analysis.exploitability import tabulate_policy
from duels.arena.confidence import mean_interval, standard_error
from duels.arena.match_plan import MAX_CORRECTION, Judge, Luck, MatchPlan, play_dialogue, play_match
from duels.core.match import Match
from duels.core.rules import CHANCE, Seat
from duels.games import find_game
from duels.players import make_player
from duels.players.failures import Answer, BadAnswer, Failure, NoMove
from duels.solving.table_response import expected_values
from duels.solving.tables import get_tables

SMALL = {
    "lights": {},
    "leap": {},
    "chain": {"max_boards": 3},
    "hunt": {"max_turns": 12},
    "flip": {},
}


def make_plan(game: str, one: str = "club", two: str = "random", seed: str = "1") -> MatchPlan:
    return MatchPlan(game, tuple(sorted(SMALL[game].items())), (one, two), seed, 0)


def played(plan: MatchPlan, judge: Judge | None = None) -> dict[str, Any]:
    rules = plan.rules()
    seated = {seat: make_player(plan.players[seat - 1], rules) for seat in Seat}
    return play_match(plan, judge or Judge(rules), seated)


@pytest.mark.parametrize("game", SMALL)
def test_equal_matches_give_equal_rows(game: str) -> None:
    plan = make_plan(game)
    assert played(plan) == played(plan)
    assert plan.key != make_plan(game, seed="2").key
    assert plan.key != make_plan(game, "random", "club").key


@pytest.mark.parametrize("seed", range(5))
def test_luck_in_chain_adds_up_exactly(seed: int) -> None:
    """Result - luck = value at the start - losses of one + losses of the other; luck is chance alone."""
    plan = make_plan("chain", "greedy", "random", seed=str(seed))
    judge = Judge(plan.rules())
    row = played(plan, judge)
    match, luck = Match.start(plan.rules()), 0.0
    for entry in row["entries"]:
        if match.actor is CHANCE:
            odds = judge.rules.odds(match.state)
            before = sum(o * Fraction(w) for o, w in zip(odds, judge.outcome_values(match), strict=True))
            came = judge.outcome_values(match)[match.actions.index(judge.rules.parse(entry))]
            luck += came - float(before)
        match = match.play_text(entry)
    start, _ = judge.get_opening_value()
    assert row["score"] - luck == pytest.approx(start - row["shortfalls"][0] + row["shortfalls"][1])


def test_luck_adjusted_results_stay_within_bounds() -> None:
    rng = Random(3)
    for _ in range(300):
        luck = Luck()
        for _ in range(30):
            values = [rng.random() for _ in range(3)]
            luck.add(values, [0.2, 0.3, 0.5], rng.randrange(3))
            assert abs(luck.total) <= MAX_CORRECTION + 1e-12


def test_clipped_luck_has_mean_zero() -> None:
    """Over all outcomes of four draws, weighted by their odds, luck is exactly 0."""
    steps = [([1.0, 0.0], [0.5, 0.5]), ([1.0, 0.0], [0.5, 0.5]), ([0.0, 1.0], [0.25, 0.75])]
    total = 0.0
    stopped = 0
    for way in range(2 ** len(steps)):
        luck, weight = Luck(), 1.0
        for place, (values, odds) in enumerate(steps):
            drawn = way >> place & 1
            luck.add(values, odds, drawn)
            weight *= odds[drawn]
        stopped += luck._stopped
        total += weight * luck.total
    assert stopped
    assert total == pytest.approx(0)


@pytest.mark.parametrize("game", ["chain", pytest.param("flip", marks=pytest.mark.slow)])
def test_luck_adjustment_keeps_the_mean_and_reduces_variance(game: str) -> None:
    rules = make_plan(game).rules()
    judge = Judge(rules)
    rows = [played(make_plan(game, "expert", "club", str(seed)), judge) for seed in range(40)]
    scores, adjusted = [row["score"] for row in rows], [row["adjusted"] for row in rows]
    spread = [sum((x - sum(xs) / len(xs)) ** 2 for x in xs) / len(xs) for xs in (scores, adjusted)]
    assert spread[1] < spread[0] / 2
    luck = [score - without for score, without in zip(scores, adjusted, strict=True)]
    off = mean_interval(luck)
    assert off.low <= 0 <= off.high


@pytest.mark.parametrize("runs", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_luck_adjusted_results_have_the_computed_mean(runs: int) -> None:
    """The true result of a short chain follows from both policies."""
    options = {"cells": 4, "run": 3, "max_boards": 3}
    rules = find_game("chain").rules(**options)
    tables = get_tables(rules).tables
    one, two = (tabulate_policy(get_player_odds(name, rules), rules) for name in ("club", "expert"))
    both = np.where((tables.actor == 0)[:, None], one, two)
    true = expected_values(tables, both, 3)[tables.starts[0]]
    judge = Judge(rules)
    seated = {Seat(seat): make_player(name, rules) for seat, name in ((1, "club"), (2, "expert"))}
    chosen = tuple(sorted(options.items()))
    adjusted = [
        play_match(MatchPlan("chain", chosen, ("club", "expert"), str(seed), 0), judge, seated)["adjusted"]
        for seed in range(runs)
    ]
    error = standard_error(adjusted, [1.0] * runs)
    assert error < 0.35 / runs**0.5  # results as they are have 0.5
    assert abs(sum(adjusted) / runs - true) < 3 * error


def test_forfeits_are_counted_separately_from_losses() -> None:
    plan = make_plan("lights", "random", "bot")
    judge = Judge(plan.rules())
    playing = play_dialogue(plan, judge)
    question = next(playing)
    assert question.seat is Seat.ONE
    assert playing.send(Answer(question.sight.actions[0])).seat is Seat.TWO
    with pytest.raises(StopIteration) as result:
        playing.send(NoMove("bot", (BadAnswer(Failure.LATE, "no answer came in time."),) * 3))
    row = result.value.value
    assert row["result"] == "1 won, 2 forfeited"
    assert row["failures"] == [[2, 2, "late", "no answer came in time."]] * 3
    assert row["shortfalls"][1] == 0
    assert row["decisions"] == [1, 0]
    assert row["forfeited"][1] in (0, 1)


def test_blunders_name_the_best_actions() -> None:
    row = played(make_plan("lights", "random", "random", "3"))
    judge = Judge(find_game("lights").rules())
    for blunder in row["blunders"]:
        match = Match.start(judge.rules).play_text(*row["entries"][: blunder["entry"] - 1])
        verdict = judge.oracle.judge(match.sight(Seat(blunder["seat"])))
        assert blunder["shortfall"] == verdict.loss(judge.rules.parse(row["entries"][blunder["entry"] - 1]))
        assert [judge.rules.parse(best) for best in blunder["best"]] == list(verdict.best[:3])
    assert row["blunders"]


def test_mixed_choices_are_graded_relative_to_the_mixture() -> None:
    """This grades every decision, so random steps and namings are worse than the strategy's."""
    plans = [make_plan("hunt", "best", "random", str(seed)) for seed in range(40)]
    judge = Judge(plans[0].rules())
    assert judge.measure == "below the mixture"
    rows = [played(plan, judge) for plan in plans]
    best, random = (
        sum(row["shortfalls"][place] for row in rows) / sum(row["decisions"][place] for row in rows)
        for place in (0, 1)
    )
    assert abs(best) < 0.005 < random  # about 0 and 0.0105 in the long run
    match, row = Match.start(judge.rules), rows[0]
    below = dict.fromkeys(Seat, 0.0)
    for entry in row["entries"]:
        seat = match.actor
        assert isinstance(seat, Seat)
        sight = match.sight(seat)
        verdict = judge.oracle.judge(sight)
        below[seat] += verdict.below_mixture[sight.actions.index(judge.rules.parse(entry))]
        match = match.play_text(entry)
    assert row["shortfalls"] == pytest.approx([below[seat] for seat in Seat])
    assert all(blunder["shortfall"] > 0 for row in rows for blunder in row["blunders"])
