"""The report on a run, and its summary.

The report depends only on the matches, not on when, where or in which order they were played.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from math import comb
from typing import Any

from duels.arena.confidence import Interval
from duels.arena.config import Identity, read_identities
from duels.arena.costs import ModelCosts, Spending
from duels.arena.folder import Folder
from duels.arena.match_plan import Judge
from duels.arena.mistakes import RunMistake, WorstMistakes, rank_mistake
from duels.arena.schemas import Row
from duels.arena.scores import Pairing, PlayerScore, Ratings, rate_players, score_pairing, score_player
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import format_entry
from duels.core.rules import AnyRules, Seat
from duels.players import PLAYER_KINDS
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE, Exactness, Progress, no_progress

MAX_BLUNDERS = 5  # per player and game
ASKED_ONCE_MODEL = (
    "Each position was asked once, and the player may answer differently next time. So there are no "
    "intervals; use --samples 4 to get them."
)
ASKED_ONCE_PROGRAM = "This is exact if the player always gives the same answer. Otherwise, use --samples 4."
_MAX_NAMED_PAIRINGS = 3  # in a sentence
_EPSILON = 0.00005  # smaller losses round to 0.00 points
_MANY_CUT_OFF = 0.2  # of a pairing's matches: with so many half points, the better player is hard to see
_MIN_DECISIONS = 20  # in a category, to report its mean loss


@dataclass(frozen=True)
class GameReport:
    """The results of a run in one game."""

    rules: AnyRules
    matches: int
    opening: float
    """The value of the opening for Player 1."""
    exactness: str
    measure: str
    """The oracle's measure of decisions."""
    scores: tuple[PlayerScore, ...]
    pairings: tuple[Pairing, ...]
    blunders: tuple[RunMistake, ...]

    @property
    def value_sentence(self) -> str:
        share = f"{100 * self.opening:.1f}%"
        if self.exactness == Exactness.EXACT.value:
            return f"Under perfect play, Player 1 wins {share} of the points."
        return f"Under the best play known, Player 1 wins about {share} of the points."

    @property
    def luck_sentence(self) -> str:
        chance = "chance events and " if self.rules.all_outcomes() else ""
        return f"Luck adjustment removes {chance}the random choices of players whose policies are known."

    def list_worst(self, limit: int) -> list[RunMistake]:
        """Return about `limit` of the worst decisions, at least one per player that has any.

        Built-in players are left out if others play.
        """
        players = [score.player for score in self.scores]
        selected = [player for player in players if player not in PLAYER_KINDS] or players
        by_player = [[each for each in self.blunders if each.player == player] for player in selected]
        alternating = [each for row in zip_longest(*by_player) for each in row if each]
        return sorted(alternating[: max(limit, len(selected))], key=rank_mistake)


@dataclass(frozen=True)
class Report:
    """The results of a run."""

    identities: Mapping[str, Identity]
    seed: str
    planned: int
    games: tuple[GameReport, ...]
    ratings: Ratings | None
    """None if choix is not installed; empty if nothing was played."""
    max_margin: float | None
    """The margin at which a pairing stops (`until`). If set, only anytime-valid intervals are valid."""
    costs: ModelCosts
    seconds: Mapping[str, float]
    """Response time by player. JSON omits it, because equal runs must give equal JSON."""
    notes: tuple[str, ...]

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self.identities)

    @property
    def matches(self) -> int:
        return sum(game.matches for game in self.games)


def count_planned(config: Mapping[str, Any]) -> int:
    """Return the number of matches of a run that does not stop early."""
    return int(sum(config["matches"].values())) * comb(len(config["players"]), 2)


def make_report(folder: Folder, progress: Progress = no_progress) -> Report:
    """Build the report on a run, which may be unfinished. Raises DuelsError for the folder of a probe."""
    if folder.is_probe:
        raise DuelsError(f"{folder.path} is the folder of a probe, not of a run.")
    config = folder.config
    progress("reading the logs")
    rows = {key: row for key, row in folder.load_rows().items() if folder.is_planned(row)}
    ordered = sorted(rows.values(), key=lambda row: (row["pair"], row["players"]))
    games = tuple(
        _report_game(folder, name, [row for row in ordered if row["game"] == name], progress)
        for name in config["games"]
    )
    progress("ratings")
    ratings = rate_players(list(config["players"]), [each for game in games for each in game.pairings])
    if ratings and config["until"] is not None:
        ratings = replace(ratings, players={name: r.without_bounds for name, r in ratings.players.items()})
    seconds, spending = _sum_requests(folder, rows)
    return Report(
        read_identities(config["players"], config),
        config["seed"],
        count_planned(config),
        games,
        ratings,
        config["until"],
        ModelCosts.from_config(config, spending),
        seconds,
        folder.list_notes(complete=len(rows) == folder.count_planned()),
    )


def _sum_requests(folder: Folder, rows: Mapping[str, Row]) -> tuple[dict[str, float], Spending]:
    seconds, spending = dict[str, float](), Spending()
    for request in folder.iter_requests():
        spending = spending.add_request(request)
        if row := rows.get(request.get("match", "")):
            player = row["players"][request["seat"] - 1]
            if "usage" in request:
                seconds[player] = seconds.get(player, 0.0) + request.get("seconds", 0.0)
    return seconds, spending


def _report_game(folder: Folder, game: str, rows: list[Row], progress: Progress) -> GameReport:
    progress(f"{game}: {len(rows)} matches")
    players, planned, fixed_size = (
        folder.config["players"],
        folder.list_pairs(game),
        folder.config["until"] is None,
    )
    judge = Judge(folder.get_rules(game))
    opening, exactness = judge.get_opening_value()
    by_pairing: dict[frozenset[str], list[Row]] = defaultdict(list)
    for row in rows:
        by_pairing[frozenset(row["players"])].append(row)
    return GameReport(
        judge.rules,
        len(rows),
        opening,
        exactness.value,
        judge.measure,
        tuple(score_player(player, rows, fixed_size) for player in players),
        tuple(
            score_pairing(one, two, by_pairing[frozenset((one, two))], planned, fixed_size)
            for one, two in combinations(players, 2)
        ),
        tuple(blunder for player in players for blunder in _find_blunders(judge, player, rows)),
    )


def _find_blunders(judge: Judge, player: str, rows: Iterable[Row]) -> list[RunMistake]:
    rules = judge.rules
    by_entries: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        for blunder in row["blunders"]:
            if row["players"][blunder["seat"] - 1] == player:
                by_entries[tuple(row["entries"][: blunder["entry"]])].append(blunder)
    worst = WorstMistakes(MAX_BLUNDERS)
    for entries, blunders in sorted(by_entries.items(), key=lambda item: -item[1][0]["shortfall"]):
        blunder = blunders[0]  # equal openings are replayed once
        if worst.is_settled(blunder["shortfall"]):
            break
        try:
            match = Match.start(rules).play_text(*entries)
        except DuelsError as error:  # of a row whose digest is right
            hint = "To find it: duels arena verify FOLDER"
            raise DuelsError(f"A logged match of {rules.game.name} is not legal: {error} {hint}") from None
        assert match.previous
        assert match.last
        sight = match.previous.sight(Seat(blunder["seat"]))
        worst.add(
            RunMistake(
                player,
                format_entry(rules, match.last),
                tuple(blunder["best"]),
                rules.format_position(sight),
                sight,
                blunder["shortfall"],
                judge.measure,
                times=len(blunders),
            )
        )
    return worst.mistakes


def sum_usage_by_player(report: Report) -> dict[str, Usage]:
    """Return the token usage of each player with requests, over all games."""
    usage: dict[str, Usage] = {}
    for score in (score for game in report.games for score in game.scores if score.usage.requests):
        usage[score.player] = usage.get(score.player, Usage()) + score.usage
    return usage


def summarize_run(report: Report) -> list[str]:
    """Return sentences about each player, the best first, then about confidence, cost and warnings."""
    if not report.matches:
        return ["No matches yet.", *report.costs.describe("Models"), *report.notes]
    ordered = sorted(report.players, key=lambda player: -_mean_won(report, player))
    return [
        *(_summarize_player(report, player) for player in ordered),
        *_summarize_decided(report),
        *_summarize_cut_off(report),
        *report.costs.describe("Models"),
        *report.notes,
    ]


def _mean_won(report: Report, player: str) -> float:
    won = [score.won.estimate for _, score in _list_scores(report, player)]
    return sum(won) / len(won) if won else 0.0


def _list_scores(report: Report, player: str) -> list[tuple[GameReport, PlayerScore]]:
    scores = [(game, score) for game in report.games for score in game.scores]
    return [(game, score) for game, score in scores if score.player == player and score.matches]


def _summarize_player(report: Report, player: str) -> str:
    scores = _list_scores(report, player)
    if not scores:
        return f"{player} has not played yet."
    won = ", ".join(f"{_format_won(score.won)} in {game.rules.name}" for game, score in scores)
    failures = _summarize_failures([score for _, score in scores])
    return " ".join(filter(None, [f"{player} won {won}.", _summarize_mistakes(scores), failures]))


def _format_won(won: Interval) -> str:
    bounds = f" ({100 * won.low:.0f} to {100 * won.high:.0f})" if won.has_bounds else ""
    return f"{100 * won.estimate:.0f}%{bounds}"


def _summarize_mistakes(scores: list[tuple[GameReport, PlayerScore]]) -> str:
    """Name the game in which a player gives away most per match, and its costliest category."""
    graded = [each for each in scores if each[1].decisions and each[0].measure != BELOW_THE_MIXTURE]
    if not graded:
        return ""
    game, worst = max(graded, key=lambda each: each[1].per_match.estimate)
    if worst.per_match.estimate < _EPSILON:
        games = ", ".join(game.rules.name for game, _ in graded)
        return f"It made no mistakes{'' if len(graded) == len(scores) else f' in {games}'}."
    most_in = f" most in {game.rules.name}:" if len(graded) > 1 else ""
    only_in = f" in {game.rules.name}" if len(graded) == 1 < len(scores) else ""
    points = f"{100 * worst.per_match.estimate:.1f} points a match{only_in}"
    return f"It gives away{most_in} {points}{describe_costliest_category(worst.mistake_categories)}."


def describe_costliest_category(mistake_categories: Mapping[str, tuple[float, float]]) -> str:
    """Name the category with the largest mean shortfall, as the end of a sentence; empty if unknown.

    The mean is used because the category with the largest total may just be the most frequent.
    """
    means = {
        category: shortfall / count
        for category, (count, shortfall) in mistake_categories.items()
        if count >= _MIN_DECISIONS and category
    }
    if len(means) < 2 or max(means.values()) < _EPSILON:
        return ""
    category = max(means, key=means.__getitem__)
    return f", most when {category.replace('your', 'its')} ({100 * means[category]:.1f} a decision)"


def format_failures(failures: Mapping[str, int]) -> str:
    """Format failures: `6 illegal, 10 unreadable`."""
    return ", ".join(f"{count} {kind}" for kind, count in failures.items())


def _summarize_failures(scores: list[PlayerScore]) -> str:
    forfeits, failures = sum(score.forfeits for score in scores), Counter[str]()
    for score in scores:
        failures.update(score.failures)
    if not failures:
        return ""
    kinds = format_failures(dict(sorted(failures.items())))
    lost = f"; it forfeited {forfeits} match{'es' * (forfeits != 1)}" if forfeits else ""
    return f"Failures: {kinds}{lost}."


def _summarize_decided(report: Report) -> list[str]:
    pairings = [(game, each) for game in report.games for each in game.pairings if each.matches]
    undecided = [(game, each) for game, each in pairings if each.matches_to_settle != 0]
    decided = len(pairings) - len(undecided)
    if len(pairings) == 1:
        text = f"The better player is {'known' if decided else 'not known yet'}"
    else:
        text = f"The better player is known in {decided or 'none'} of {len(pairings)} pairings"
    each = " each" * (len(pairings) > 1)
    return [f"{text} (95 % confidence{each}, by anytime-valid intervals).{_describe_undecided(undecided)}"]


def _describe_undecided(pairings: list[tuple[GameReport, Pairing]]) -> str:
    """Name undecided pairings, and say how many more matches decide those that can be predicted."""
    names = [_name_pairing(*each) for each in pairings]
    counts = [_format_count(pairing.matches_to_settle) for _, pairing in pairings]
    if not any(counts):
        return f" Undecided: {_join_names(names)}." if names else ""
    named = [f"{name} ({count or 'far more'})" for name, count in zip(names, counts, strict=True)]
    return f" Undecided, and about how many more matches each needs at this rate: {_join_names(named)}."


def _format_count(count: int | None) -> str:
    """Format a number with two digits; empty if it is unknown."""
    return f"{float(f'{count:.2g}'):.0f}" if count else ""


def _name_pairing(game: GameReport, pairing: Pairing) -> str:
    return f"{pairing.one} against {pairing.two} in {game.rules.name}"


def _join_names(pairings: list[str]) -> str:
    more = f" and {len(pairings) - _MAX_NAMED_PAIRINGS} more" if len(pairings) > _MAX_NAMED_PAIRINGS else ""
    return ", ".join(pairings[:_MAX_NAMED_PAIRINGS]) + more


def _summarize_cut_off(report: Report) -> list[str]:
    names = [
        f"{_name_pairing(game, each)} ({each.cut_off} of {each.matches})"
        for game in report.games
        for each in game.pairings
        if each.matches and each.cut_off >= _MANY_CUT_OFF * each.matches
    ]
    sentence = f"Many matches were cut off by the limit and count one half: {_join_names(names)}."
    return [sentence] if names else []
