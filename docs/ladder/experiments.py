"""Experiments for docs/ladder.md: matches needed for a result, and coverage of the intervals."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations
from math import ceil
from random import Random
from statistics import NormalDist, median, pvariance

import numpy as np
from numpy.typing import NDArray

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
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.games import find_game
from duels.players import Player, make_player
from duels.solving.oracles import get_oracle
from duels.solving.tables import ONGOING, POINTS, Tables, get_tables

WIDTH = 0.03
ONE, TWO = "club", "expert"
RUNS, CHECKS = 200, (50, 60, 70, 80, 90, 100)
OTHERS = 10  # deterministic players besides a perfect one
_EPSILON = 1e-12
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


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


# -- exact results -----------------------------------------------------------------------------------------


def compute_results(rules: AnyRules, players: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return each player's exact result against each other, averaged over both seats.

    Empty if the game has hidden information or is too large for tables.
    """
    if not has_state_table(rules):
        return {}
    tables = get_tables(rules).tables
    policies = {name: tabulate_policy(get_player_odds(name, rules), rules) for name in players}
    first = {
        (one, two): _first_result(
            tables, np.where((tables.actor == 0)[:, None], policies[one], policies[two]), rules.limit_value
        )
        for one, two in permutations(players, 2)
    }
    return {(one, two): (first[one, two] + 1 - first[two, one]) / 2 for one, two in first}


def _first_result(tables: Tables, policy: NDArray[np.float64], limit: int | None) -> float:
    """Return Player 1's result: follow the probability of each state until all matches have ended.

    A limit ends a match after that many ticks of the game's clock (boards of chain).
    """
    states, actions = np.nonzero(tables.legal & (policy > 0))
    successors = tables.successor[states, actions]
    targets, ticks = successors >> 1, (successors & 1).astype(bool)
    weights = np.broadcast_to(policy[states, actions][:, None] / targets.shape[1], targets.shape)
    points = (1 + POINTS[:, 0][tables.result[targets] + 1].astype(np.float64)) / 2
    is_over = tables.result[targets] != ONGOING
    cut, onward = ticks & ~is_over, ~ticks & ~is_over

    @cache
    def play_to_tick(start: int) -> tuple[float, NDArray[np.float64]]:
        """Return Player 1's points before the next tick, and the probability of each state after it."""
        visits, after, won = np.zeros(tables.states), np.zeros(tables.states), 0.0
        visits[start] = 1.0
        while visits.sum() > _EPSILON:
            flow = weights * visits[states][:, None]
            won += float((flow * points)[is_over].sum())
            after += np.bincount(targets[cut], flow[cut], tables.states)
            visits = np.bincount(targets[onward], flow[onward], tables.states)
        return won, after

    (beginning,) = tables.starts.tolist()
    result, remaining = play_to_tick(beginning)
    for _ in range(1, limit or 1):
        parts = [(remaining[start], *play_to_tick(start)) for start in np.flatnonzero(remaining).tolist()]
        result += sum(chance * won for chance, won, _ in parts)
        remaining = sum((chance * after for chance, _, after in parts), np.zeros(tables.states))
    return result + 0.5 * float(remaining.sum())


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


def _answer(sight: AnySight, number: int) -> Row:
    """Return a perfect player's answer, or one that depends only on the position and the player."""
    rules = sight.rules
    actions = sight.actions if number else get_oracle(rules).judge(sight).best
    rng = Random(f"{number} {rules.format_position(sight)}")
    return {"action": rules.format(rng.choice(actions)), "policy": None}


# -- coverage of the intervals -----------------------------------------------------------------------------


def coverage(name: str) -> list[str]:
    """Return a row: the true result, and how many of RUNS runs contain it at every check or at the last."""
    rules = find_game(name).rules()
    true_result = compute_results(rules, (ONE, TWO))[ONE, TWO]
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


def _play_pairs(rules: AnyRules, judge: Judge, players: dict[str, Player], number: int) -> list[MatchPair]:
    rows = []
    for pair in range(CHECKS[-1]):
        for names in ((ONE, TWO), (TWO, ONE)):
            plan = MatchPlan(rules.name, (), names, f"coverage {number} {pair}", pair)
            rows.append(play_match(plan, judge, {seat: players[names[seat - 1]] for seat in Seat}))
    return list_finished_pairs(make_match_pairs(rows, ONE))
