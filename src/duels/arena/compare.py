"""Two runs, or two probes, side by side: what changed, how sure that is, and which answers differ."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, hypot, inf, isfinite
from typing import TYPE_CHECKING, Any

from duels.arena.confidence import FEWEST_UNITS, Interval, change_of_ratio, interval_data, ratio, wilson
from duels.arena.config import MODEL, identities, unlike
from duels.arena.mistakes import key_of, name_of
from duels.arena.report import GameReport, Report, by_class
from duels.arena.scores import Pairing, Unit
from duels.arena.tables import Block, Items, Prose, Table, write_text
from duels.solving.oracles import get_oracle

if TYPE_CHECKING:  # it needs an extra, which two runs do not
    from duels.arena.probe_report import GameProbe, ProbeReport

FEWEST_PAIRS = 10
"""Pairs of matches, in either run, before a verdict is given: so few say little about how they spread."""
NOTE = "Where nothing has changed, up to one verdict in ten says otherwise: read many of them with care."
"""Intervals of changes miss in 5 to 8 of 100 runs, differences of confidence sequences in at most 10."""
_MOST_SHOWN = 5  # answers that differ, in a game
_NOTHING = 1e-9
_ONCE = "asked once"  # in the place of a verdict


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
class Answered:
    """A position that both probes asked about, and that was answered differently."""

    seat: int
    position: str
    first: str
    """The likeliest answer, in notation, with how likely it is unless it is certain; or `nothing`."""
    second: str
    change: float
    """How much further the second falls short; negative where it is the better one."""
    mixed: bool
    """Whether one of them is not the only answer: the change is then that of the means of all."""


@dataclass(frozen=True)
class AnswerChanges:
    """The answers of two probes in one game."""

    one: "GameProbe"
    two: "GameProbe"
    both: int
    """Positions that both asked about."""
    answers: tuple[Answered, ...]
    """Those that were answered differently, the largest changes first."""

    @property
    def complete(self) -> bool:
        """Whether both probes are finished."""
        return self.one.complete and self.two.complete

    @property
    def told(self) -> str:
        """What became of the answers, in a sentence."""
        unfinished = "" if self.complete else " Not all is answered yet."
        if not self.answers:
            return f"All {self.both} positions that both were asked about are answered alike.{unfinished}"
        better = sum(each.change < -_NOTHING for each in self.answers)
        worse = sum(each.change > _NOTHING for each in self.answers)
        sampled = max(self.one.samples, self.two.samples) > 1
        by_chance = " on average. Answers are samples, so some differ by chance" * sampled
        return (
            f"{len(self.answers)} of {self.both} positions that both were asked about are answered "
            f"differently: {better} better, {worse} worse{by_chance}.{unfinished}"
        )


@dataclass(frozen=True)
class Comparison:
    """What changed from one run, or one probe, to another."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    """Who is not the same in both, what is therefore not compared, and what is out of the ordinary in either,
    a sentence each."""
    answers: tuple[AnswerChanges, ...] | None = None
    """Of probes, by game; None of runs."""


# -- runs ------------------------------------------------------------------------------------------------


def compare_runs(one: Report, two: Report) -> Comparison:
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


# -- probes ----------------------------------------------------------------------------------------------


def compare_probes(one: "ProbeReport", two: "ProbeReport") -> Comparison:
    """What changed from one probe to another, in the games of both."""
    first, second = (identities(each.config["player"], each.config) for each in (one, two))
    said = [
        f"{name} is not the same in both: {why}."
        for name in first
        if name in second and (why := unlike(first[name], second[name]))
    ]
    halved = one.config["symmetric"], two.config["symmetric"]
    if halved[0] != halved[1]:
        which = "first" if halved[0] else "second"
        said.append(f"Only the {which} took one answer for both of two mirror images (--symmetric).")
    player = " → ".join({**first, **second})
    again = {game.probe.rules: game for game in two.games}
    both = [(game, again[game.probe.rules]) for game in one.games if game.probe.rules in again]
    return Comparison(
        tuple(change for games in both for change in _changes(player, *games)),
        (*said, *notes_of_either(one.notes, two.notes)),
        tuple(_answer_changes(*games) for games in both),
    )


def _answer_changes(one: "GameProbe", two: "GameProbe") -> AnswerChanges:
    both = one.probe.answers.keys() & two.probe.answers.keys()
    answers = [_answered(one, two, key) for key in both if _differ(one, two, key)]
    answers.sort(key=lambda each: (-abs(each.change), each.seat, each.position))
    return AnswerChanges(one, two, len(both), tuple(answers))


def _differ(one: "GameProbe", two: "GameProbe", key: Any) -> bool:
    """Whether answers to a position do, by more than rounding."""
    first, second = one.probe.policy(key), two.probe.policy(key)
    actions = first.keys() | second.keys()
    return any(abs(first.get(each, 0.0) - second.get(each, 0.0)) > _NOTHING for each in actions)


def _answered(one: "GameProbe", two: "GameProbe", key: Any) -> Answered:
    first, second = (_likeliest(game, key) for game in (one, two))
    change = _given_away(two, key) - _given_away(one, key)
    mixed = any(max(game.probe.policy(key).values(), default=1.0) < 1 - _NOTHING for game in (one, two))
    return Answered(key[0].value, key[1], first, second, change, mixed)


def _given_away(game: "GameProbe", key: Any) -> float:
    """How far answers fall short; one that did not come gives away all that the position is worth."""
    answered = fsum(game.probe.policy(key).values())
    worth = get_oracle(game.probe.rules).judge(game.probe.sights[key]).value.number
    return answered * game.shortfalls.get(key, 0.0) + (1 - answered) * worth


def _likeliest(game: "GameProbe", key: Any) -> str:
    if all(row["action"] is None for row in game.probe.answers[key]):
        return "nothing"
    policy = game.probe.policy(key)
    action = max(policy, key=policy.__getitem__)
    often = "" if policy[action] > 1 - _NOTHING else f" ({policy[action]:.0%})"
    return game.probe.rules.format(action) + often


def _changes(player: str, one: "GameProbe", two: "GameProbe") -> Iterator[Change]:
    name = one.probe.rules.name
    no_verdict = _ONCE if _may_answer_otherwise(one, two) else ""
    numbers = [
        ("exploitability", one.exploitability, two.exploitability, False),
        (f"exploitability of one {one.round}", one.one_round, two.one_round, False),
        *((f"against {other}", one.against[other], two.against.get(other), True) for other in one.against),
    ]
    # Which positions of a whole game are asked depends on the player's own answers: means are not comparable.
    if one.shortfalls and two.shortfalls and not one.probe.whole:
        yield _shortfall(player, one, two)
    for what, before, after, better_if_higher in numbers:
        if before and after:
            if no_verdict:
                before, after = _as_known(before, one), _as_known(after, two)
            yield Change(name, player, what, before, after, better_if_higher, no_verdict)
    if one.failed or two.failed:
        before, after = (wilson(game.failed, game.questions) for game in (one, two))
        yield Change(name, player, "questions with a failure", before, after, False)


def _may_answer_otherwise(one: "GameProbe", two: "GameProbe") -> bool:
    """Whether a player that may answer otherwise another time was asked once.

    Models may, at any temperature: endpoints put questions together, which changes how numbers are rounded.
    A program is taken for one that always answers the same unless it was asked several times elsewhere.
    """
    games = one, two
    if any(game.asked_once and game.sort == MODEL for game in games):
        return True
    return one.asked_once != two.asked_once and any(game.samples > 1 for game in games)


def _as_known(number: Interval, game: "GameProbe") -> Interval:
    """A number of answers that were asked for once has no interval, not one without width."""
    return number.without_bounds if game.asked_once else number


def _shortfall(player: str, one: "GameProbe", two: "GameProbe") -> Change:
    """Of drawn positions, the same ones in both: how much each changed tells more than the two means do."""
    what = f"{name_of(one.measure)} per position"
    few = "too few positions" * (min(len(one.shortfalls), len(two.shortfalls)) < FEWEST_UNITS)
    change = Change(one.probe.rules.name, player, what, one.shortfall, two.shortfall, False, few)
    weights = one.probe.weights
    if one.shortfalls.keys() != two.shortfalls.keys():
        return change
    each = [weights[key] * (two.shortfalls[key] - short) for key, short in one.shortfalls.items()]
    return replace(change, paired=ratio(each, [weights[key] for key in one.shortfalls]))


# -- as text and data ------------------------------------------------------------------------------------

_ASKED_ONCE = (
    "Asked once each: what the same player would answer another time is not known, so there is no interval "
    "and no verdict. Ask with --samples 4 for one."
)


def as_text(found: Comparison) -> str:
    """Tables for a terminal, in points of a hundred."""
    notes = Prose(found.notes)
    if found.answers is None and not found.changes:
        nothing = "The runs have no number in common: no player, or none in a game with the same options."
        return write_text(Prose([nothing]), notes)
    if found.answers == ():
        return write_text(Prose(["The probes have no game in common."]), notes)
    columns = ["game", "player", "number", "first", "second", "difference", "verdict"]
    changes = Table("", columns, [_cells(change) for change in found.changes], names=3)
    answers = [block for each in found.answers or () for block in _answer_blocks(each)]
    exact = found.answers is not None and not any(0 < each.difference.margin < inf for each in found.changes)
    return write_text(notes, changes, *answers, Prose([_once(found), "" if exact else NOTE]))


def _answer_blocks(each: AnswerChanges) -> list[Block]:
    first, second = by_class(each.one.failures), by_class(each.two.failures)
    failures = f"Failures: were {first or 'none'}; are {second or 'none'}." if first or second else ""
    name = each.one.probe.rules.name
    return [
        Prose([f"{name}: {each.told}", failures]),
        Items("The largest changes", [_line(answer) for answer in each.answers[:_MOST_SHOWN]]),
    ]


def _once(found: Comparison) -> str:
    """What it means that positions were asked once; nothing if none were."""
    if any(change.no_verdict == _ONCE for change in found.changes):
        return _ASKED_ONCE
    if any(each.one.asked_once or each.two.asked_once for each in found.answers or ()):
        return "Exact for players that always answer the same; others are asked with --samples."
    return ""


def _cells(change: Change) -> list[str]:
    gap = change.difference
    bounds = f" ({100 * gap.low:+.2f} to {100 * gap.high:+.2f})" if 0 < gap.margin < inf else ""
    numbers = [f"{100 * number:.2f}" for number in (change.before.estimate, change.after.estimate)]
    difference = f"{100 * gap.estimate:+.2f}{bounds}"
    return [change.game, change.player, change.what, *numbers, difference, change.verdict]


def _line(each: Answered) -> str:
    sort = "worse" if each.change > _NOTHING else "better" if each.change < -_NOTHING else "as good"
    by = "" if sort == "as good" else f"{100 * abs(each.change):.1f} points "
    told = f"{each.position}: was {each.first}, is {each.second}, {by}{sort}"
    return f"{told} on average" if each.mixed else told


def as_data(found: Comparison) -> dict[str, Any]:
    """The same as JSON has it."""
    told: dict[str, Any] = {
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
    if found.answers is not None:
        told["answers"] = {each.one.probe.rules.name: _answers_data(each) for each in found.answers}
    return told


def _answers_data(each: AnswerChanges) -> dict[str, Any]:
    return {
        "complete": each.complete,
        "in_both": each.both,
        "differ": [
            {
                "seat": answer.seat,
                "position": answer.position,
                "first": answer.first,
                "second": answer.second,
                f"{key_of(each.one.measure)}_change": answer.change,
            }
            for answer in each.answers
        ],
        "failures": {"first": each.one.failures, "second": each.two.failures},
    }
