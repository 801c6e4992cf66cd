"""What it takes to know a result, and whether intervals hold: experiments for docs/ladder.md."""

from collections.abc import Iterator, Mapping
from math import ceil
from random import Random
from statistics import NormalDist, median, pvariance
from typing import Any

import numpy as np

from duels.analysis.agents import player_odds
from duels.analysis.exploitability import tabulate
from duels.analysis.grading import tabled
from duels.arena.confidence import CONFIDENCE, mean, sequence_of
from duels.arena.config import ProbeConfig
from duels.arena.logs import Row
from duels.arena.match_plan import Judge, MatchPlan, play_with
from duels.arena.probe import Ask, collect
from duels.arena.report import GameReport
from duels.arena.scores import HIGHEST, LOWEST, Unit, finished_units, units_of
from duels.core.rules import OpenRules, Rules, Seat, Sight
from duels.games import find_game
from duels.players import Player, make_player
from duels.solving.oracles import get_oracle
from duels.solving.table_response import expected_values
from duels.solving.tables import shared_tables

WIDTH = 0.03
ONE, TWO = "club", "expert"
RUNS, LOOKS = 200, (50, 60, 70, 80, 90, 100)
ASKED = 10  # players that always answer the same
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
AnyRules = Rules[Any, Any, Any]


# -- matches: how many until a result is known to within WIDTH ------------------------------------------


def pairs_by_pairing(game: GameReport, rows: list[Row]) -> Iterator[list[Unit]]:
    for pairing in game.pairings:
        both = {pairing.one, pairing.two}
        ours = [row for row in rows if row["game"] == game.rules.name and set(row["players"]) == both]
        yield finished_units(units_of(ours, pairing.one))


def needed(spread: list[float]) -> int:
    """Pairs until the mean is known to within WIDTH by the usual interval, for the median pair of players."""
    return max(1, ceil(_Z**2 * median(spread) / WIDTH**2))


def needed_under_peeking(pairings: list[list[Unit]]) -> int:
    """The same by the confidence sequence: results of the median pair of players, drawn again and again."""
    ordered = sorted(pairings, key=lambda pairs: pvariance([pair.adjusted_score for pair in pairs]))
    rng = Random("needed")
    values = rng.choices([pair.adjusted_score for pair in ordered[len(ordered) // 2]], k=20_000)
    few, many = 1, 2
    while sequence_of(values[:many], LOWEST, HIGHEST).margin > WIDTH and many < len(values):
        few, many = many, 2 * many
    while many - few > 1 + few // 50:
        middle = (few + many) // 2
        if sequence_of(values[:middle], LOWEST, HIGHEST).margin > WIDTH:
            few = middle
        else:
            many = middle
    return many


def requests_per_match(rules: AnyRules, rows: list[Row]) -> float:
    """How often one player is asked in a match, forced moves included."""
    chance = {rules.format(outcome) for outcome in rules.all_outcomes()}
    ours = [row for row in rows if row["game"] == rules.name]
    return sum(entry not in chance for row in ours for entry in row["entries"]) / max(1, 2 * len(ours))


# -- probes: how many questions ----------------------------------------------------------------------------


def questions(name: str) -> list[Mapping[Seat, int]] | None:
    """Questions of a probe by seat: of a perfect player, then of others that always answer the same."""
    rules = find_game(name).rules()
    if not (isinstance(rules, OpenRules) and tabled(rules)):
        return None
    return [_asked(rules, number) for number in range(1 + ASKED)]


def _asked(rules: AnyRules, number: int) -> Mapping[Seat, int]:
    def answer(asked: list[Ask]) -> dict[str, Row]:
        return {each.key: _answer(each.sight, number) for each in asked}

    found = collect(ProbeConfig("random", (rules.name,)), rules, answer)
    return {seat: sum(key[0] is seat for key in found.answers) for seat in Seat}


def _answer(sight: Sight[Any, Any], number: int) -> Row:
    """A perfect player's answer, or one that hangs on the position and the player alone."""
    rules = sight.rules
    actions = sight.actions if number else get_oracle(rules).judge(sight).best
    rng = Random(f"{number} {rules.format_position(sight)}")
    return {"action": rules.format(rng.choice(actions)), "policy": None}


# -- intervals: how often they hold ------------------------------------------------------------------------


def coverage(name: str) -> list[str]:
    """A row: the true result, and how many of RUNS runs held it at every look, or at the last."""
    rules = find_game(name).rules()
    true = _true_result(rules)
    judge = Judge(rules)
    players = {each: make_player(each, rules) for each in (ONE, TWO)}
    sequence = peeked = fixed = 0
    for number in range(RUNS):
        values = [pair.adjusted_score for pair in _played(rules, judge, players, number)]
        looks = [sequence_of(values[:size], LOWEST, HIGHEST) for size in LOOKS]
        usual = [mean(values[:size]) for size in LOOKS]
        sequence += all(each.low <= true <= each.high for each in looks)
        peeked += all(each.low <= true <= each.high for each in usual)
        fixed += usual[-1].low <= true <= usual[-1].high
    return [name, f"{100 * true:.2f}", *(f"{each} of {RUNS}" for each in (sequence, peeked, fixed))]


def _true_result(rules: AnyRules) -> float:
    """The result of ONE against TWO, the mean of both seats, summed over everything that can happen."""
    tables = shared_tables(rules).tables
    one, two = (tabulate(player_odds(name, rules), rules) for name in (ONE, TWO))
    (start,) = tables.starts
    first, second = (
        expected_values(tables, np.where((tables.actor == seat)[:, None], one, two))[start] for seat in (0, 1)
    )
    return (first + 1 - second) / 2


def _played(rules: AnyRules, judge: Judge, players: dict[str, Player], number: int) -> list[Unit]:
    rows = []
    for pair in range(LOOKS[-1]):
        for names in ((ONE, TWO), (TWO, ONE)):
            bout = MatchPlan(rules.name, (), names, f"coverage {number} {pair}", pair)
            rows.append(play_with(bout, judge, {seat: players[names[seat - 1]] for seat in Seat}))
    return finished_units(units_of(rows, ONE))
