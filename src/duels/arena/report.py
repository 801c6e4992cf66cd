"""The report on a run, and its summary.

It does not depend on when, where or in which order the matches were played.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from math import comb
from typing import Any

from duels.arena.config import Identity, read_identities
from duels.arena.costs import Prices, Spending
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.match_plan import Judge
from duels.arena.mistakes import RunMistake, WorstMistakes, rank_mistake
from duels.arena.scores import Pairing, PlayerScore, Ratings, rate_players, score_pairing, score_player
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import format_entry
from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from duels.players import PLAYER_KINDS
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE, Exactness
from duels.solving.progress import Progress, no_progress

MAX_BLUNDERS = 5  # per player and game
_MAX_NAMED = 3  # pairings
_EPSILON = 0.00005  # rounds to 0.00 points
_EVEN = 0.5
_PAIRS_TO_SETTLE = 20  # below this, intervals that hold under peeking are too wide
_MANY_CUT_OFF = 0.2  # of the matches of a pairing: these halves hide who is better
_MIN_DECISIONS = 20  # of a category, to report its cost


@dataclass(frozen=True)
class GameReport:
    rules: AnyRules
    matches: int
    opening: float
    """The value of the opening for Player 1."""
    exactness: str
    measure: str
    """How decisions are graded: `given away` or `below the mixture`."""
    scores: tuple[PlayerScore, ...]
    pairings: tuple[Pairing, ...]
    blunders: tuple[RunMistake, ...]

    @property
    def value_sentence(self) -> str:
        share = f"{100 * self.opening:.1f}%"
        if self.exactness == Exactness.EXACT.value:
            return f"Under perfect play Player 1 wins {share} of the points."
        return f"Under the best play known, Player 1 wins about {share} of the points."

    @property
    def luck(self) -> str:
        """A sentence about the kinds of luck that adjusted results exclude."""
        if self.rules.all_outcomes():
            return "Taken out: chance, by its exact odds, and the mixing of players whose policies are known."
        return "There is no chance in it: only the mixing of players whose policies are known is taken out."

    def list_worst(self, limit: int) -> list[RunMistake]:
        """Return about `limit` of the worst decisions, and at least one of each player.

        Built-in players are left out if others play.
        """
        players = [each.player for each in self.scores]
        selected = [player for player in players if player not in PLAYER_KINDS] or players
        by_player = [[each for each in self.blunders if each.player == player] for player in selected]
        in_turn = [each for turn in zip_longest(*by_player) for each in turn if each]
        return sorted(in_turn[: max(limit, len(selected))], key=rank_mistake)


@dataclass(frozen=True)
class Report:
    identities: Mapping[str, Identity]
    seed: str
    planned: int
    games: tuple[GameReport, ...]
    ratings: Ratings | None
    """None if choix is not installed; without players if nothing was played."""
    until: float | None
    """The margin at which results stop the run. Then only intervals that allow peeking hold."""
    conditions: Mapping[str, Any]
    """The settings of models; empty without models."""
    prices: Prices
    seconds: Mapping[str, float]
    """Response time by player. Not part of JSON, which is the same for equal runs."""
    spending: Spending
    """Not part of JSON either."""
    notes: tuple[str, ...]

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self.identities)

    @property
    def matches(self) -> int:
        return sum(game.matches for game in self.games)


def count_planned(config: Mapping[str, Any]) -> int:
    return int(sum(config["matches"].values())) * comb(len(config["players"]), 2)


def make_report(folder: Folder, progress: Progress = no_progress) -> Report:
    """Build the report on a run, finished or not. Raises DuelsError for the folder of a probe."""
    if folder.is_probe:
        raise DuelsError(f"{folder.path} is the folder of a probe, not of a run.")
    config = folder.config
    pairs = {name: folder.list_pairs(name) for name in config["games"]}
    progress("reading the logs")
    rows = {key: row for key, row in folder.load_rows().items() if folder.is_planned(row)}
    ordered = sorted(rows.values(), key=lambda row: (row["pair"], row["players"]))
    players = tuple(config["players"])
    games = tuple(
        _report_game(
            find_game(name).rules(**config["options"][name]),
            players,
            [row for row in ordered if row["game"] == name],
            pairs[name],
            config["until"] is None,
            progress,
        )
        for name in config["games"]
    )
    progress("ratings")
    ratings = rate_players(players, [each for game in games for each in game.pairings])
    if ratings and config["until"] is not None:
        ratings = replace(ratings, players={name: r.without_bounds for name, r in ratings.players.items()})
    seconds, spending = _sum_requests(folder, rows)
    due = 2 * sum(map(len, pairs.values())) * comb(len(players), 2)
    return Report(
        read_identities(config["players"], config),
        config["seed"],
        count_planned(config),
        games,
        ratings,
        config["until"],
        config["model"],
        Prices(config["prices"], config["currency"]),
        seconds,
        spending,
        folder.list_notes(complete=len(rows) == due),
    )


def _sum_requests(folder: Folder, rows: Mapping[str, Row]) -> tuple[dict[str, float], Spending]:
    """Return the response time in these matches by player, and the spending of all requests."""
    seconds, spending = dict[str, float](), Spending()
    for request in folder.iter_requests():
        spending = spending.add_request(request)
        if row := rows.get(request.get("match", "")):
            player = row["players"][request["seat"] - 1]
            if "usage" in request:
                seconds[player] = seconds.get(player, 0.0) + request["seconds"]
    return seconds, spending


def _report_game(
    rules: AnyRules,
    players: tuple[str, ...],
    rows: list[Row],
    planned: list[int],
    fixed_size: bool,
    progress: Progress,
) -> GameReport:
    progress(f"{rules.name}: {len(rows)} matches")
    judge = Judge(rules)
    opening, exactness = judge.get_opening_value()
    by_pairing: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        by_pairing.setdefault(frozenset(row["players"]), []).append(row)
    return GameReport(
        rules,
        len(rows),
        opening,
        exactness.value,
        judge.measure,
        tuple(score_player(player, rows, fixed_size) for player in players),
        tuple(
            score_pairing(one, two, by_pairing.get(frozenset((one, two)), []), planned, fixed_size)
            for one, two in combinations(players, 2)
        ),
        tuple(blunder for player in players for blunder in _find_blunders(judge, player, rows)),
    )


def _find_blunders(judge: Judge, player: str, rows: Iterable[Row]) -> list[RunMistake]:
    rules = judge.rules
    blunders: dict[tuple[str, ...], dict[str, Any]] = {}
    times: Counter[tuple[str, ...]] = Counter()  # equal openings are replayed once
    for row in rows:
        for blunder in row["blunders"]:
            if row["players"][blunder["seat"] - 1] == player:
                entries = tuple(row["entries"][: blunder["entry"]])
                blunders.setdefault(entries, blunder)
                times[entries] += 1
    worst = WorstMistakes(MAX_BLUNDERS)
    for entries in sorted(blunders, key=lambda each: -blunders[each]["shortfall"]):
        blunder = blunders[entries]
        if worst.is_settled(blunder["shortfall"]):
            break
        match = Match.start(rules).play_text(*entries)
        before, last = match.previous, match.last
        assert before
        assert last
        sight, played = before.sight(Seat(blunder["seat"])), format_entry(rules, last)
        best, position, short = tuple(blunder["best"]), rules.format_position(sight), blunder["shortfall"]
        measure, count = judge.measure, times[entries]
        worst.add(RunMistake(player, played, best, position, sight, short, measure, times=count))
    return worst.mistakes


def sum_usage_by_player(report: Report) -> dict[str, Usage]:
    usage: dict[str, Usage] = {}
    for game in report.games:
        for each in game.scores:
            if each.usage.requests:
                usage[each.player] = usage.get(each.player, Usage()) + each.usage
    return usage


def summarize_run(report: Report) -> list[str]:
    """Summarize a run: each player, the best first; then the confidence, the cost and warnings."""
    if not report.matches:
        return ["No matches yet.", *_summarize_cost(report), *report.notes]
    ordered = sorted(report.players, key=lambda player: -_mean_share(report, player))
    return [
        *(_summarize_player(report, player) for player in ordered),
        *_summarize_settled(report),
        *_summarize_cut_off(report),
        *_summarize_cost(report),
        *report.notes,
    ]


def _mean_share(report: Report, player: str) -> float:
    won = [each.won.estimate for _, each in _list_scores(report, player)]
    return sum(won) / len(won) if won else 0.0


def _list_scores(report: Report, player: str) -> list[tuple[GameReport, PlayerScore]]:
    scores = [(game, each) for game in report.games for each in game.scores]
    return [(game, each) for game, each in scores if each.player == player and each.matches]


def _summarize_player(report: Report, player: str) -> str:
    played = _list_scores(report, player)
    if not played:
        return f"{player} has not played yet."
    won = ", ".join(f"{_format_won(report, each)} in {game.rules.name}" for game, each in played)
    failures = _summarize_failures([each for _, each in played])
    return " ".join(filter(None, [f"{player} won {won}.", _summarize_mistakes(played), failures]))


def _format_won(report: Report, each: PlayerScore) -> str:
    share = f"{100 * each.won.estimate:.0f}%"
    bounds = f"{100 * each.won.low:.0f} to {100 * each.won.high:.0f}"
    return share if report.until is not None else f"{share} ({bounds})"


def _summarize_mistakes(played: list[tuple[GameReport, PlayerScore]]) -> str:
    """Name the game in which a player gives away most per match, and the costliest category there."""
    graded = [(game, each) for game, each in played if each.decisions and game.measure != BELOW_THE_MIXTURE]
    if not graded:
        return ""
    game, worst = max(graded, key=lambda each: each[1].per_match.estimate)
    if worst.per_match.estimate < _EPSILON:
        games = ", ".join(game.rules.name for game, _ in graded)
        return f"It made no mistakes{'' if len(graded) == len(played) else f' in {games}'}."
    most = "" if len(graded) == 1 else f" most in {game.rules.name}:"
    where = f" in {game.rules.name}" if len(graded) == 1 < len(played) else ""
    points = f"{100 * worst.per_match.estimate:.1f} points a match{where}"
    return f"It gives away{most} {points}{describe_costliest_category(worst.mistake_categories)}."


def describe_costliest_category(mistake_categories: Mapping[str, tuple[float, float]]) -> str:
    """Name the category with the largest mean shortfall, as the end of a sentence; empty if unknown.

    The category with the largest total may just be the most frequent.
    """
    means = {
        category: short / count
        for category, (count, short) in mistake_categories.items()
        if count >= _MIN_DECISIONS and category
    }
    if len(means) < 2 or max(means.values()) < _EPSILON:
        return ""
    category = max(means, key=means.__getitem__)
    return f", most when {category.replace('your', 'its')} ({100 * means[category]:.1f} a decision)"


def format_failures(failures: Mapping[str, int]) -> str:
    """Format failures: `6 illegal, 10 unreadable`."""
    return ", ".join(f"{count} {kind}" for kind, count in failures.items())


def _summarize_failures(scores: Iterable[PlayerScore]) -> str:
    forfeits, failures = 0, Counter[str]()
    for each in scores:
        forfeits += each.forfeits
        failures.update(each.failures)
    if not failures:
        return ""
    kinds = format_failures(dict(sorted(failures.items())))
    lost = f"; it forfeited {forfeits} match{'es' * (forfeits != 1)}" if forfeits else ""
    return f"Failures: {kinds}{lost}."


def _summarize_settled(report: Report) -> list[str]:
    """Say for which pairings the better player is settled."""
    pairings = [(game, each) for game in report.games for each in game.pairings if each.matches]
    open_pairings = [(game, each) for game, each in pairings if not each.adjusted.excludes(_EVEN)]
    settled = len(pairings) - len(open_pairings)
    if not settled and all(len(each.units) < _PAIRS_TO_SETTLE for _, each in pairings):
        return [f"Too few pairs of matches to settle who is better: about {_PAIRS_TO_SETTLE} are needed."]
    if len(pairings) == 1:
        text = "Who is better is settled" if settled else "Who is better is not settled"
    else:
        text = f"Who is better is settled for {settled or 'none'} of {len(pairings)} pairings"
    names = _join_names(
        [f"{each.one} against {each.two} in {game.rules.name}" for game, each in open_pairings]
    )
    left = f" Open: {names}." if settled and open_pairings else ""
    by = "by intervals that allow peeking"  # those for a fixed size may settle more
    return [f"{text}, {'each ' * (len(pairings) > 1)}at 95%, {by}.{left}"]


def _join_names(pairings: list[str]) -> str:
    more = f" and {len(pairings) - _MAX_NAMED} more" if len(pairings) > _MAX_NAMED else ""
    return ", ".join(pairings[:_MAX_NAMED]) + more


def _summarize_cut_off(report: Report) -> list[str]:
    cut = [
        f"{each.one} against {each.two} in {game.rules.name} ({each.cut_off} of {each.matches})"
        for game in report.games
        for each in game.pairings
        if each.matches and each.cut_off >= _MANY_CUT_OFF * each.matches
    ]
    return [f"Many matches were cut off by the limit and count one half: {_join_names(cut)}."] if cut else []


def _summarize_cost(report: Report) -> list[str]:
    return report.spending.describe(
        "Models", report.prices, limited=bool(report.conditions.get("max_tokens"))
    )
