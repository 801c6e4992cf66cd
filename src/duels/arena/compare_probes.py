"""Two probes side by side: what changed, how sure that is, and which answers differ."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import fsum, inf
from typing import Any

from duels.arena import compare
from duels.arena.compare import Change, Comparison, notes_of_either
from duels.arena.confidence import FEWEST_UNITS, Interval, ratio, wilson
from duels.arena.folder import Folder
from duels.arena.identity import MODEL, identities, unlike
from duels.arena.mistakes import key_of, name_of
from duels.arena.probe_report import GameProbe, report_on, spending_and_notes
from duels.arena.report_text import listed, notes
from duels.arena.summary import by_class
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet

_MOST_SHOWN = 5  # answers that differ, in a game
_NOTHING = 1e-9
_ONCE = "asked once"  # in the place of a verdict


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
class Difference:
    """Two probes in one game."""

    game: str
    measure: str
    changes: tuple[Change, ...]
    both: int
    """Positions that both asked about."""
    answers: tuple[Answered, ...]
    """Those that were answered differently, the largest changes first."""
    failures: tuple[dict[str, int], dict[str, int]]
    """Of either probe, by class."""
    asked_once: bool
    """Whether numbers are exact only for players that always answer the same."""
    complete: bool
    """Whether both probes are finished."""
    sampled: bool
    """Whether a player was asked several times, so that answers also differ by chance."""

    @property
    def told(self) -> str:
        """What became of the answers, in a sentence."""
        unfinished = "" if self.complete else " Not all is answered yet."
        if not self.answers:
            return f"All {self.both} positions that both were asked about are answered alike.{unfinished}"
        better = sum(each.change < -_NOTHING for each in self.answers)
        worse = sum(each.change > _NOTHING for each in self.answers)
        by_chance = " on average. Answers are samples, so some differ by chance" * self.sampled
        return (
            f"{len(self.answers)} of {self.both} positions that both were asked about are answered "
            f"differently: {better} better, {worse} worse{by_chance}.{unfinished}"
        )


@dataclass(frozen=True)
class Differences:
    """Two probes, game by game."""

    games: tuple[Difference, ...]
    notes: tuple[str, ...]
    """What is not the same in both although its name is, and what is out of the ordinary in either."""

    @property
    def compared(self) -> Comparison:
        """The numbers of all games."""
        return Comparison(tuple(change for game in self.games for change in game.changes), self.notes)


def differences(one: Folder, two: Folder, *, progress: Progress = quiet) -> Differences:
    """What changed from one probe to another, in the games of both."""
    first, second = (identities(folder.config["player"], folder.config) for folder in (one, two))
    said = [
        f"{name} is not the same in both: {why}."
        for name in first
        if name in second and (why := unlike(first[name], second[name]))
    ]
    halved = [folder.config["symmetric"] for folder in (one, two)]
    if halved[0] != halved[1]:
        which = "first" if halved[0] else "second"
        said.append(f"Only the {which} took one answer for both of two mirror images (--symmetric).")
    player = " → ".join({**first, **second})
    found = report_on(one, progress), report_on(two, progress)
    again = {game.probe.rules: game for game in found[1]}
    games = [
        _difference(player, game, again[game.probe.rules]) for game in found[0] if game.probe.rules in again
    ]
    noted = (spending_and_notes(folder, told)[1] for folder, told in zip((one, two), found, strict=True))
    return Differences(tuple(games), (*said, *notes_of_either(*noted)))


def _difference(player: str, one: GameProbe, two: GameProbe) -> Difference:
    both = one.probe.answers.keys() & two.probe.answers.keys()
    answers = [_answered(one, two, key) for key in both if _differ(one, two, key)]
    answers.sort(key=lambda each: (-abs(each.change), each.seat, each.position))
    return Difference(
        one.probe.rules.name,
        one.measure,
        tuple(_changes(player, one, two)),
        len(both),
        tuple(answers),
        (one.failures, two.failures),
        one.asked_once or two.asked_once,
        one.complete and two.complete,
        any(game.samples > 1 for game in (one, two)),
    )


def _differ(one: GameProbe, two: GameProbe, key: Any) -> bool:
    """Whether answers to a position do, by more than rounding."""
    first, second = one.probe.policy(key), two.probe.policy(key)
    actions = first.keys() | second.keys()
    return any(abs(first.get(each, 0.0) - second.get(each, 0.0)) > _NOTHING for each in actions)


def _answered(one: GameProbe, two: GameProbe, key: Any) -> Answered:
    first, second = (_likeliest(game, key) for game in (one, two))
    change = _given_away(two, key) - _given_away(one, key)
    mixed = any(max(game.probe.policy(key).values(), default=1.0) < 1 - _NOTHING for game in (one, two))
    return Answered(key[0].value, key[1], first, second, change, mixed)


def _given_away(game: GameProbe, key: Any) -> float:
    """How far answers fall short; one that did not come gives away all that the position is worth."""
    answered = fsum(game.probe.policy(key).values())
    worth = oracle_for(game.probe.rules).judge(game.probe.sights[key]).value.number
    return answered * game.shortfalls.get(key, 0.0) + (1 - answered) * worth


def _likeliest(game: GameProbe, key: Any) -> str:
    if all(row["action"] is None for row in game.probe.answers[key]):
        return "nothing"
    policy = game.probe.policy(key)
    action = max(policy, key=policy.__getitem__)
    often = "" if policy[action] > 1 - _NOTHING else f" ({policy[action]:.0%})"
    return game.probe.rules.format(action) + often


def _changes(player: str, one: GameProbe, two: GameProbe) -> Iterator[Change]:
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


def _may_answer_otherwise(one: GameProbe, two: GameProbe) -> bool:
    """Whether a player that may answer otherwise another time was asked once.

    Models may, at any temperature: endpoints put questions together, which changes how numbers are rounded.
    A program is taken for one that always answers the same unless it was asked several times elsewhere.
    """
    games = one, two
    if any(game.asked_once and game.sort == MODEL for game in games):
        return True
    return one.asked_once != two.asked_once and any(game.samples > 1 for game in games)


def _as_known(number: Interval, game: GameProbe) -> Interval:
    """A number of answers that were asked for once has no interval, not one without width."""
    return number.without_bounds if game.asked_once else number


def _shortfall(player: str, one: GameProbe, two: GameProbe) -> Change:
    """Of drawn positions, the same ones in both: how much each changed tells more than the two means do."""
    what = f"{name_of(one.measure)} per position"
    few = "too few positions" * (min(len(one.shortfalls), len(two.shortfalls)) < FEWEST_UNITS)
    change = Change(one.probe.rules.name, player, what, one.shortfall, two.shortfall, False, few)
    weights = one.probe.weights
    if one.shortfalls.keys() != two.shortfalls.keys():
        return change
    each = [weights[key] * (two.shortfalls[key] - short) for key, short in one.shortfalls.items()]
    return replace(change, paired=ratio(each, [weights[key] for key in one.shortfalls]))


def as_text(found: Differences) -> str:
    """Tables for a terminal, in points of a hundred."""
    told = notes(*found.notes)
    if not found.games:
        return "\n".join(["The probes have no game in common.", *told]) + "\n"
    changes = found.compared.changes
    lines = [*told, *[""] * bool(told), *compare.table_of(changes), ""]
    for each in found.games:
        lines += notes(f"{each.game}: {each.told}") + listed(map(_line, each.answers[:_MOST_SHOWN]))
        lines += filter(None, [_failures(each)])
    if any(change.no_verdict == _ONCE for change in changes):
        lines += ["", *notes(_ASKED_ONCE)]
    elif any(each.asked_once for each in found.games):
        lines += ["", "Exact for players that always answer the same; others are asked with --samples."]
    if any(0 < change.difference.margin < inf for change in changes):
        lines += ["", *notes(compare.NOTE)]
    return "\n".join(lines) + "\n"


_ASKED_ONCE = (
    "Asked once each: what the same player would answer another time is not known, so there is no interval "
    "and no verdict. Ask with --samples 4 for one."
)


def _line(each: Answered) -> str:
    sort = "worse" if each.change > _NOTHING else "better" if each.change < -_NOTHING else "as good"
    by = "" if sort == "as good" else f"{100 * abs(each.change):.1f} points "
    told = f"{each.position}: was {each.first}, is {each.second}, {by}{sort}"
    return f"{told} on average" if each.mixed else told


def _failures(each: Difference) -> str:
    first, second = (by_class(some) or "none" for some in each.failures)
    return f"  Failures: were {first}; are {second}." if any(each.failures) else ""


def as_data(found: Differences) -> dict[str, Any]:
    """The same as JSON has it."""
    told = compare.as_data(found.compared)
    told["answers"] = {
        each.game: {
            "complete": each.complete,
            "in_both": each.both,
            "differ": [
                {
                    "seat": answer.seat,
                    "position": answer.position,
                    "first": answer.first,
                    "second": answer.second,
                    f"{key_of(each.measure)}_change": answer.change,
                }
                for answer in each.answers
            ],
            "failures": {"first": each.failures[0], "second": each.failures[1]},
        }
        for each in found.games
    }
    return told
