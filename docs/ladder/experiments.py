"""Experiments for docs/ladder.md: matches needed for a result, and coverage of the intervals."""

from collections.abc import Iterator, Mapping
from math import ceil
from random import Random
from statistics import NormalDist, median, pvariance
from typing import Any

import numpy as np

from duels.analysis.agents import get_player_odds
from duels.analysis.exploitability import tabulate_policy
from duels.analysis.grading import has_state_table
from duels.arena.confidence import CONFIDENCE, mean_interval
from duels.arena.config import ProbeConfig
from duels.arena.logs import Row
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.arena.probe import ProbeQuestion, collect_answers
from duels.arena.report import GameReport
from duels.arena.scores import MatchPair, adjusted_interval, list_finished_pairs, make_match_pairs
from duels.core.rules import OpenRules, Rules, Seat, Sight
from duels.games import find_game
from duels.players import Player, make_player
from duels.solving.oracles import get_oracle
from duels.solving.table_response import expected_values
from duels.solving.tables import get_tables

WIDTH = 0.03
ONE, TWO = "club", "expert"
RUNS, CHECKS = 200, (50, 60, 70, 80, 90, 100)
OTHERS = 10  # deterministic players besides a perfect one
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
AnyRules = Rules[Any, Any, Any]


# -- matches needed to know a result to within WIDTH -----------------------------------------------------


def pairs_by_pairing(game: GameReport, rows: list[Row]) -> Iterator[list[MatchPair]]:
    for pairing in game.pairings:
        both = {pairing.one, pairing.two}
        ours = [row for row in rows if row["game"] == game.rules.name and set(row["players"]) == both]
        yield list_finished_pairs(make_match_pairs(ours, pairing.one))


def needed_pairs(variances: list[float]) -> int:
    """Return the pairs that a fixed-size interval needs for WIDTH, for the median pairing."""
    return max(1, ceil(_Z**2 * median(variances) / WIDTH**2))


def needed_pairs_for_sequence(pairings: list[list[MatchPair]]) -> int:
    """Return the pairs that the confidence sequence needs for WIDTH, by resampling the median pairing."""
    ordered = sorted(pairings, key=lambda pairs: pvariance([pair.adjusted_score for pair in pairs]))
    rng = Random("needed")
    values = rng.choices([(pair.score, pair.adjusted_score) for pair in ordered[len(ordered) // 2]], k=20_000)
    too_few, enough = 1, 2
    while adjusted_interval(values[:enough]).margin > WIDTH and enough < len(values):
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1 + too_few // 50:
        middle = (too_few + enough) // 2
        if adjusted_interval(values[:middle]).margin > WIDTH:
            too_few = middle
        else:
            enough = middle
    return enough


def requests_per_match(rules: AnyRules, rows: list[Row]) -> float:
    """Return the decisions of one player per match, including forced moves."""
    chance = {rules.format(outcome) for outcome in rules.all_outcomes()}
    ours = [row for row in rows if row["game"] == rules.name]
    return sum(entry not in chance for row in ours for entry in row["entries"]) / max(1, 2 * len(ours))


# -- questions of a probe ----------------------------------------------------------------------------------


def count_questions_by_player(name: str) -> list[Mapping[Seat, int]] | None:
    """Return a probe's questions by seat, for a perfect player and then for other deterministic players."""
    rules = find_game(name).rules()
    if not (isinstance(rules, OpenRules) and has_state_table(rules)):
        return None
    return [_count_questions(rules, number) for number in range(1 + OTHERS)]


def _count_questions(rules: AnyRules, number: int) -> Mapping[Seat, int]:
    def answer(requests: list[ProbeQuestion]) -> dict[str, Row]:
        return {each.key: _answer(each.sight, number) for each in requests}

    probe = collect_answers(ProbeConfig("random", (rules.name,)), rules, answer)
    return {seat: sum(key[0] is seat for key in probe.answers) for seat in Seat}


def _answer(sight: Sight[Any, Any], number: int) -> Row:
    """Return a perfect player's answer, or one that depends only on the position and the player."""
    rules = sight.rules
    actions = sight.actions if number else get_oracle(rules).judge(sight).best
    rng = Random(f"{number} {rules.format_position(sight)}")
    return {"action": rules.format(rng.choice(actions)), "policy": None}


# -- coverage of the intervals -----------------------------------------------------------------------------


def coverage(name: str) -> list[str]:
    """Return a row: the true result, and how many of RUNS runs contain it at every check or at the last."""
    rules = find_game(name).rules()
    true_result = _true_result(rules)
    judge = Judge(rules)
    players = {each: make_player(each, rules) for each in (ONE, TWO)}
    sequence_count = every_check_count = last_check_count = 0
    for number in range(RUNS):
        pairs = _play_pairs(rules, judge, players, number)
        values = [(pair.score, pair.adjusted_score) for pair in pairs]
        sequences = [adjusted_interval(values[:size]) for size in CHECKS]
        fixed_size = [mean_interval([adjusted for _, adjusted in values[:size]]) for size in CHECKS]
        sequence_count += all(each.low <= true_result <= each.high for each in sequences)
        every_check_count += all(each.low <= true_result <= each.high for each in fixed_size)
        last_check_count += fixed_size[-1].low <= true_result <= fixed_size[-1].high
    counts = sequence_count, every_check_count, last_check_count
    return [name, f"{100 * true_result:.2f}", *(f"{count} of {RUNS}" for count in counts)]


def _true_result(rules: AnyRules) -> float:
    """Return the exact result of ONE against TWO, averaged over both seats."""
    tables = get_tables(rules).tables
    one, two = (tabulate_policy(get_player_odds(name, rules), rules) for name in (ONE, TWO))
    (start,) = tables.starts
    first, second = (
        expected_values(tables, np.where((tables.actor == seat)[:, None], one, two))[start] for seat in (0, 1)
    )
    return (first + 1 - second) / 2


def _play_pairs(rules: AnyRules, judge: Judge, players: dict[str, Player], number: int) -> list[MatchPair]:
    rows = []
    for pair in range(CHECKS[-1]):
        for names in ((ONE, TWO), (TWO, ONE)):
            plan = MatchPlan(rules.name, (), names, f"coverage {number} {pair}", pair)
            rows.append(play_match(plan, judge, {seat: players[names[seat - 1]] for seat in Seat}))
    return list_finished_pairs(make_match_pairs(rows, ONE))
