"""What a run says, as data: nothing in it depends on when, where or in which order it was played."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from math import comb
from typing import Any

from duels.arena.amounts import Prices, Spending
from duels.arena.folder import Folder
from duels.arena.identity import Identity, identities
from duels.arena.logs import Row
from duels.arena.mistakes import Mistake, Worst, rank
from duels.arena.ratings import Ratings, rate
from duels.arena.scores import Pairing, Standing, pairing, standing
from duels.arena.values import Judge
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import format_entry
from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from duels.players import KINDS
from duels.players.completions import Usage
from duels.solving.oracle import Exactness
from duels.solving.progress import Progress, quiet

MOST_BLUNDERS = 5  # that are shown of a player in a game


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
    standings: tuple[Standing, ...]
    pairings: tuple[Pairing, ...]
    blunders: tuple[Mistake, ...]

    @property
    def worth(self) -> str:
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

    def worst(self, most: int) -> list[Mistake]:
        """The worst decisions: about `most`, shared out among the players, and at least one of each.

        Those of our own players are known, and left out where others play.
        """
        players = [each.player for each in self.standings]
        shown = [player for player in players if player not in KINDS] or players
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


def report_on(folder: Folder, progress: Progress = quiet) -> Report:
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
    ratings = rate(players, games)
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
    name, judge = rules.name, Judge(rules)
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
        tuple(standing(name, player, rows, fixed_size) for player in players),
        tuple(
            pairing(name, one, two, by_pairing.get(frozenset((one, two)), []), planned, fixed_size)
            for one, two in combinations(players, 2)
        ),
        tuple(blunder for player in players for blunder in _blunders(judge, player, rows)),
    )


def _blunders(judge: Judge, player: str, rows: Iterable[Row]) -> list[Mistake]:
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
            Mistake(
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
