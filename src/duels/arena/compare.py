"""Compares two runs or two probes: numbers that changed, with verdicts, and answers that changed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, hypot, inf
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
from duels.arena.report import ASKED_ONCE_MODEL, ASKED_ONCE_PROGRAM, GameReport, Report, format_failures
from duels.arena.scores import MatchPair, Pairing, list_finished_pairs
from duels.arena.tables import Block, Items, Prose, Table, render_blocks
from duels.solving.oracles import get_oracle

if TYPE_CHECKING:  # needs an extra that runs do not need
    from duels.arena.probe_report import GameProbe, ProbeReport

MIN_PAIRS = 10
"""The fewest pairs of matches in each run for a verdict."""
NOTE = "If nothing changed, up to one verdict in ten is wrong, so expect some errors among many verdicts."
"""Intervals of changes miss in 5 to 8 of 100 runs, and those from confidence sequences in at most 10."""
_MAX_ANSWERS = 5  # per game
_EPSILON = 1e-9
_ASKED_ONCE = "asked once"  # replaces a verdict


@dataclass(frozen=True)
class ScoreChange:
    """One measured number of a player in a game, in both runs. The difference is second minus first."""

    game: str
    player: str
    label: str
    first: Interval
    second: Interval
    better_if_higher: bool
    no_verdict: str = ""
    """The reason for a missing verdict, such as `too few matches`."""
    is_sequence: bool = False
    """Whether the bounds come from confidence sequences, rather than from standard errors."""
    paired: Interval | None = None
    """The difference computed pair by pair, if both runs have the same positions or pairs of matches."""

    @property
    def difference(self) -> Interval:
        """The paired difference, or the difference of two independent samples."""
        if self.paired:
            return self.paired
        one, two = self.first, self.second
        change = two.estimate - one.estimate
        margins_down = two.estimate - two.low, one.high - one.estimate
        margins_up = two.high - two.estimate, one.estimate - one.low
        if self.is_sequence:
            return Interval(change, change - sum(margins_down), change + sum(margins_up))
        down, up = (hypot(*(max(0.0, each) for each in margins)) for margins in (margins_down, margins_up))
        return Interval(change, change - down, change + up)

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `no change`, `no clear change`, or the reason for no verdict."""
        if self.no_verdict:
            return self.no_verdict
        change = self.difference
        if not change.has_bounds:
            return "too few mistakes"
        if not change.excludes(0):
            return "no clear change" if change.margin else "no change"
        return "better" if change.is_above(0) == self.better_if_higher else "worse"


@dataclass(frozen=True)
class ChangedAnswer:
    """A position with different answers in two probes."""

    seat: int
    position: str
    first: str
    """The most likely answer, with its probability if it is below 1; `nothing` without an answer."""
    second: str
    change: float
    """The change of the mean shortfall; negative if the second answer is better."""
    is_mixed: bool
    """Whether one of the two probes has several answers to the position."""

    def __str__(self) -> str:
        verdict = "as good"
        if abs(self.change) > _EPSILON:
            verdict = f"{100 * abs(self.change):.1f} points {'worse' if self.change > 0 else 'better'}"
        average = " on average" * self.is_mixed
        return f"{self.position}: was {self.first}, is {self.second}, {verdict}{average}"


@dataclass(frozen=True)
class AnswerChanges:
    """The answers of two probes in one game."""

    one: "GameProbe"
    two: "GameProbe"
    common: int
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
            return f"All {self.common} positions in both probes have the same answers.{unfinished}"
        better = sum(each.change < -_EPSILON for each in self.answers)
        worse = sum(each.change > _EPSILON for each in self.answers)
        sampled = max(self.one.samples, self.two.samples) > 1
        by_chance = " on average. Answers are samples, so some differ by chance" * sampled
        return (
            f"{len(self.answers)} of {self.common} positions in both probes have different answers: "
            f"{better} better, {worse} worse{by_chance}.{unfinished}"
        )


@dataclass(frozen=True)
class Comparison:
    """The differences between two runs or two probes."""

    changes: tuple[ScoreChange, ...]
    notes: tuple[str, ...]
    """Sentences about changed players, missing comparisons, and warnings about the folders."""
    answers: tuple[AnswerChanges, ...] | None = None
    """Changed answers of probes by game; None for runs."""


def compare_runs(one: Report, two: Report) -> Comparison:
    """Compare the players that are in both runs, in games with the same options.

    Results against each opponent are always compared; shares of the points and losses only if all opponents
    are the same. If a run may stop early, only luck-adjusted results are compared, by their confidence
    sequences. Confidence sequences also replace fixed-size intervals that are not valid.
    """
    common = [name for name in one.players if name in two.players]
    changed = _describe_changes(one.identities, two.identities)
    same_players = set(one.players) == set(two.players)
    has_same_opponents = [name for name in common if same_players and changed.keys() <= {name}]
    may_stop_early = one.max_margin is not None or two.max_margin is not None
    second = {game.rules: game for game in two.games}
    changes: list[ScoreChange] = []
    for game in one.games:
        if other := second.get(game.rules):
            if not may_stop_early:
                changes += _compare_scores(game, other, has_same_opponents)
            changes += _compare_pairings(game, other, changed)
    notes = [*_iter_run_notes(one, two), *_iter_player_notes(changed)]
    others = [name for name in common if name not in has_same_opponents]
    if others and not may_stop_early:
        notes.append(
            f"Not all opponents of {', '.join(others)} are the same in both: shares of the points and losses "
            "per decision are not comparable."
        )
    for names in combinations(changed, 2):
        notes.append(f"Both {' and '.join(names)} changed: their results are not comparable.")
    return Comparison(tuple(changes), (*notes, *_label_notes(one.notes, two.notes)))


def _describe_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    differences = {name: describe_difference(first[name], second[name]) for name in first if name in second}
    return {name: difference for name, difference in differences.items() if difference}


def _iter_player_notes(changed: Mapping[str, str]) -> Iterator[str]:
    return (f"{name} is not the same in both: {difference}." for name, difference in changed.items())


def _iter_run_notes(one: Report, two: Report) -> Iterator[str]:
    if one.games == two.games:
        yield "All results are the same in both. Intervals are for two runs with different seeds."
    second = {game.rules.name: game.rules for game in two.games}
    for rules in (game.rules for game in one.games):
        if second.get(rules.name, rules) != rules:
            yield f"{rules.name} has different options in the second run and is not compared."


def _label_notes(one: Iterable[str], two: Iterable[str]) -> Iterator[str]:
    yield from (f"First: {note}" for note in one)
    yield from (f"Second: {note}" for note in two)


def _compare_scores(one: GameReport, two: GameReport, players: Collection[str]) -> Iterator[ScoreChange]:
    second = {each.player: each for each in two.scores}
    for each in (score for score in one.scores if score.player in players):
        other = second[each.player]
        names, too_few = (one.rules.name, each.player), _explain_too_few(each.matches, other.matches)
        if each.matches and other.matches:
            paired = _paired_change(each.match_pairs, other.match_pairs, "points", "matches")
            yield ScoreChange(*names, "won", each.won, other.won, True, too_few, paired=paired)
        if each.decisions and other.decisions:
            label = f"{measure_label(one.measure)} per decision"
            paired = _paired_change(each.match_pairs, other.match_pairs, "shortfall", "decisions")
            pairs = min(len(each.match_pairs), len(other.match_pairs))
            too_few = too_few or "too few pairs" * (pairs < MIN_UNITS)
            losses = each.per_decision, other.per_decision
            yield ScoreChange(*names, label, *losses, False, too_few, paired=paired)


def _compare_pairings(one: GameReport, two: GameReport, changed: Collection[str]) -> Iterator[ScoreChange]:
    second = {
        (pairing.one, pairing.two): pairing for each in two.pairings for pairing in (each, each.swapped)
    }
    for each in one.pairings:
        if each.one in changed and each.two in changed:
            continue
        first = each.swapped if each.two in changed else each  # from the changed player's point of view
        other = second.get((first.one, first.two))
        if other and min(first.matches, other.matches):
            yield _compare_results(one.rules.name, first, other)


def _compare_results(game: str, one: Pairing, two: Pairing) -> ScoreChange:
    names = game, one.one, f"against {one.two}, luck-adjusted"
    too_few = _explain_too_few(one.matches, two.matches)
    before, after = one.adjusted_fixed, two.adjusted_fixed
    if before and after:
        first, second = (list_finished_pairs(each.match_pairs) for each in (one, two))
        paired = _paired_change(first, second, "adjusted", "matches")
        if paired or (before.has_bounds and after.has_bounds):
            return ScoreChange(*names, before, after, True, too_few, paired=paired)
    return ScoreChange(*names, one.adjusted, two.adjusted, True, too_few, is_sequence=True)


def _paired_change(
    one: Sequence[MatchPair], two: Sequence[MatchPair], part: str, whole: str
) -> Interval | None:
    """Return the change of sum(part) / sum(whole) between two runs of the same pairs of matches.

    `part` and `whole` name fields of a pair. None if the pairs differ, or the interval is not valid.
    """
    second = {pair.seed: pair for pair in two}
    if second.keys() != {pair.seed for pair in one}:
        return None
    matching_pairs = [second[pair.seed] for pair in one]
    numbers = (
        [getattr(pair, name) for pair in pairs] for pairs in (one, matching_pairs) for name in (part, whole)
    )
    change = ratio_change(*numbers)
    return change if change.has_bounds else None


def _explain_too_few(*matches: int) -> str:
    return "too few matches" if min(matches) < 2 * MIN_PAIRS else ""


def compare_probes(one: "ProbeReport", two: "ProbeReport") -> Comparison:
    """Compare two probes in the games that both have, with the same options."""
    first, second = (read_identities(each.config["player"], each.config) for each in (one, two))
    notes = [*_iter_player_notes(_describe_changes(first, second))]
    if one.config["symmetric"] != two.config["symmetric"]:
        probe = "first" if one.config["symmetric"] else "second"
        notes.append(f"Only the {probe} probe used one answer for both mirror images (--symmetric).")
    player = " → ".join({**first, **second})
    others = {game.probe.rules: game for game in two.games}
    games = [(game, others[game.probe.rules]) for game in one.games if game.probe.rules in others]
    return Comparison(
        tuple(change for reports in games for change in _compare_numbers(player, *reports)),
        (*notes, *_label_notes(one.notes, two.notes)),
        tuple(_compare_answers(*reports) for reports in games),
    )


def _compare_answers(one: "GameProbe", two: "GameProbe") -> AnswerChanges:
    common = one.probe.answers.keys() & two.probe.answers.keys()
    answers = filter(None, (_compare_answer(one, two, key) for key in common))
    ordered = sorted(answers, key=lambda each: (-abs(each.change), each.seat, each.position))
    return AnswerChanges(one, two, len(common), tuple(ordered))


def _compare_answer(one: "GameProbe", two: "GameProbe", key: Any) -> ChangedAnswer | None:
    """Compare the answers to a position. Returns None if they are equal up to rounding."""
    policies = first, second = one.probe.get_policy(key), two.probe.get_policy(key)
    actions = first.keys() | second.keys()
    if all(abs(first.get(each, 0.0) - second.get(each, 0.0)) <= _EPSILON for each in actions):
        return None
    was, now = (_format_likeliest(game, key) for game in (one, two))
    change = _mean_shortfall(two, key) - _mean_shortfall(one, key)
    is_mixed = any(max(policy.values(), default=1.0) < 1 - _EPSILON for policy in policies)
    return ChangedAnswer(key[0].value, key[1], was, now, change, is_mixed)


def _mean_shortfall(game: "GameProbe", key: Any) -> float:
    """Return the mean shortfall at a position. A missing answer gives away the position's value."""
    answer_share = fsum(game.probe.get_policy(key).values())
    value = get_oracle(game.probe.rules).judge(game.probe.sights[key]).value.number
    return answer_share * game.shortfalls.get(key, 0.0) + (1 - answer_share) * value


def _format_likeliest(game: "GameProbe", key: Any) -> str:
    policy = game.probe.get_policy(key)
    if not policy:
        return "nothing"
    action = max(policy, key=policy.__getitem__)
    share = "" if policy[action] > 1 - _EPSILON else f" ({policy[action]:.0%})"
    return game.probe.rules.format(action) + share


def _compare_numbers(player: str, one: "GameProbe", two: "GameProbe") -> Iterator[ScoreChange]:
    name = one.probe.rules.name
    no_verdict = _ASKED_ONCE if _may_vary(one, two) else ""
    numbers = [
        ("exploitability", one.exploitability, two.exploitability, False),
        (f"exploitability of one {one.round}", one.one_round, two.one_round, False),
        *((f"against {other}", one.against[other], two.against.get(other), True) for other in one.against),
    ]
    # The positions of an exhaustive probe depend on the answers, so means are not comparable.
    if one.shortfalls and two.shortfalls and not one.probe.is_exhaustive:
        yield _compare_shortfalls(player, one, two)
    for label, first, second, better_if_higher in numbers:
        if first and second:
            if no_verdict:  # the bounds of a player that was asked once are unknown, not zero
                first = first.without_bounds if one.asked_once else first
                second = second.without_bounds if two.asked_once else second
            yield ScoreChange(name, player, label, first, second, better_if_higher, no_verdict)
    if one.failed or two.failed:
        first, second = (wilson_interval(game.failed, game.questions) for game in (one, two))
        yield ScoreChange(name, player, "questions with a failure", first, second, False)


def _may_vary(one: "GameProbe", two: "GameProbe") -> bool:
    """Whether a player that may change its answers was asked each question only once.

    Models may vary at any temperature, because endpoints batch requests, which changes rounding. A program
    counts as deterministic unless the other probe asked it several times.
    """
    games = one, two
    if any(game.asked_once and game.player_type == MODEL for game in games):
        return True
    return one.asked_once != two.asked_once and any(game.samples > 1 for game in games)


def _compare_shortfalls(player: str, one: "GameProbe", two: "GameProbe") -> ScoreChange:
    """Compare mean shortfalls of sampled positions, pair by pair if the positions are the same."""
    label = f"{measure_label(one.measure)} per position"
    too_few = "too few positions" * (min(len(one.shortfalls), len(two.shortfalls)) < MIN_UNITS)
    change = ScoreChange(one.probe.rules.name, player, label, one.shortfall, two.shortfall, False, too_few)
    if one.shortfalls.keys() != two.shortfalls.keys():
        return change
    weights = {key: one.probe.weights[key] for key in one.shortfalls}
    weighted = [weight * (two.shortfalls[key] - one.shortfalls[key]) for key, weight in weights.items()]
    return replace(change, paired=ratio_interval(weighted, list(weights.values())))


def as_text(comparison: Comparison) -> str:
    """Render a comparison for a terminal, in percentage points."""
    notes = Prose(comparison.notes)
    if comparison.answers is None and not comparison.changes:
        message = "The runs have nothing to compare: no common player in a game with the same options."
        return render_blocks(Prose([message]), notes)
    if comparison.answers == ():
        return render_blocks(Prose(["The probes have no game in common."]), notes)
    columns = ["game", "player", "number", "first", "second", "difference", "verdict"]
    changes = Table("", columns, [_change_cells(change) for change in comparison.changes], label_columns=3)
    answers = [block for each in comparison.answers or () for block in _answer_blocks(each)]
    is_exact = comparison.answers is not None and not any(map(_is_uncertain, comparison.changes))
    note = "" if is_exact else NOTE
    return render_blocks(notes, changes, *answers, Prose([_explain_asked_once(comparison), note]))


def _is_uncertain(change: ScoreChange) -> bool:
    return 0 < change.difference.margin < inf


def _answer_blocks(each: AnswerChanges) -> list[Block]:
    first, second = format_failures(each.one.failures), format_failures(each.two.failures)
    failures = f"Failures: {first or 'none'} in the first, {second or 'none'} in the second."
    name = each.one.probe.rules.name
    return [
        Prose([f"{name}: {each.summary}", failures if first or second else ""]),
        Items("The largest changes", each.answers[:_MAX_ANSWERS]),
    ]


def _explain_asked_once(comparison: Comparison) -> str:
    if any(change.no_verdict == _ASKED_ONCE for change in comparison.changes):
        return ASKED_ONCE_MODEL
    asked_once = any(each.one.asked_once or each.two.asked_once for each in comparison.answers or ())
    return ASKED_ONCE_PROGRAM if asked_once else ""


def _change_cells(change: ScoreChange) -> list[str]:
    interval = change.difference
    bounds = f" ({100 * interval.low:+.2f} to {100 * interval.high:+.2f})" if _is_uncertain(change) else ""
    numbers = [f"{100 * number:.2f}" for number in (change.first.estimate, change.second.estimate)]
    difference = f"{100 * interval.estimate:+.2f}{bounds}"
    return [change.game, change.player, change.label, *numbers, difference, change.verdict]


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison for `--json`."""
    data: dict[str, Any] = {
        "notes": list(comparison.notes),
        "changes": [
            {
                "game": change.game,
                "player": change.player,
                "what": change.label,
                "first": interval_data(change.first),
                "second": interval_data(change.second),
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
        "in_both": each.common,
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
