"""Comparison of two runs or two probes: changed numbers with verdicts, and changed answers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, hypot, inf, isfinite
from typing import TYPE_CHECKING, Any

from duels.arena.confidence import (
    MIN_UNITS,
    Interval,
    interval_data,
    ratio_change,
    ratio_interval,
    wilson_interval,
)
from duels.arena.config import MODEL, describe_difference, read_identities
from duels.arena.mistakes import measure_key, measure_label
from duels.arena.report import GameReport, Report, format_failures
from duels.arena.scores import Pairing, Unit
from duels.arena.tables import Block, Items, Prose, Table, render_blocks
from duels.solving.oracles import get_oracle

if TYPE_CHECKING:  # needs an extra that runs do not need
    from duels.arena.probe_report import GameProbe, ProbeReport

MIN_PAIRS = 10
"""The fewest pairs of matches in each run for a verdict."""
NOTE = "If nothing changed, up to one verdict in ten is wrong, so expect some errors among many verdicts."
"""Intervals of changes miss in 5 to 8 of 100 runs, differences of confidence sequences in at most 10."""
_MAX_SHOWN = 5  # changed answers per game
_EPSILON = 1e-9
_ONCE = "asked once"  # replaces a verdict


@dataclass(frozen=True)
class ScoreChange:
    """A number of one player in one game, in both runs. The difference is second minus first."""

    game: str
    player: str
    what: str
    before: Interval
    after: Interval
    better_if_higher: bool
    no_verdict: str = ""
    """The reason for a missing verdict, such as `too few matches`."""
    peeked: bool = False
    """Whether the bounds are from confidence sequences, not multiples of a standard error."""
    paired: Interval | None = None
    """The difference, if both measured the same positions or pairs of matches."""

    @property
    def difference(self) -> Interval:
        """The paired difference, or that of two independent samples."""
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
        """`better`, `worse`, `no change`, `no clear change`, or the reason for no verdict."""
        if self.no_verdict:
            return self.no_verdict
        change = self.difference
        if not isfinite(change.margin):
            return "too few mistakes"
        if not (change.is_above(0) or change.is_below(0)):
            return "no clear change" if change.margin else "no change"
        return "better" if change.is_above(0) == self.better_if_higher else "worse"


@dataclass(frozen=True)
class ChangedAnswer:
    """A position that both probes asked about, and that was answered differently."""

    seat: int
    position: str
    first: str
    """The most likely answer, with its probability if below 1; or `nothing`."""
    second: str
    change: float
    """The change of the mean shortfall; negative if the second is better."""
    mixed: bool
    """Whether one of the two probes has several answers."""


@dataclass(frozen=True)
class AnswerChanges:
    """The answers of two probes in one game."""

    one: "GameProbe"
    two: "GameProbe"
    both: int
    """Positions in both probes."""
    answers: tuple[ChangedAnswer, ...]
    """Changed answers, the largest changes first."""

    @property
    def complete(self) -> bool:
        return self.one.complete and self.two.complete

    @property
    def summary(self) -> str:
        unfinished = "" if self.complete else " Not all questions are answered yet."
        if not self.answers:
            return f"All {self.both} positions in both probes have the same answers.{unfinished}"
        better = sum(each.change < -_EPSILON for each in self.answers)
        worse = sum(each.change > _EPSILON for each in self.answers)
        sampled = max(self.one.samples, self.two.samples) > 1
        by_chance = " on average. Answers are samples, so some differ by chance" * sampled
        return (
            f"{len(self.answers)} of {self.both} positions in both probes have other answers: "
            f"{better} better, {worse} worse{by_chance}.{unfinished}"
        )


@dataclass(frozen=True)
class Comparison:
    changes: tuple[ScoreChange, ...]
    notes: tuple[str, ...]
    """Sentences about changed players, missing comparisons, and warnings about the folders."""
    answers: tuple[AnswerChanges, ...] | None = None
    """Changed answers of probes by game; None for runs."""


def compare_runs(one: Report, two: Report) -> Comparison:
    """Compare the players that are in both runs, in games with the same options.

    Shares of the points and losses are compared only if all opponents are the same; results against each
    opponent always. If results decided when to stop, only results with luck taken out are compared, by their
    confidence sequences. These also serve if intervals for a fixed size do not hold.
    """
    both = _CommonPlayers(one, two)
    peeked = one.until is not None or two.until is not None
    second = {game.rules: game for game in two.games}
    changes: list[ScoreChange] = []
    for game in one.games:
        other = second.get(game.rules)
        if other:
            if not peeked:
                changes += _compare_scores(game, other, both)
            changes += _compare_pairings(game, other, both)
    return Comparison(tuple(changes), (*both.iter_notes(peeked), *_label_notes(one.notes, two.notes)))


def _label_notes(one: Iterable[str], two: Iterable[str]) -> Iterator[str]:
    yield from (f"First: {note}" for note in one)
    yield from (f"Second: {note}" for note in two)


class _CommonPlayers:
    """The players that are in both runs."""

    def __init__(self, one: Report, two: Report) -> None:
        self._games = one.games, two.games
        self.names = [name for name in one.players if name in two.players]
        self.changed = {
            name: difference
            for name in self.names
            if (difference := describe_difference(one.identities[name], two.identities[name]))
        }
        self._fields = set(one.players), set(two.players)

    def has_same_opponents(self, player: str) -> bool:
        first, second = self._fields
        return first == second and not self.changed.keys() - {player}

    def iter_notes(self, peeked: bool) -> Iterator[str]:
        """Yield sentences about changed players and missing comparisons."""
        if self._games[0] == self._games[1]:
            yield "All results are the same in both. Intervals are for two runs with different seeds."
        for name, difference in self.changed.items():
            yield f"{name} is not the same in both: {difference}."
        others = [name for name in self.names if not self.has_same_opponents(name)]
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


def _compare_scores(one: GameReport, two: GameReport, both: _CommonPlayers) -> Iterator[ScoreChange]:
    second = {each.player: each for each in two.scores}
    for each in one.scores:
        other = second.get(each.player)
        if not (other and both.has_same_opponents(each.player)):
            continue
        names, few = (one.rules.name, each.player), _explain_too_few(min(each.matches, other.matches))
        if each.matches and other.matches:
            paired = _paired_change(each.units, other.units, "points", "matches")
            yield ScoreChange(*names, "won", each.won, other.won, True, few, paired=paired)
        if each.decisions and other.decisions:
            short = f"{measure_label(one.measure)} per decision"
            paired = _paired_change(each.units, other.units, "shortfall", "decisions")
            few = few or "too few pairs" * (min(len(each.units), len(other.units)) < MIN_UNITS)
            yield ScoreChange(*names, short, each.per_decision, other.per_decision, False, few, paired=paired)


def _compare_pairings(one: GameReport, two: GameReport, both: _CommonPlayers) -> Iterator[ScoreChange]:
    second = {(pair.one, pair.two): pair for each in two.pairings for pair in (each, each.swapped)}
    for each in one.pairings:
        changed = both.changed.keys() & {each.one, each.two}
        if len(changed) == 2:
            continue
        first = each.swapped if each.two in changed else each  # from the view of the changed player
        other = second.get((first.one, first.two))
        if other and min(first.matches, other.matches):
            yield _compare_results(one.rules.name, first, other)


def _compare_results(game: str, one: Pairing, two: Pairing) -> ScoreChange:
    names = game, one.one, f"against {one.two}, luck taken out"
    few = _explain_too_few(min(one.matches, two.matches))
    before, after = one.adjusted_fixed, two.adjusted_fixed
    if before and after:
        first, second = ([unit for unit in each.units if unit.is_finished] for each in (one, two))
        paired = _paired_change(first, second, "adjusted", "matches")
        if paired or isfinite(max(before.margin, after.margin)):
            return ScoreChange(*names, before, after, True, few, paired=paired)
    return ScoreChange(*names, one.adjusted, two.adjusted, True, few, peeked=True)


def _paired_change(one: Sequence[Unit], two: Sequence[Unit], part: str, whole: str) -> Interval | None:
    """Return the change of part / whole if both runs played the same pairs of matches.

    None if they did not, or if the interval does not hold.
    """
    second = {unit.seed: unit for unit in two}
    if second.keys() != {unit.seed for unit in one}:
        return None
    again = [second[unit.seed] for unit in one]
    numbers = ([getattr(unit, name) for unit in units] for units in (one, again) for name in (part, whole))
    change = ratio_change(*numbers)
    return change if isfinite(change.margin) else None


def _explain_too_few(matches: int) -> str:
    return "too few matches" if matches < 2 * MIN_PAIRS else ""


def compare_probes(one: "ProbeReport", two: "ProbeReport") -> Comparison:
    first, second = (read_identities(each.config["player"], each.config) for each in (one, two))
    notes = [
        f"{name} is not the same in both: {difference}."
        for name in first
        if name in second and (difference := describe_difference(first[name], second[name]))
    ]
    halved = one.config["symmetric"], two.config["symmetric"]
    if halved[0] != halved[1]:
        which = "first" if halved[0] else "second"
        notes.append(f"Only the {which} took one answer for both of two mirror images (--symmetric).")
    player = " → ".join({**first, **second})
    again = {game.probe.rules: game for game in two.games}
    both = [(game, again[game.probe.rules]) for game in one.games if game.probe.rules in again]
    return Comparison(
        tuple(change for games in both for change in _compare_numbers(player, *games)),
        (*notes, *_label_notes(one.notes, two.notes)),
        tuple(_compare_answers(*games) for games in both),
    )


def _compare_answers(one: "GameProbe", two: "GameProbe") -> AnswerChanges:
    both = one.probe.answers.keys() & two.probe.answers.keys()
    answers = [_compare_answer(one, two, key) for key in both if _has_changed(one, two, key)]
    answers.sort(key=lambda each: (-abs(each.change), each.seat, each.position))
    return AnswerChanges(one, two, len(both), tuple(answers))


def _has_changed(one: "GameProbe", two: "GameProbe", key: Any) -> bool:
    """Whether the answers to a position differ by more than rounding."""
    first, second = one.probe.get_policy(key), two.probe.get_policy(key)
    actions = first.keys() | second.keys()
    return any(abs(first.get(each, 0.0) - second.get(each, 0.0)) > _EPSILON for each in actions)


def _compare_answer(one: "GameProbe", two: "GameProbe", key: Any) -> ChangedAnswer:
    first, second = (_format_likeliest(game, key) for game in (one, two))
    change = _mean_shortfall(two, key) - _mean_shortfall(one, key)
    mixed = any(max(game.probe.get_policy(key).values(), default=1.0) < 1 - _EPSILON for game in (one, two))
    return ChangedAnswer(key[0].value, key[1], first, second, change, mixed)


def _mean_shortfall(game: "GameProbe", key: Any) -> float:
    """Return the mean shortfall. A missing answer gives away the value of the position."""
    answered = fsum(game.probe.get_policy(key).values())
    value = get_oracle(game.probe.rules).judge(game.probe.sights[key]).value.number
    return answered * game.shortfalls.get(key, 0.0) + (1 - answered) * value


def _format_likeliest(game: "GameProbe", key: Any) -> str:
    if all(row["action"] is None for row in game.probe.answers[key]):
        return "nothing"
    policy = game.probe.get_policy(key)
    action = max(policy, key=policy.__getitem__)
    share = "" if policy[action] > 1 - _EPSILON else f" ({policy[action]:.0%})"
    return game.probe.rules.format(action) + share


def _compare_numbers(player: str, one: "GameProbe", two: "GameProbe") -> Iterator[ScoreChange]:
    name = one.probe.rules.name
    no_verdict = _ONCE if _may_vary(one, two) else ""
    numbers = [
        ("exploitability", one.exploitability, two.exploitability, False),
        (f"exploitability of one {one.round}", one.one_round, two.one_round, False),
        *((f"against {other}", one.against[other], two.against.get(other), True) for other in one.against),
    ]
    # The positions of an exhaustive probe depend on the answers, so means are not comparable.
    if one.shortfalls and two.shortfalls and not one.probe.is_exhaustive:
        yield _compare_shortfalls(player, one, two)
    for what, before, after, better_if_higher in numbers:
        if before and after:
            if no_verdict:
                before, after = _drop_bounds(before, one), _drop_bounds(after, two)
            yield ScoreChange(name, player, what, before, after, better_if_higher, no_verdict)
    if one.failed or two.failed:
        before, after = (wilson_interval(game.failed, game.questions) for game in (one, two))
        yield ScoreChange(name, player, "questions with a failure", before, after, False)


def _may_vary(one: "GameProbe", two: "GameProbe") -> bool:
    """Whether a player was asked once that may give another answer next time.

    Models may vary at any temperature, because endpoints batch requests, which changes rounding. A program
    counts as deterministic unless it was asked several times in the other probe.
    """
    games = one, two
    if any(game.asked_once and game.player_type == MODEL for game in games):
        return True
    return one.asked_once != two.asked_once and any(game.samples > 1 for game in games)


def _drop_bounds(number: Interval, game: "GameProbe") -> Interval:
    """Drop the bounds if each position was asked once: they are unknown, not zero."""
    return number.without_bounds if game.asked_once else number


def _compare_shortfalls(player: str, one: "GameProbe", two: "GameProbe") -> ScoreChange:
    """Compare mean shortfalls of drawn positions, in pairs if both have the same positions."""
    what = f"{measure_label(one.measure)} per position"
    few = "too few positions" * (min(len(one.shortfalls), len(two.shortfalls)) < MIN_UNITS)
    change = ScoreChange(one.probe.rules.name, player, what, one.shortfall, two.shortfall, False, few)
    weights = one.probe.weights
    if one.shortfalls.keys() != two.shortfalls.keys():
        return change
    each = [weights[key] * (two.shortfalls[key] - short) for key, short in one.shortfalls.items()]
    return replace(change, paired=ratio_interval(each, [weights[key] for key in one.shortfalls]))


_ASKED_ONCE = (
    "Each position was asked once, and the player may answer differently next time, so there is no interval "
    "and no verdict. Use --samples 4 to get them."
)


def as_text(comparison: Comparison) -> str:
    """Render a comparison for a terminal, in points of a hundred."""
    notes = Prose(comparison.notes)
    if comparison.answers is None and not comparison.changes:
        nothing = "The runs have nothing to compare: no common player in a game with the same options."
        return render_blocks(Prose([nothing]), notes)
    if comparison.answers == ():
        return render_blocks(Prose(["The probes have no game in common."]), notes)
    columns = ["game", "player", "number", "first", "second", "difference", "verdict"]
    changes = Table("", columns, [_change_cells(change) for change in comparison.changes], names=3)
    answers = [block for each in comparison.answers or () for block in _answer_blocks(each)]
    exact = comparison.answers is not None and not any(
        0 < each.difference.margin < inf for each in comparison.changes
    )
    return render_blocks(
        notes, changes, *answers, Prose([_explain_asked_once(comparison), "" if exact else NOTE])
    )


def _answer_blocks(each: AnswerChanges) -> list[Block]:
    first, second = format_failures(each.one.failures), format_failures(each.two.failures)
    failures = f"Failures: {first or 'none'} in the first, {second or 'none'} in the second."
    name = each.one.probe.rules.name
    return [
        Prose([f"{name}: {each.summary}", failures if first or second else ""]),
        Items("The largest changes", [_format_answer(answer) for answer in each.answers[:_MAX_SHOWN]]),
    ]


def _explain_asked_once(comparison: Comparison) -> str:
    if any(change.no_verdict == _ONCE for change in comparison.changes):
        return _ASKED_ONCE
    if any(each.one.asked_once or each.two.asked_once for each in comparison.answers or ()):
        return "This is exact for players that always give the same answer. For others, use --samples."
    return ""


def _change_cells(change: ScoreChange) -> list[str]:
    gap = change.difference
    bounds = f" ({100 * gap.low:+.2f} to {100 * gap.high:+.2f})" if 0 < gap.margin < inf else ""
    numbers = [f"{100 * number:.2f}" for number in (change.before.estimate, change.after.estimate)]
    difference = f"{100 * gap.estimate:+.2f}{bounds}"
    return [change.game, change.player, change.what, *numbers, difference, change.verdict]


def _format_answer(each: ChangedAnswer) -> str:
    verdict = "worse" if each.change > _EPSILON else "better" if each.change < -_EPSILON else "as good"
    by = "" if verdict == "as good" else f"{100 * abs(each.change):.1f} points "
    text = f"{each.position}: was {each.first}, is {each.second}, {by}{verdict}"
    return f"{text} on average" if each.mixed else text


def as_data(comparison: Comparison) -> dict[str, Any]:
    data: dict[str, Any] = {
        "notes": list(comparison.notes),
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
            for change in comparison.changes
        ],
    }
    if comparison.answers is not None:
        data["answers"] = {each.one.probe.rules.name: _answers_data(each) for each in comparison.answers}
    return data


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
                f"{measure_key(each.one.measure)}_change": answer.change,
            }
            for answer in each.answers
        ],
        "failures": {"first": each.one.failures, "second": each.two.failures},
    }
