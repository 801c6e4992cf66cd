"""Two runs side by side: what changed, and how sure that is. Probes are in `compare_probes`."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot, inf, isfinite
from typing import Any

from duels.arena.confidence import Interval, interval_data
from duels.arena.mistakes import name_of
from duels.arena.report import GameReport, Report
from duels.arena.report_text import table

FEWEST = 10
"""Pairs of matches, in either run, before a verdict is given: so few say little about how they spread."""


@dataclass(frozen=True)
class Change:
    """A number of one player in one game, in both runs. A difference is the second's less the first's."""

    game: str
    player: str
    what: str
    before: Interval
    after: Interval
    better_if_higher: bool
    too_few: bool = False
    """Whether there are so few matches, or positions, in either that there is no verdict."""
    counted: str = "matches"
    """What there are too few of then."""
    peeked: bool = False
    """Whether the bounds are those of confidence sequences, which are no multiples of a standard error."""
    paired: Interval | None = None
    """The difference itself, where both measured the same positions."""

    @property
    def difference(self) -> Interval:
        """With an interval for two independent samples, unless it was measured itself."""
        if self.paired:
            return self.paired
        one, two = self.before, self.after
        change = two.estimate - one.estimate
        down = two.estimate - two.low, one.high - one.estimate
        up = two.high - two.estimate, one.estimate - one.low
        if self.peeked:
            return Interval(change, change - sum(down), change + sum(up))
        lower, upper = (hypot(*(max(0.0, part) for part in parts)) for parts in (down, up))
        return Interval(change, change - lower, change + upper)

    @property
    def verdict(self) -> str:
        """`better`, `worse`, that there is no change, or that nothing can be told, of this number alone."""
        if self.too_few:
            return f"too few {self.counted}"
        change = self.difference
        if not isfinite(change.margin):
            return "too few mistakes"
        if not (change.is_above(0) or change.is_below(0)):
            return "no clear change" if change.margin else "no change"
        return "better" if change.is_above(0) == self.better_if_higher else "worse"


def compare(one: Report, two: Report) -> list[Change]:
    """All numbers that both runs have: players that play in both, in games that both play alike.

    A share of all points tells something only if the opponents are the same; else results against each do.
    Where results decided when to stop, only results with luck taken out are compared, by their sequences;
    they are also compared by these where intervals for a fixed size do not hold.
    """
    peeked = one.until is not None or two.until is not None
    second = {game.rules: game for game in two.games}
    found: list[Change] = []
    for game in one.games:
        other = second.get(game.rules)
        if other:
            if not peeked:
                found += _standings(game, other, set(one.players) == set(two.players))
            found += _pairings(game, other)
    return found


def _standings(one: GameReport, two: GameReport, same_field: bool) -> Iterator[Change]:
    second = {each.player: each for each in two.standings}
    for each in one.standings:
        other = second.get(each.player)
        if not other:
            continue
        names, matches = (one.rules.name, each.player), min(each.matches, other.matches)
        if same_field and matches:
            yield Change(*names, "won", each.won, other.won, True, _too_few(matches))
        if each.decisions and other.decisions:
            short = f"{name_of(one.measure)} per decision"
            yield Change(*names, short, each.per_decision, other.per_decision, False, _too_few(matches))


def _pairings(one: GameReport, two: GameReport) -> Iterator[Change]:
    second = {(each.one, each.two): each for each in two.pairings}
    for each in one.pairings:
        other = second.get((each.one, each.two))
        if not other:
            continue
        matches = min(each.matches, other.matches)
        if matches:
            names, few = (one.rules.name, each.one, f"against {each.two}, luck taken out"), _too_few(matches)
            before, after = each.adjusted_fixed, other.adjusted_fixed
            if not (before and after and isfinite(max(before.margin, after.margin))):
                yield Change(*names, each.adjusted, other.adjusted, True, few, peeked=True)
            else:
                yield Change(*names, before, after, True, few)


def _too_few(matches: int) -> bool:
    return matches < 2 * FEWEST


NOTE = "Where nothing has changed, one verdict in twenty says otherwise: read many of them with care."


def as_text(changes: list[Change]) -> str:
    """A table for a terminal, in points of a hundred."""
    if not changes:
        return "The runs have no player in common in any game with the same options.\n"
    return "\n".join([*table_of(changes), "", NOTE]) + "\n"


def table_of(changes: list[Change]) -> list[str]:
    """The lines of a table, in points of a hundred."""
    rows = [["game", "player", "number", "first", "second", "difference", "verdict"]]
    for change in changes:
        gap = change.difference
        rows.append(
            [
                change.game,
                change.player,
                change.what,
                f"{100 * change.before.estimate:.2f}",
                f"{100 * change.after.estimate:.2f}",
                f"{100 * gap.estimate:+.2f}" + _bounds(gap),
                change.verdict,
            ]
        )
    return table(rows, names=3)


def _bounds(gap: Interval) -> str:
    return f" ({100 * gap.low:+.2f} to {100 * gap.high:+.2f})" if 0 < gap.margin < inf else ""


def as_data(changes: list[Change]) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "changes": [
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
    }
