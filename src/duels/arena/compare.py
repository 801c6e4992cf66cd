"""Two runs side by side: what changed, and how sure that is."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from duels.arena.confidence import Interval
from duels.arena.mistakes import name_of
from duels.arena.report import GameReport, Report, interval_data
from duels.arena.report_text import table


@dataclass(frozen=True)
class Change:
    """A number of one player in one game, in both runs. A difference is the second's less the first's."""

    game: str
    player: str
    what: str
    before: Interval
    after: Interval
    better_if_higher: bool

    @property
    def difference(self) -> Interval:
        """With the usual interval for two independent samples."""
        change = self.after.estimate - self.before.estimate
        margin = sqrt(self.before.margin**2 + self.after.margin**2)
        return Interval(change, change - margin, change + margin)

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or that nothing can be told, of this number alone."""
        change = self.difference
        if change.low <= 0 <= change.high:
            return "no clear change"
        return "better" if (change.estimate > 0) == self.better_if_higher else "worse"


def compare(one: Report, two: Report) -> list[Change]:
    """All numbers that both runs have: players that play in both, in games that both play alike.

    A share of all points tells something only if the opponents are the same; else results against each do.
    """
    second = {game.rules: game for game in two.games}
    found: list[Change] = []
    for game in one.games:
        other = second.get(game.rules)
        if other:
            found += _standings(game, other, set(one.players) == set(two.players))
            found += _pairings(game, other)
    return found


def _standings(one: GameReport, two: GameReport, same_field: bool) -> Iterator[Change]:
    second = {each.player: each for each in two.standings}
    for each in one.standings:
        other = second.get(each.player)
        names = one.rules.name, each.player
        if other and same_field and each.matches and other.matches:
            yield Change(*names, "won", each.won, other.won, True)
        if other and each.decisions and other.decisions:
            short = f"{name_of(one.measure)} per decision"
            yield Change(*names, short, each.per_decision, other.per_decision, False)


def _pairings(one: GameReport, two: GameReport) -> Iterator[Change]:
    second = {(each.one, each.two): each for each in two.pairings}
    for each in one.pairings:
        other = second.get((each.one, each.two))
        if other and each.matches > 1 and other.matches > 1:
            what = f"against {each.two}, luck taken out"
            yield Change(
                one.rules.name,
                each.one,
                what,
                each.adjusted_fixed,
                other.adjusted_fixed,
                better_if_higher=True,
            )


def as_text(changes: list[Change]) -> str:
    """A table for a terminal, in points of a hundred."""
    if not changes:
        return "The runs have no player in common in any game with the same options.\n"
    rows = [["game", "player", "", "first", "second", "difference", ""]]
    for change in changes:
        gap = change.difference
        rows.append(
            [
                change.game,
                change.player,
                change.what,
                f"{100 * change.before.estimate:.2f}",
                f"{100 * change.after.estimate:.2f}",
                f"{100 * gap.estimate:+.2f} ({100 * gap.low:+.2f} to {100 * gap.high:+.2f})",
                change.verdict,
            ]
        )
    rows[0][6] = "verdict"
    rows[0][2] = "number"
    note = "One verdict in twenty is wrong by chance: look at many of them together with care."
    return "\n".join([*table(rows), "", note]) + "\n"


def as_data(changes: list[Change]) -> list[dict[str, Any]]:
    """The same as JSON has it."""
    return [
        {
            "game": change.game,
            "player": change.player,
            "what": change.what,
            "first": interval_data(change.before),
            "second": interval_data(change.after),
            "difference": interval_data(change.difference),
            "verdict": change.verdict,
        }
        for change in changes
    ]
