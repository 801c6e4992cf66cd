"""Exercises: positions with a clear answer, drawn from the solved game, and how an answer is graded."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from duels.analysis.advice import MARKS, mark_of, percent, points
from duels.core.match import Match, playing
from duels.core.rules import Rules, Seat, Sight
from duels.players.levels import mixture
from duels.solving.oracle import OFTEN, Oracle, Verdict

AnyMatch = Match[Any, Any, Any]

# A right answer is worth asking for when every other one gives away at least this much,
CLEAR_GAP = 0.05
# and when perfect play gives it nearly always.
NEARLY_ALWAYS = 0.9
# Where perfect play mixes, several answers are right: at most this share, or anybody would guess one,
MOST_RIGHT = 2 / 3
# and any other gives away more than what is still called good.
MIXED_GAP = next(mark.most for mark in MARKS if mark.name == "good")
# The matches that lead to the positions are played well, but not so well that nothing happens.
SHARE_ON_THE_WAY = 0.3
# Before so many decisions a game has hardly begun.
OPENING = 3
_RECENT = 3
_PATIENT = 40  # matches, until a lesson that was just taught is taught again
_MOST_MATCHES = 300  # without anything new, until there is taken to be nothing
_LONGEST_MATCH = 200


@dataclass(frozen=True)
class Exercise:
    """A position, the seat to decide, the judgement of every action, what is right, and what it teaches."""

    match: AnyMatch
    seat: Seat
    verdict: Verdict[Any]
    right: frozenset[Hashable]
    """The ideas of the right actions: one, or where perfect play mixes a few."""
    lesson: Hashable

    @property
    def sight(self) -> Sight[Any, Any]:
        return self.match.sight(self.seat)

    @property
    def position(self) -> str:
        """The position as the seat knows it, in notation."""
        return self.match.rules.format_position(self.sight)


def exercises(rules: Rules[Any, Any, Any], oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    """Positions with a clear answer, each from a match of its own, no position twice.

    A lesson that was just taught comes again only when no other is found.
    """
    asked: set[str] = set()
    recent: list[Hashable] = []
    stale: list[Exercise] = []
    waited = 0
    while waited < _MOST_MATCHES:
        waited += 1
        found = [e for e in _in_one_match(rules, oracle, rng) if e.position not in asked]
        fresh = [exercise for exercise in found if exercise.lesson not in recent]
        stale += found
        if fresh:
            exercise = rng.choice(fresh)
        elif stale and waited >= _PATIENT:
            exercise = min(stale, key=lambda exercise: recent.index(exercise.lesson))
        else:
            continue
        asked.add(exercise.position)
        others = [lesson for lesson in recent if lesson != exercise.lesson]
        recent = [*others[1 - _RECENT :], exercise.lesson]
        stale, waited = [], 0
        yield exercise


def _in_one_match(rules: Rules[Any, Any, Any], oracle: Oracle[Any, Any], rng: Random) -> list[Exercise]:
    """The positions with a clear answer that one match comes through."""
    found: list[Exercise] = []
    decisions = 0

    def decide(match: AnyMatch, seat: Seat) -> Any:
        nonlocal decisions
        sight = match.sight(seat)
        verdict = oracle.judge(sight)
        decisions += len(verdict.actions) > 1
        if decisions > OPENING and (right := right_answers(oracle, sight, verdict)):
            lessons = {
                oracle.lesson(sight, judged.action)
                for judged in verdict.actions
                if judged.best and oracle.idea(sight, judged.action) in right
            }
            found.append(Exercise(match, seat, verdict, right, frozenset(lessons)))
        return rng.choices(sight.actions, weights=mixture(verdict, SHARE_ON_THE_WAY))[0]

    for _ in islice(playing(Match.start(rules), rng, decide), _LONGEST_MATCH + 1):
        pass
    return found


def right_answers(
    oracle: Oracle[Any, Any], sight: Sight[Any, Any], verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """The ideas that are right, where it is clear which; else none."""
    if oracle.mixes:
        return answers_of_the_mix(oracle, sight, verdict)
    idea = one_answer(oracle, sight, verdict)
    return frozenset() if idea is None else frozenset({idea})


def answers_of_the_mix(
    oracle: Oracle[Any, Any], sight: Sight[Any, Any], verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """The ideas that are good, where enough are not, and perfect play takes none of those often."""
    wrong: set[Hashable] = set()
    right: set[Hashable] = set()
    for judged, loss in zip(verdict.actions, verdict.losses, strict=True):
        if loss >= MIXED_GAP and judged.weight >= OFTEN:
            return frozenset()
        (right if loss < MIXED_GAP else wrong).add(oracle.idea(sight, judged.action))
    return frozenset(right) if len(right) <= MOST_RIGHT * len(right | wrong) else frozenset()


def one_answer(oracle: Oracle[Any, Any], sight: Sight[Any, Any], verdict: Verdict[Any]) -> Hashable | None:
    """The idea that is clearly right: perfect play follows it, and every other gives much away."""
    weights: dict[Hashable, float] = {}
    values: dict[Hashable, float] = {}
    for judged in verdict.actions:
        idea = oracle.idea(sight, judged.action)
        weights[idea] = weights.get(idea, 0.0) + judged.weight
        values[idea] = max(values.get(idea, 0.0), judged.value.number)
    right = max(weights, key=weights.__getitem__)
    others = [value for idea, value in values.items() if idea != right]
    clear = others and values[right] - max(others) >= CLEAR_GAP
    return right if clear and weights[right] >= NEARLY_ALWAYS else None


@dataclass(frozen=True)
class Graded:
    """An answer to an exercise: whether it was right, and what there is to say about it."""

    right: bool
    text: str


def grade(oracle: Oracle[Any, Any], exercise: Exercise, answer: Any) -> Graded:
    rules, sight, verdict = exercise.match.rules, exercise.sight, exercise.verdict
    reason = oracle.reason(sight)
    chosen = next(judged for judged in verdict.actions if judged.action == answer)
    right = [j for j in verdict.actions if j.best and oracle.idea(sight, j.action) in exercise.right]
    if oracle.idea(sight, answer) in exercise.right:
        among = f", one of {len(exercise.right)} right answers" if len(exercise.right) > 1 else ""
        return Graded(True, f"Right: {rules.format(answer)} wins {percent(chosen.value)}{among}. {reason}")
    if oracle.mixes:
        loss, error = verdict.loss(answer), 0.0
    else:
        loss = right[0].value.number - chosen.value.number
        error = right[0].value.error + chosen.value.error
    named = len(right) if oracle.mixes else 3
    best = " or ".join(rules.format(judged.action) for judged in right[:named])
    more = f" (or {len(right) - named} more like it)" if len(right) > named else ""
    return Graded(
        False,
        f"Not the best ({mark_of(loss)}): {rules.format(answer)} gives away "
        f"{points(loss, verdict.value.exactness, error)}; best was {best}{more}. {reason}",
    )
