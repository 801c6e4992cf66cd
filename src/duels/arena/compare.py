"""Two runs side by side: what changed, and how sure that is. Probes are in `compare_probes`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot, inf, isfinite
from typing import Any

from duels.arena.confidence import FEWEST_UNITS, Interval, change_of_ratio, interval_data
from duels.arena.identity import unlike
from duels.arena.mistakes import name_of
from duels.arena.report import GameReport, Report
from duels.arena.report_text import notes, table
from duels.arena.scores import Pairing, Unit

FEWEST_PAIRS = 10
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
    no_verdict: str = ""
    """Why there is no verdict, such as `too few matches`; empty if there is one."""
    peeked: bool = False
    """Whether the bounds are those of confidence sequences, which are no multiples of a standard error."""
    paired: Interval | None = None
    """The difference itself, where both measured the same positions, or pairs of matches."""

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
        """`better`, `worse`, that there is no change, or why nothing can be told, of this number alone."""
        if self.no_verdict:
            return self.no_verdict
        change = self.difference
        if not isfinite(change.margin):
            return "too few mistakes"
        if not (change.is_above(0) or change.is_below(0)):
            return "no clear change" if change.margin else "no change"
        return "better" if change.is_above(0) == self.better_if_higher else "worse"


@dataclass(frozen=True)
class Comparison:
    """What changed from one run to another."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    """Who is not the same in both, what is therefore not compared, and what is out of the ordinary in either,
    a sentence each."""


def compare(one: Report, two: Report) -> Comparison:
    """All numbers that both runs have: players that play in both, in games that both play alike.

    Shares of all points and losses tell something only against the same opponents; else results against each
    do. Where results decided when to stop, only results with luck taken out are compared, by their sequences;
    they are also compared by these where intervals for a fixed size do not hold.
    """
    both = _Both(one, two)
    peeked = one.until is not None or two.until is not None
    second = {game.rules: game for game in two.games}
    found: list[Change] = []
    for game in one.games:
        other = second.get(game.rules)
        if other:
            if not peeked:
                found += _standings(game, other, both)
            found += _pairings(game, other, both)
    return Comparison(tuple(found), (*both.notes(peeked), *notes_of_either(one.notes, two.notes)))


def notes_of_either(one: Iterable[str], two: Iterable[str]) -> Iterator[str]:
    """What is out of the ordinary in the folders of two runs, or probes, and in which."""
    yield from (f"First: {note}" for note in one)
    yield from (f"Second: {note}" for note in two)


class _Both:
    """The players that play in both runs: which of them are the same, and met the same opponents."""

    def __init__(self, one: Report, two: Report) -> None:
        self._games = one.games, two.games
        self.names = [name for name in one.players if name in two.players]
        self.changed = {
            name: why for name in self.names if (why := unlike(one.identities[name], two.identities[name]))
        }
        self._fields = set(one.players), set(two.players)

    def met_the_same(self, player: str) -> bool:
        """Whether all opponents of a player are the same in both."""
        first, second = self._fields
        return first == second and not self.changed.keys() - {player}

    def notes(self, peeked: bool) -> Iterator[str]:
        """What there is to say about players and games, a sentence each."""
        if self._games[0] == self._games[1]:
            yield "All results are the same in both. Intervals are for two runs with different seeds."
        for name, why in self.changed.items():
            yield f"{name} is not the same in both: {why}."
        others = [name for name in self.names if not self.met_the_same(name)]
        if others and not peeked:
            yield (
                f"Not all opponents of {', '.join(others)} are the same in both: shares of the points and "
                "losses per decision are not comparable."
            )
        for pair in combinations(self.names, 2):
            if self.changed.keys() >= set(pair):
                yield f"Neither {pair[0]} nor {pair[1]} is the same: their results are not comparable."
        first, second = ({game.rules.name: game.rules for game in games} for games in self._games)
        for game, rules in first.items():
            if game in second and second[game] != rules:
                yield f"{game} has other options in the second run: it is not comparable."


def _standings(one: GameReport, two: GameReport, both: _Both) -> Iterator[Change]:
    second = {each.player: each for each in two.standings}
    for each in one.standings:
        other = second.get(each.player)
        if not (other and both.met_the_same(each.player)):
            continue
        names, few = (one.rules.name, each.player), _too_few(min(each.matches, other.matches))
        if each.matches and other.matches:
            paired = _paired(each.units, other.units, "points", "matches")
            yield Change(*names, "won", each.won, other.won, True, few, paired=paired)
        if each.decisions and other.decisions:
            short = f"{name_of(one.measure)} per decision"
            paired = _paired(each.units, other.units, "shortfall", "decisions")
            few = few or "too few pairs" * (min(len(each.units), len(other.units)) < FEWEST_UNITS)
            yield Change(*names, short, each.per_decision, other.per_decision, False, few, paired=paired)


def _pairings(one: GameReport, two: GameReport, both: _Both) -> Iterator[Change]:
    second = {(pair.one, pair.two): pair for each in two.pairings for pair in (each, each.turned)}
    for each in one.pairings:
        changed = both.changed.keys() & {each.one, each.two}
        if len(changed) == 2:
            continue
        first = each.turned if each.two in changed else each  # a change is that of who changed
        other = second.get((first.one, first.two))
        if other and min(first.matches, other.matches):
            yield _result(one.rules.name, first, other)


def _result(game: str, one: Pairing, two: Pairing) -> Change:
    names = game, one.one, f"against {one.two}, luck taken out"
    few, before, after = _too_few(min(one.matches, two.matches)), one.adjusted_fixed, two.adjusted_fixed
    if before and after:
        first, second = ([unit for unit in each.units if unit.is_finished] for each in (one, two))
        paired = _paired(first, second, "adjusted", "matches")
        if paired or isfinite(max(before.margin, after.margin)):
            return Change(*names, before, after, True, few, paired=paired)
    return Change(*names, one.adjusted, two.adjusted, True, few, peeked=True)


def _paired(one: Sequence[Unit], two: Sequence[Unit], part: str, whole: str) -> Interval | None:
    """How much parts by wholes changed, pair by pair, if both runs played the same pairs of matches.

    None where they did not, or the interval does not hold: then they are compared as if they had not.
    """
    second = {unit.seed: unit for unit in two}
    if second.keys() != {unit.seed for unit in one}:
        return None
    again = [second[unit.seed] for unit in one]
    numbers = ([getattr(unit, name) for unit in units] for units in (one, again) for name in (part, whole))
    change = change_of_ratio(*numbers)
    return change if isfinite(change.margin) else None


def _too_few(matches: int) -> str:
    return "too few matches" if matches < 2 * FEWEST_PAIRS else ""


NOTE = "Where nothing has changed, up to one verdict in ten says otherwise: read many of them with care."
"""Intervals of changes miss in 5 to 8 of 100 runs, differences of confidence sequences in at most 10."""


def as_text(found: Comparison) -> str:
    """A table for a terminal, in points of a hundred."""
    told = notes(*found.notes)
    if not found.changes:
        nothing = "The runs have no number in common: no player, or none in a game with the same options."
        return "\n".join([*notes(nothing), *told]) + "\n"
    return "\n".join([*told, *[""] * bool(told), *table_of(found.changes), "", *notes(NOTE)]) + "\n"


def table_of(changes: Sequence[Change]) -> list[str]:
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


def as_data(found: Comparison) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "notes": list(found.notes),
        "changes": [
            {
                "game": change.game,
                "player": change.player,
                "what": change.what,
                "first": interval_data(change.before),
                "second": interval_data(change.after),
                "difference": interval_data(change.difference),
                "paired": change.paired is not None,
                "verdict": change.verdict,
            }
            for change in found.changes
        ],
    }
