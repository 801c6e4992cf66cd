"""The report on a run as data, and its summary in a few sentences.

Nothing in it depends on when, where or in which order the matches were played.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from math import comb
from typing import Any

from duels.arena.amounts import Prices, Spending
from duels.arena.config import Identity, identities
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.match_plan import Judge
from duels.arena.mistakes import RunMistake, Worst, rank
from duels.arena.scores import Pairing, PlayerScore, Ratings, pairing, rate, standing
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import format_entry
from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from duels.players import PLAYER_KINDS
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE, Exactness
from duels.solving.progress import Progress, no_progress

MOST_BLUNDERS = 5  # that are shown of a player in a game
_MOST_NAMED = 3  # pairings
_NOTHING = 0.00005  # rounds to 0.00 points
_EVEN = 0.5
_PAIRS_TO_SETTLE = 20  # with fewer, results that hold under peeking tell hardly more than nothing
_MANY_CUT = 0.2  # of the matches of a pairing: so many halves hide who is better
_ENOUGH = 20  # decisions of a sort, to say what they cost


@dataclass(frozen=True)
class GameReport:
    """One game of a run."""

    rules: AnyRules
    matches: int
    opening: float
    """What it is worth to Player 1."""
    exactness: str
    measure: str
    """What decisions are graded by: `given away` or `below the mixture`."""
    standings: tuple[PlayerScore, ...]
    pairings: tuple[Pairing, ...]
    blunders: tuple[RunMistake, ...]

    @property
    def state_value(self) -> str:
        """What the game is worth, in a sentence."""
        share = f"{100 * self.opening:.1f}%"
        if self.exactness == Exactness.EXACT.value:
            return f"Worth {share} to Player 1 under perfect play."
        return f"Worth about {share} to Player 1 under the best play known."

    @property
    def luck(self) -> str:
        """What is taken out of the adjusted results of this game, in a sentence."""
        if self.rules.all_outcomes():
            return "Taken out: chance, by its exact odds, and the mixing of players whose policies are known."
        return "There is no chance in it: only the mixing of players whose policies are known is taken out."

    def worst(self, most: int) -> list[RunMistake]:
        """The worst decisions: about `most`, shared out among the players, and at least one of each.

        Those of our own players are known, and left out where others play.
        """
        players = [each.player for each in self.standings]
        shown = [player for player in players if player not in PLAYER_KINDS] or players
        by_player = [[each for each in self.blunders if each.player == player] for player in shown]
        in_turn = [each for turn in zip_longest(*by_player) for each in turn if each]
        return sorted(in_turn[: max(most, len(shown))], key=rank)


@dataclass(frozen=True)
class Report:
    """All of a run."""

    identities: Mapping[str, Identity]
    """Who plays, by name."""
    seed: str
    planned: int
    """Matches that were asked for."""
    games: tuple[GameReport, ...]
    ratings: Ratings | None
    """None where what rates is not installed; without players where nothing was played."""
    until: float | None
    """The margin at which results stopped the run; then only intervals that hold under peeking hold."""
    conditions: Mapping[str, Any]
    """How models were asked; empty where none played."""
    prices: Prices
    seconds: Mapping[str, float]
    """How long models took to answer, by player; not in data, which is the same for equal runs."""
    spending: Spending
    """Not in data either."""
    notes: tuple[str, ...]
    """What is out of the ordinary in its folder, a sentence each."""

    @property
    def players(self) -> tuple[str, ...]:
        """Their names, in the order of the config."""
        return tuple(self.identities)

    @property
    def matches(self) -> int:
        """Matches that were played."""
        return sum(game.matches for game in self.games)


def planned(config: Mapping[str, Any]) -> int:
    """How many matches a run was asked for."""
    return int(sum(config["matches"].values())) * comb(len(config["players"]), 2)


def report_on(folder: Folder, progress: Progress = no_progress) -> Report:
    """The report on a run, finished or not."""
    if folder.is_probe:
        raise DuelsError(f"{folder.path} is of a probe, not of a run.")
    config = folder.config
    asked = {name: folder.pairs_of(name) for name in config["games"]}
    progress("reading the logs")
    rows = {key: row for key, row in folder.rows().items() if folder.asks_for(row)}
    ordered = sorted(rows.values(), key=lambda row: (row["pair"], row["players"]))
    players = tuple(config["players"])
    games = tuple(
        _game(
            find_game(name).rules(**config["options"][name]),
            players,
            [row for row in ordered if row["game"] == name],
            asked[name],
            config["until"] is None,
            progress,
        )
        for name in config["games"]
    )
    progress("ratings")
    ratings = rate(players, [each for game in games for each in game.pairings])
    if ratings and config["until"] is not None:
        ratings = replace(ratings, players={name: r.without_bounds for name, r in ratings.players.items()})
    seconds, spending = _requested(folder, rows)
    due = 2 * sum(map(len, asked.values())) * comb(len(players), 2)
    return Report(
        identities(config["players"], config),
        config["seed"],
        planned(config),
        games,
        ratings,
        config["until"],
        config["model"],
        prices_of(folder),
        seconds,
        spending,
        folder.notes(complete=len(rows) == due),
    )


def prices_of(folder: Folder) -> Prices:
    """What tokens cost in a run or a probe."""
    return Prices(folder.config["prices"], folder.config["currency"])


def _requested(folder: Folder, rows: Mapping[str, Row]) -> tuple[dict[str, float], Spending]:
    """What was waited for replies in these matches, by player, and what all requests took, or may have."""
    seconds, spending = dict[str, float](), Spending()
    for request in folder.requests():
        spending = spending.plus(request)
        if row := rows.get(request.get("match", "")):
            player = row["players"][request["seat"] - 1]
            if "usage" in request:
                seconds[player] = seconds.get(player, 0.0) + request["seconds"]
    return seconds, spending


def _game(
    rules: AnyRules,
    players: tuple[str, ...],
    rows: list[Row],
    planned: list[int],
    fixed_size: bool,
    progress: Progress,
) -> GameReport:
    progress(f"{rules.name}: {len(rows)} matches")
    judge = Judge(rules)
    opening, exactness = judge.opening()
    by_pairing: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        by_pairing.setdefault(frozenset(row["players"]), []).append(row)
    return GameReport(
        rules,
        len(rows),
        opening,
        exactness.value,
        judge.measure,
        tuple(standing(player, rows, fixed_size) for player in players),
        tuple(
            pairing(one, two, by_pairing.get(frozenset((one, two)), []), planned, fixed_size)
            for one, two in combinations(players, 2)
        ),
        tuple(blunder for player in players for blunder in _blunders(judge, player, rows)),
    )


def _blunders(judge: Judge, player: str, rows: Iterable[Row]) -> list[RunMistake]:
    """A player's worst decisions, none of them twice."""
    rules = judge.rules
    told_of: dict[tuple[str, ...], dict[str, Any]] = {}
    times: Counter[tuple[str, ...]] = Counter()  # matches begin alike: those that do are replayed once
    for row in rows:
        for told in row["blunders"]:
            if row["players"][told["seat"] - 1] == player:
                entries = tuple(row["entries"][: told["entry"]])
                told_of.setdefault(entries, told)
                times[entries] += 1
    worst = Worst(MOST_BLUNDERS)
    for entries in sorted(told_of, key=lambda each: -told_of[each]["shortfall"]):
        told = told_of[entries]
        if worst.is_done(told["shortfall"]):
            break
        match = Match.start(rules).play_text(*entries)
        before, last = match.previous, match.last
        assert before
        assert last
        sight = before.sight(Seat(told["seat"]))
        worst.add(
            RunMistake(
                player,
                format_entry(rules, last),
                tuple(told["best"]),
                rules.format_position(sight),
                sight,
                told["shortfall"],
                judge.measure,
                times=times[entries],
            )
        )
    return worst.mistakes


def usage_by_player(report: Report) -> dict[str, Usage]:
    """What models took in all games; players that are none are left out."""
    found: dict[str, Usage] = {}
    for game in report.games:
        for each in game.standings:
            if each.usage.requests:
                found[each.player] = found.get(each.player, Usage()) + each.usage
    return found


# -- the summary: who is how good at what, where they go wrong, how sure that is ----------------------------


def of_run(report: Report) -> list[str]:
    """A sentence or two for each player, the best first; then how sure that is, and what it cost."""
    if not report.matches:
        return ["Nothing has been played yet.", *_cost(report), *report.notes]
    ordered = sorted(report.players, key=lambda player: -_share(report, player))
    told = [_player(report, player) for player in ordered]
    return [*told, *_settled(report), *_cut_off(report), *_cost(report), *report.notes]


def _share(report: Report, player: str) -> float:
    """The share of the points over all games, each counting alike."""
    won = [each.won.estimate for _, each in _played(report, player)]
    return sum(won) / len(won) if won else 0.0


def _played(report: Report, player: str) -> list[tuple[GameReport, PlayerScore]]:
    found = [(game, each) for game in report.games for each in game.standings]
    return [(game, each) for game, each in found if each.player == player and each.matches]


def _player(report: Report, player: str) -> str:
    played = _played(report, player)
    if not played:
        return f"{player} has not played yet."
    won = ", ".join(f"{_won(report, each)} in {game.rules.name}" for game, each in played)
    told = [f"{player} won {won}.", _mistakes(played), _failures([each for _, each in played])]
    return " ".join(filter(None, told))


def _won(report: Report, each: PlayerScore) -> str:
    share = f"{100 * each.won.estimate:.0f}%"
    bounds = f"{100 * each.won.low:.0f} to {100 * each.won.high:.0f}"
    return share if report.until is not None else f"{share} ({bounds})"


def _mistakes(played: list[tuple[GameReport, PlayerScore]]) -> str:
    """The game in which a player gives away most in a match, and in which sort of decision."""
    graded = [(game, each) for game, each in played if each.decisions and game.measure != BELOW_THE_MIXTURE]
    if not graded:
        return ""
    game, worst = max(graded, key=lambda each: each[1].per_match.estimate)
    if worst.per_match.estimate < _NOTHING:
        games = ", ".join(game.rules.name for game, _ in graded)
        return f"It made no mistakes{'' if len(graded) == len(played) else f' in {games}'}."
    most = "" if len(graded) == 1 else f" most in {game.rules.name}:"
    where = f" in {game.rules.name}" if len(graded) == 1 < len(played) else ""
    points = f"{100 * worst.per_match.estimate:.1f} points a match{where}"
    return f"It gives away{most} {points}{most_when(worst.manners)}."


def most_when(manners: Mapping[str, tuple[float, float]]) -> str:
    """The sort of decision that costs most each time, as the end of a sentence; nothing if that is not known.

    Not the sort with the largest part of the loss: that may just be the commonest.
    """
    each = {
        category: short / count
        for category, (count, short) in manners.items()
        if count >= _ENOUGH and category
    }
    if len(each) < 2 or max(each.values()) < _NOTHING:
        return ""
    category = max(each, key=each.__getitem__)
    return f", most when {category.replace('your', 'its')} ({100 * each[category]:.1f} a decision)"


def by_class(failures: Mapping[str, int]) -> str:
    """Failures as a list, such as `6 illegal, 10 unreadable`."""
    return ", ".join(f"{count} {kind}" for kind, count in failures.items())


def _failures(standings: Iterable[PlayerScore]) -> str:
    forfeits, failures = 0, dict[str, int]()
    for each in standings:
        forfeits += each.forfeits
        for kind, count in each.failures.items():
            failures[kind] = failures.get(kind, 0) + count
    if not failures:
        return ""
    told = by_class(dict(sorted(failures.items())))
    lost = f"; it forfeited {forfeits} match{'es' * (forfeits != 1)}" if forfeits else ""
    return f"Failures: {told}{lost}."


def _settled(report: Report) -> list[str]:
    """For how many pairings it is known who is better, and for which it is not."""
    pairings = [(game, each) for game in report.games for each in game.pairings if each.matches]
    still_open = [(game, each) for game, each in pairings if not each.adjusted.excludes(_EVEN)]
    known = len(pairings) - len(still_open)
    if not known and all(len(each.units) < _PAIRS_TO_SETTLE for _, each in pairings):
        return [f"Too few pairs of matches to settle who is better: about {_PAIRS_TO_SETTLE} are needed."]
    if len(pairings) == 1:
        told = "Who is better is settled" if known else "Who is better is not settled"
    else:
        told = f"Who is better is settled for {known or 'none'} of {len(pairings)} pairings"
    named = _named([f"{each.one} against {each.two} in {game.rules.name}" for game, each in still_open])
    left = f" Open: {named}." if known and still_open else ""
    by = "by the intervals that hold however often one looks"  # those for a fixed size may tell more
    return [f"{told}, {'each ' * (len(pairings) > 1)}at 95%, {by}.{left}"]


def _named(pairings: list[str]) -> str:
    more = f" and {len(pairings) - _MOST_NAMED} more" if len(pairings) > _MOST_NAMED else ""
    return ", ".join(pairings[:_MOST_NAMED]) + more


def _cut_off(report: Report) -> list[str]:
    """Where the limit ended many matches."""
    cut = [
        f"{each.one} against {each.two} in {game.rules.name} ({each.cut_off} of {each.matches})"
        for game in report.games
        for each in game.pairings
        if each.matches and each.cut_off >= _MANY_CUT * each.matches
    ]
    return [f"Many matches were cut off by the limit and count one half: {_named(cut)}."] if cut else []


def _cost(report: Report) -> list[str]:
    return report.spending.told("Models", report.prices, limited=bool(report.conditions.get("max_tokens")))
