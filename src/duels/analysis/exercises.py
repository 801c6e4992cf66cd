"""Exercises: positions with a clear answer from the solved game, and the grading of answers.

Practice gets harder after right answers. The puzzles of a day are the same for everybody.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Any

from duels.analysis.wording import (
    MAX_LOSSES,
    MAX_NAMED,
    describe_winning,
    get_mark_name,
    name_action,
)
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
"""The smallest loss of a wrong answer in an exercise."""
MIN_RIGHT_WEIGHT = 0.9
"""The smallest probability with which perfect play gives the right answer."""
MAX_RIGHT_SHARE = 2 / 3
"""The largest share of right answers if the strategy mixes. With more, guessing would be enough."""
MAX_EQUAL_ACTIONS, MAX_EQUAL_SHARE = 3, 0.4
"""If more than `MAX_EQUAL_ACTIONS` actions are right, they may be at most this share of all actions.

Otherwise nearly every answer would be right. In flip, for example, all unknown tiles are alike.
"""
MIXED_GAP = MAX_LOSSES["good"]
"""If the strategy mixes, a wrong answer is worse than the mixture's average by at least this."""
MATCH_LOSS_SHARE = 0.3
"""The losses in the matches that supply the positions, as a share of random play's losses."""
_MEASURING_SHARE = 0.5  # as a share of random play's losses, for the player who measures difficulty
SKIPPED_DECISIONS = 3
"""The number of first decisions in a match that do not become exercises."""
_RECENT_THEMES = 3  # the latest themes are not repeated
_MATCHES_BEFORE_REPEAT = 40  # matches without a new theme until a recent one may return
_MAX_MATCHES = 300  # matches without a new exercise until the search ends
_MAX_MATCH_LENGTH = 200
_MIN_SHOWN_WEIGHT = 0.005  # the strategy hardly ever plays an action of smaller weight
_TURN_DIFFICULTY = 0.02  # added to the difficulty for each turn until the end of the match
_MAX_COUNTED_TURNS = 10
_CANDIDATES = 5  # exercises from which one is chosen by difficulty
_SKILL_GAIN, _SKILL_LOSS = 0.1, 0.2  # the difficulty stays the same if two of three answers are right
RIGHT, WRONG, OPEN = "■", "□", "·"
_DAILY_SKILL = 0.8  # rather hard


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
    """The information of the seat to move."""
    verdict: Verdict[Any]
    """The value of every legal action."""
    right_classes: frozenset[Hashable]
    """The classes of the right actions: one, or a few if the strategy mixes."""
    theme: Hashable
    """The idea that the exercise teaches. Several exercises may have the same theme."""
    oracle: Oracle[Any, Any] = field(repr=False, compare=False)
    turns_left: int = field(default=0, repr=False, compare=False)
    """The number of decisions that followed in the match that supplied the position."""

    @property
    def position(self) -> str:
        """The position as the seat knows it, in notation."""
        return self.sight.rules.format_position(self.sight)

    @property
    def answers(self) -> tuple[Any, ...]:
        """The right actions."""
        sight, classify, right = self.sight, self.oracle.action_class, self.right_classes
        return tuple(action for action in sight.actions if classify(sight, action) in right)

    @property
    def difficulty(self) -> float:
        """The mean error rate of two weak players: one loses half as much as random play, one is greedy."""
        sight = self.sight
        mixed = dict(zip(sight.actions, mix_actions(self.verdict, _MEASURING_SHARE), strict=True))
        policies = (mixed, GreedyPlayer(self.sight.rules).odds(sight))
        wrong = set(sight.actions) - set(self.answers)
        return sum(policy.get(action, 0.0) for policy in policies for action in wrong) / len(policies)

    def grade(self, answer: Any) -> ExerciseResult:
        """Grade an answer, one of `sight.actions`."""
        sight, rules = self.sight, self.sight.rules
        judged, answers = self.verdict.get_action_value(answer), self.answers
        reason = self.oracle.reason(sight)
        if answer in answers:
            count = len(self.right_classes)
            others = f" It is one of {count} right answers." if count > 1 else ""
            value = describe_winning(judged.value, rules)
            return ExerciseResult(True, f"Right: {name_action(sight, answer)} {value}.{others} {reason}")
        right = [best for best in self.verdict.actions if best.best and best.action in answers]
        compare = self._compare_with_mixture if self.oracle.mixes else self._compare_with_best
        return ExerciseResult(False, f"{compare(judged, right)} {reason}")

    def _compare_with_best(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        verdict, rules = self.verdict, self.sight.rules
        name, mark = name_action(self.sight, chosen.action), get_mark_name(verdict.loss(chosen.action))
        best = join_or([name_action(self.sight, judged.action) for judged in right], MAX_NAMED)
        chosen_chance, best_chance = (
            describe_winning(value, rules) for value in (chosen.value, verdict.value)
        )
        if chosen_chance == best_chance:
            return f"Not the best ({mark}): {name} wins less often than {best}."
        return f"Not the best ({mark}): {name} {chosen_chance}; {best} {best_chance}."

    def _compare_with_mixture(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        # No mark and no loss: the strategy may choose this action now and then.
        frequency = "seldom plays it" if chosen.weight >= _MIN_SHOWN_WEIGHT else "hardly ever plays it"
        shortfall = _get_shortfall(self.verdict, chosen)
        difference = "a little" if shortfall < MAX_LOSSES["inaccuracy"] else "clearly"
        usual = join_or([name_action(self.sight, judged.action) for judged in right])
        return (
            f"Not what the strategy usually does: {name_action(self.sight, chosen.action)} is {difference} "
            f"worse than its average, and the strategy {frequency if chosen.weight else 'never plays it'}. "
            f"It usually plays {usual}."
        )


def exercises(
    game: str | Game | AnyRules, seed: str | None = None, **options: OptionValue
) -> Iterator[Exercise]:
    """Iterate over exercises of a game, each from a different match and with a different position.

    `game` is rules, or a name or a `Game` with its options. The same seed gives the same exercises. A recent
    theme returns only if no other is found. Raises UnknownName if there is no such game, and BadOption if the
    options are invalid.

    >>> import duels
    >>> from itertools import islice
    >>> [exercise.position for exercise in islice(duels.exercises("leap", seed="1"), 2)]
    ['12 9 2', '18 18 1']
    """
    rules = resolve_rules(game, **options)
    return _generate_exercises(get_oracle(rules), Random(seed))


def _generate_exercises(oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    used: set[str] = set()
    recent_themes: list[Hashable] = []
    repeats: list[Exercise] = []
    matches, skipped = 0, SKIPPED_DECISIONS
    while matches < _MAX_MATCHES or skipped:
        if matches == _MAX_MATCHES:  # the matches may be too short to skip decisions
            matches, skipped = 0, 0
        matches += 1
        candidates = [e for e in _find_exercises(oracle, rng, skipped) if e.position not in used]
        fresh = [exercise for exercise in candidates if exercise.theme not in recent_themes]
        repeats += candidates
        if fresh:
            exercise = rng.choice(fresh)
        elif repeats and matches >= _MATCHES_BEFORE_REPEAT:
            exercise = min(repeats, key=lambda exercise: recent_themes.index(exercise.theme))
        else:
            continue
        used.add(exercise.position)
        others = [theme for theme in recent_themes if theme != exercise.theme]
        recent_themes = [*others[1 - _RECENT_THEMES :], exercise.theme]
        repeats, matches = [], 0
        yield exercise


def _find_exercises(oracle: Oracle[Any, Any], rng: Random, skipped: int) -> list[Exercise]:
    """Play one match and return its exercises after the skipped decisions."""
    find_right = find_mixed_answers if oracle.mixes else find_clear_answer
    exercises: list[Exercise] = []
    decisions = 0
    match = play_judged_match(oracle, MATCH_LOSS_SHARE, rng, _MAX_MATCH_LENGTH)
    for turns_left, (sight, verdict) in zip(range(len(match) - 1, -1, -1), match, strict=True):
        decisions += len(verdict.actions) > 1
        if decisions > skipped and (right := find_right(oracle, sight, verdict)):
            themes = {
                oracle.theme(sight, judged.action)
                for judged in verdict.actions
                if judged.best and oracle.action_class(sight, judged.action) in right
            }
            exercise = Exercise(sight, verdict, right, frozenset(themes), oracle, turns_left)
            if oracle.mixes or _has_few_answers(exercise):
                exercises.append(exercise)
    return exercises


def _has_few_answers(exercise: Exercise) -> bool:
    count = len(exercise.answers)
    return count <= MAX_EQUAL_ACTIONS or count <= MAX_EQUAL_SHARE * len(exercise.sight.actions)


def play_judged_match(
    oracle: Oracle[Any, Any], share: float, rng: Random, max_entries: int
) -> list[tuple[AnySight, Verdict[Any]]]:
    """Play a match and return its judged decisions. Both players lose `share` of random play's losses."""
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
    """Return the action classes that are frequent or about average; empty if there are too many."""
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
    """Return the class of the one clearly right action; empty if there is none."""
    weights: dict[Hashable, float] = {}
    values: dict[Hashable, float] = {}
    for judged in verdict.actions:
        action_class = oracle.action_class(sight, judged.action)
        weights[action_class] = weights.get(action_class, 0.0) + judged.weight
        values[action_class] = max(values.get(action_class, 0.0), judged.value.number)
    right = max(weights, key=weights.__getitem__)
    others = [value for action_class, value in values.items() if action_class != right]
    is_clear = bool(others) and values[right] - max(others) >= CLEAR_GAP
    return frozenset({right}) if is_clear and weights[right] >= MIN_RIGHT_WEIGHT else frozenset()


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
        self.aim = min(1.0, self.aim + _SKILL_GAIN) if right else max(0.0, self.aim - _SKILL_LOSS)


def select_by_skill(exercises: Iterator[Exercise], skill: Skill) -> Iterator[Exercise]:
    """Yield exercises that suit the current skill, each chosen from a few candidates.

    A position far from the end of the match counts as harder. By error rate alone, most positions of leap
    would be equally hard.
    """
    candidates: list[Exercise] = []
    while candidates := [*candidates, *islice(exercises, _CANDIDATES - len(candidates))]:
        candidates.sort(key=rate_exercise)
        yield candidates.pop(round(skill.aim * (len(candidates) - 1)))


def rate_exercise(exercise: Exercise) -> float:
    """Return how hard an exercise is: its error rate, and a little for every turn until the end."""
    return exercise.difficulty + _TURN_DIFFICULTY * min(exercise.turns_left, _MAX_COUNTED_TURNS)


# -- daily puzzles -----------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def get_daily_puzzle(day: date, game: Game) -> Exercise:
    """Return the puzzle of a day in one game; it depends only on the date."""
    seed = sha256(f"duels daily {day.isoformat()} {game.name}".encode()).hexdigest()
    return next(select_by_skill(exercises(game, seed), Skill(_DAILY_SKILL)))


def is_complete(answers: Sequence[bool | None]) -> bool:
    """Whether all puzzles of a day are answered. An open puzzle is None or missing at the end."""
    return len(answers) >= len(GAMES) and None not in answers


def count_streak(answered: Mapping[str, Sequence[bool | None]], today: date) -> int:
    """Count the days in a row, up to today or yesterday, on which all puzzles have an answer."""
    day = today if is_complete(answered.get(today.isoformat(), ())) else today - timedelta(days=1)
    days = 0
    while is_complete(answered.get(day.isoformat(), ())):
        days += 1
        day -= timedelta(days=1)
    return days


def format_daily_result(day: date, answers: Sequence[bool | None], days: int) -> str:
    """Format a line to share that does not reveal the answers. Each game has its own place.

    >>> format_daily_result(date(2026, 11, 16), [True, None, False], 0)
    'duels daily 2026-11-16: ■·□·· 1/5'
    """
    signs = {True: RIGHT, False: WRONG, None: OPEN}
    marks = "".join(signs[right] for right in answers).ljust(len(GAMES), OPEN)
    row = f", day {days} in a row" if days > 1 else ""
    return f"duels daily {day.isoformat()}: {marks} {marks.count(RIGHT)}/{len(GAMES)}{row}"
