"""Exercises: positions with a clear answer from the solved game, and the grading of answers.

Practice adapts its difficulty to success. The daily puzzle is the same for everybody on a date.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Any

from duels.analysis.wording import MARKS, MAX_NAMED, format_points, format_winning, get_mark_name, name_action
from duels.core.game import Game
from duels.core.match import Match
from duels.core.options import OptionValue
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.words import join_or
from duels.games import GAMES, resolve_rules
from duels.play.dice import StreamDice
from duels.play.step import play_out
from duels.players import GreedyPlayer
from duels.players.levels import mix_actions
from duels.solving.oracle import OFTEN, ActionValue, Oracle, Verdict
from duels.solving.oracles import get_oracle

CLEAR_GAP = 0.05
"""A position is an exercise only if every wrong answer gives away at least this much,"""
NEARLY_ALWAYS = 0.9
"""and perfect play gives the right answer at least this often."""
MAX_RIGHT_SHARE = 2 / 3
"""If the strategy mixes, several answers are right: at most this share, or guessing would do,"""
MIXED_GAP = next(mark.max_loss for mark in MARKS if mark.name == "good")
"""and every wrong answer is at least this much worse than the average of the mixture."""
PLAY_SHARE = 0.3
"""The share of random play's losses in the matches that lead to the positions."""
_MEASURING_SHARE = 0.5  # of the player by whom difficulty is measured
OPENING = 3
"""The decisions at the start of a match that are not used."""
_RECENT = 3  # themes that are not repeated
_PATIENCE = 40  # matches without a new theme before a recent one is used again
_MAX_MATCHES = 300  # matches without a new exercise before we stop looking
_MAX_MATCH_LENGTH = 200
_RARELY = 0.005  # smaller weights are shown as 0%
_OFFERED = 5  # exercises from which one is chosen by difficulty
_UP, _DOWN = 0.1, 0.2  # the difficulty stays the same if two of three answers are right
RIGHT, WRONG, OPEN = "■", "□", "·"
_DAILY_AIM = 0.8  # rather hard


@dataclass(frozen=True)
class ExerciseResult:
    """Whether an answer was right, and a comment on it."""

    right: bool
    text: str


@dataclass(frozen=True)
class Exercise:
    """A position with a clear answer: what should the seat to move play?

    >>> import duels
    >>> exercise = next(duels.exercises("lights", seed="1"))
    >>> exercise.position
    'XXXOOXX 1'
    >>> exercise.grade(exercise.answers[0]).right
    True
    """

    sight: AnySight
    """What the seat knows; an exercise reveals no secret."""
    verdict: Verdict[Any]
    """The value of every legal action."""
    right: frozenset[Hashable]
    """The classes of the right actions: one, or a few if the strategy mixes."""
    theme: Hashable
    """What the exercise teaches; several exercises may teach the same."""
    oracle: Oracle[Any, Any] = field(repr=False, compare=False)

    @property
    def position(self) -> str:
        """The position as the seat knows it, in notation."""
        return self.sight.rules.format_position(self.sight)

    @property
    def answers(self) -> tuple[Any, ...]:
        """The right actions."""
        classify = self.oracle.action_class
        return tuple(action for action in self.sight.actions if classify(self.sight, action) in self.right)

    @property
    def difficulty(self) -> float:
        """How often two players miss it: one who errs half as much as random play, and a greedy one."""
        sight = self.sight
        average = dict(zip(sight.actions, mix_actions(self.verdict, _MEASURING_SHARE), strict=True))
        odds = (average, GreedyPlayer(self.sight.rules).odds(sight))
        wrong = set(sight.actions) - set(self.answers)
        return sum(each.get(action, 0.0) for each in odds for action in wrong) / len(odds)

    def grade(self, answer: Any) -> ExerciseResult:
        """Grade an answer, one of `sight.actions`."""
        sight, rules = self.sight, self.sight.rules
        judged, reason, answers = (
            self.verdict.get_action_value(answer),
            self.oracle.reason(sight),
            self.answers,
        )
        if answer in answers:
            others = f", one of {len(self.right)} right answers" if len(self.right) > 1 else ""
            value = format_winning(judged.value, rules)
            return ExerciseResult(True, f"Right: {name_action(sight, answer)} {value}{others}. {reason}")
        right = [each for each in self.verdict.actions if each.best and each.action in answers]
        correct = self._compare_with_mixture if self.oracle.mixes else self._compare_with_best
        return ExerciseResult(False, f"{correct(judged, right)} {reason}")

    def _compare_with_best(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        verdict, action = self.verdict, chosen.action
        loss = verdict.loss(action)
        cost = format_points(loss, verdict.value.exactness, verdict.loss_error(action))
        best = join_or([name_action(self.sight, judged.action) for judged in right], MAX_NAMED)
        name = name_action(self.sight, action)
        return f"Not the best ({get_mark_name(loss)}): {name} costs {cost}; best was {best}."

    def _compare_with_mixture(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        # No mark and no loss: the strategy may choose this action now and then.
        frequency = f"plays it {chosen.weight:.0%} of the time" if chosen.weight else "never plays it"
        if 0 < chosen.weight < _RARELY:
            frequency = "hardly ever plays it"
        difference = format_points(_get_shortfall(self.verdict, chosen), self.verdict.value.exactness)
        usual = join_or([name_action(self.sight, judged.action) for judged in right])
        return (
            f"Not what the strategy usually does: {name_action(self.sight, chosen.action)} is {difference} "
            f"worse than its average, and the strategy {frequency}. It usually plays {usual}."
        )


def exercises(
    game: str | Game | AnyRules, seed: str | None = None, **options: OptionValue
) -> Iterator[Exercise]:
    """Iterate over exercises of a game, each from a match of its own; no position comes twice.

    `game` is a name or a `Game`, each with options, or rules. The same seed gives the same exercises. A
    recent theme comes again only if no other is found. Raises UnknownName if there is no such game,
    BadOption if the options are invalid.

    >>> import duels
    >>> from itertools import islice
    >>> [exercise.position for exercise in islice(duels.exercises("leap", seed="1"), 2)]
    ['12 9 2', '18 18 1']
    """
    rules = resolve_rules(game, **options)
    return _generate_exercises(get_oracle(rules), Random(seed))


def _generate_exercises(oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    used: set[str] = set()
    recent: list[Hashable] = []
    stale: list[Exercise] = []
    matches, opening = 0, OPENING
    while matches < _MAX_MATCHES or opening:
        if matches == _MAX_MATCHES:  # the matches may be too short for an opening
            matches, opening = 0, 0
        matches += 1
        candidates = [e for e in _find_exercises(oracle, rng, opening) if e.position not in used]
        fresh = [exercise for exercise in candidates if exercise.theme not in recent]
        stale += candidates
        if fresh:
            exercise = rng.choice(fresh)
        elif stale and matches >= _PATIENCE:
            exercise = min(stale, key=lambda exercise: recent.index(exercise.theme))
        else:
            continue
        used.add(exercise.position)
        others = [theme for theme in recent if theme != exercise.theme]
        recent = [*others[1 - _RECENT :], exercise.theme]
        stale, matches = [], 0
        yield exercise


def _find_exercises(oracle: Oracle[Any, Any], rng: Random, opening: int = OPENING) -> list[Exercise]:
    """Play one match and return its exercises after the opening."""
    find_right = find_mixed_answers if oracle.mixes else find_clear_answer
    exercises: list[Exercise] = []
    decisions = 0
    for sight, verdict in play_judged_match(oracle, PLAY_SHARE, rng, _MAX_MATCH_LENGTH):
        decisions += len(verdict.actions) > 1
        if decisions > opening and (right := find_right(oracle, sight, verdict)):
            themes = {
                oracle.theme(sight, judged.action)
                for judged in verdict.actions
                if judged.best and oracle.action_class(sight, judged.action) in right
            }
            exercises.append(Exercise(sight, verdict, right, frozenset(themes), oracle))
    return exercises


def play_judged_match(
    oracle: Oracle[Any, Any], share: float, rng: Random, max_entries: int
) -> list[tuple[AnySight, Verdict[Any]]]:
    """Play a match in which both players give away `share`, and return its judged decisions."""
    decisions: list[tuple[AnySight, Verdict[Any]]] = []

    class RecordingPlayer:
        def choose(self, sight: AnySight, rng: Random) -> Any:
            verdict = oracle.judge(sight)
            decisions.append((sight, verdict))
            return rng.choices(sight.actions, weights=mix_actions(verdict, share))[0]

    players = dict.fromkeys(Seat, RecordingPlayer())
    play_out(Match.start(oracle.rules), players, StreamDice(rng), max_entries)
    return decisions


def find_mixed_answers(
    oracle: Oracle[Any, Any], sight: AnySight, verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """Return the action classes that the strategy often plays or that are about average; none if most are."""
    classes = [oracle.action_class(sight, judged.action) for judged in verdict.actions]
    right = {
        action_class
        for action_class, judged in zip(classes, verdict.actions, strict=True)
        if judged.weight >= OFTEN or _get_shortfall(verdict, judged) < MIXED_GAP
    }
    return frozenset(right) if len(right) <= MAX_RIGHT_SHARE * len(set(classes)) else frozenset()


def _get_shortfall(verdict: Verdict[Any], judged: ActionValue[Any]) -> float:
    return verdict.below_mixture[verdict.actions.index(judged)]


def find_clear_answer(
    oracle: Oracle[Any, Any], sight: AnySight, verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """Return the only action class that is clearly right, or none."""
    weights: dict[Hashable, float] = {}
    values: dict[Hashable, float] = {}
    for judged in verdict.actions:
        action_class = oracle.action_class(sight, judged.action)
        weights[action_class] = weights.get(action_class, 0.0) + judged.weight
        values[action_class] = max(values.get(action_class, 0.0), judged.value.number)
    right = max(weights, key=weights.__getitem__)
    others = [value for action_class, value in values.items() if action_class != right]
    is_clear = bool(others) and values[right] - max(others) >= CLEAR_GAP
    return frozenset({right}) if is_clear and weights[right] >= NEARLY_ALWAYS else frozenset()


# -- practice ----------------------------------------------------------------------------------------


@dataclass
class Skill:
    """A player's skill: 0 asks for the easiest exercise on offer, 1 for the hardest."""

    aim: float = 0.2

    @classmethod
    def from_data(cls, data: Any) -> "Skill":
        """Read the result of `as_data`; return a beginner's skill if it is invalid."""
        try:
            skill = cls(float(data["aim"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            return cls()
        return skill if 0 <= skill.aim <= 1 else cls()

    def as_data(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        return {"aim": self.aim}

    def update(self, right: bool) -> None:
        """Raise the skill after a right answer, lower it after a wrong one."""
        self.aim = min(1.0, self.aim + _UP) if right else max(0.0, self.aim - _DOWN)


def select_by_skill(exercises: Iterator[Exercise], skill: Skill) -> Iterator[Exercise]:
    """Choose the exercise that suits the current skill from every few exercises."""
    offered: list[Exercise] = []
    while offered := [*offered, *islice(exercises, _OFFERED - len(offered))]:
        offered.sort(key=lambda exercise: exercise.difficulty)
        yield offered.pop(round(skill.aim * (len(offered) - 1)))


# -- daily puzzles -----------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def get_daily_puzzle(day: date, game: Game) -> Exercise:
    """Return the puzzle of a day in one game; it depends only on the date."""
    seed = sha256(f"duels daily {day.isoformat()} {game.name}".encode()).hexdigest()
    return next(select_by_skill(exercises(game, seed), Skill(_DAILY_AIM)))


def is_complete(answers: Sequence[bool]) -> bool:
    """Whether all puzzles of a day are answered."""
    return len(answers) >= len(GAMES)


def count_streak(answered: Mapping[str, Sequence[bool]], today: date) -> int:
    """Count the days in a row, up to today or yesterday, with all puzzles answered, right or wrong."""
    day = today if is_complete(answered.get(today.isoformat(), ())) else today - timedelta(days=1)
    days = 0
    while is_complete(answered.get(day.isoformat(), ())):
        days += 1
        day -= timedelta(days=1)
    return days


def format_daily_result(day: date, answers: Sequence[bool], days: int) -> str:
    """Format a line to share that does not reveal the answers."""
    marks = "".join(RIGHT if right else WRONG for right in answers).ljust(len(GAMES), OPEN)
    row = f", day {days} in a row" if days > 1 else ""
    return f"duels daily {day.isoformat()}: {marks} {sum(answers)}/{len(GAMES)}{row}"
