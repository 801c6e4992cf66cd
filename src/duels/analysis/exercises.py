"""Exercises: positions with a clear answer, drawn from the solved game, and how an answer is graded.

Practice gets harder with success and easier without. A puzzle a day is the same for everybody on a date.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Any

from duels.analysis.wording import MARKS, MAX_NAMED, format_points, get_mark_name, gets, name_action
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

# A right answer is worth asking for when every other one gives away at least this much,
CLEAR_GAP = 0.05
# and when perfect play gives it nearly always.
NEARLY_ALWAYS = 0.9
# Where the strategy mixes, several answers are right: at most this share, or anybody would guess one,
MAX_RIGHT_SHARE = 2 / 3
# and any other lies at least so far below the mixture.
MIXED_GAP = next(mark.most for mark in MARKS if mark.name == "good")
# Of random play's losses, in the matches that lead to the positions.
SHARE_ON_THE_WAY = 0.3
# The share of random play's losses by which difficulty is measured.
_MIDDLING = 0.5
# After so many decisions a game has hardly begun.
OPENING = 3
_RECENT = 3
_PATIENT = 40  # matches without a new lesson, after which a recent one is taught again
_MOST_MATCHES = 300  # matches without a new exercise, after which we stop looking
_LONGEST_MATCH = 200
_RARELY = 0.005  # a weight that is shown as 0%
_ON_OFFER = 5  # exercises, of which one is chosen
_UP, _DOWN = 0.1, 0.2  # twice as many right as wrong keep the difficulty where it is
RIGHT, WRONG, OPEN = "■", "□", "·"
_DAILY_AIM = 0.8  # rather hard


@dataclass(frozen=True)
class ExerciseResult:
    """An answer to an exercise: whether it was right, and a comment on it."""

    right: bool
    text: str


@dataclass(frozen=True)
class Exercise:
    """A position with a clear answer: what does the seat to move play?"""

    sight: AnySight
    """What the seat knows: no more, so that nothing of an exercise tells a secret."""
    verdict: Verdict[Any]
    """Every legal action, judged."""
    right: frozenset[Hashable]
    """The ideas of the right actions: one, or a few where the strategy mixes."""
    theme: Hashable
    """What it teaches; two exercises may teach the same."""
    oracle: Oracle[Any, Any] = field(repr=False, compare=False)

    @property
    def position(self) -> str:
        """The position as the seat knows it, in notation."""
        return self.sight.rules.format_position(self.sight)

    @property
    def answers(self) -> tuple[Any, ...]:
        """The actions that are right."""
        idea = self.oracle.action_class
        return tuple(action for action in self.sight.actions if idea(self.sight, action) in self.right)

    @property
    def difficulty(self) -> float:
        """How often it is missed by two players: one errs half as much as random play, one is greedy."""
        sight = self.sight
        middling = dict(zip(sight.actions, mix_actions(self.verdict, _MIDDLING), strict=True))
        odds = (middling, GreedyPlayer(self.sight.rules).odds(sight))
        wrong = set(sight.actions) - set(self.answers)
        return sum(each.get(action, 0.0) for each in odds for action in wrong) / len(odds)

    def grade(self, answer: Any) -> ExerciseResult:
        """Grade an answer, which is one of `sight.actions`."""
        sight, rules, oracle = self.sight, self.sight.rules, self.oracle
        chosen = self.verdict.get_action_value(answer)
        reason = oracle.reason(sight)
        answers = self.answers
        if answer in answers:
            among = f", one of {len(self.right)} right answers" if len(self.right) > 1 else ""
            told = f"{name_action(sight, answer)} {gets(chosen.value, rules)}"
            return ExerciseResult(True, f"Right: {told}{among}. {reason}")
        right = [judged for judged in self.verdict.actions if judged.best and judged.action in answers]
        corrected = self._against_the_mixture if self.oracle.mixes else self._against_the_best
        return ExerciseResult(False, f"{corrected(chosen, right)} {reason}")

    def _against_the_best(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        verdict, action = self.verdict, chosen.action
        loss = verdict.loss(action)
        given_away = format_points(loss, verdict.value.exactness, verdict.loss_error(action))
        best = join_or([name_action(self.sight, judged.action) for judged in right], MAX_NAMED)
        return (
            f"Not the best ({get_mark_name(loss)}): {name_action(self.sight, action)} gives away "
            f"{given_away}; best was {best}."
        )

    def _against_the_mixture(self, chosen: ActionValue[Any], right: list[ActionValue[Any]]) -> str:
        """No mark, and nothing given away: the strategy may take it too, now and then."""
        often = f"takes it {chosen.weight:.0%} of the time" if chosen.weight else "never takes it"
        if 0 < chosen.weight < _RARELY:
            often = "hardly ever takes it"
        below = format_points(_below_mixture(self.verdict, chosen), self.verdict.value.exactness)
        usual = join_or([name_action(self.sight, judged.action) for judged in right])
        return (
            f"Not what the strategy usually does: {name_action(self.sight, chosen.action)} is {below} below "
            f"the mixture, and the strategy {often}; it usually takes {usual}."
        )


def exercises(
    game: str | Game | AnyRules, seed: str | None = None, **options: OptionValue
) -> Iterator[Exercise]:
    """Positions of a game with a clear answer, each from a match of its own, no position twice.

    The game is a name or a `Game`, each with options, or rules. The same seed gives the same exercises. A
    lesson that was just taught comes again only when no other is found.
    """
    rules = resolve_rules(game, **options)
    return _spread(get_oracle(rules), Random(seed))


def _spread(oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    asked: set[str] = set()
    recent: list[Hashable] = []
    stale: list[Exercise] = []
    waited, opening = 0, OPENING
    while waited < _MOST_MATCHES or opening:
        if waited == _MOST_MATCHES:  # maybe matches are over before they have begun by that count
            waited, opening = 0, 0
        waited += 1
        found = [e for e in _find_exercises(oracle, rng, opening) if e.position not in asked]
        fresh = [exercise for exercise in found if exercise.theme not in recent]
        stale += found
        if fresh:
            exercise = rng.choice(fresh)
        elif stale and waited >= _PATIENT:
            exercise = min(stale, key=lambda exercise: recent.index(exercise.theme))
        else:
            continue
        asked.add(exercise.position)
        others = [lesson for lesson in recent if lesson != exercise.theme]
        recent = [*others[1 - _RECENT :], exercise.theme]
        stale, waited = [], 0
        yield exercise


def _find_exercises(oracle: Oracle[Any, Any], rng: Random, opening: int = OPENING) -> list[Exercise]:
    """The positions with a clear answer that one match comes through after its opening."""
    answers = find_mixed_answers if oracle.mixes else find_clear_answer
    found: list[Exercise] = []
    decisions = 0
    for sight, verdict in play_judged_match(oracle, SHARE_ON_THE_WAY, rng, _LONGEST_MATCH):
        decisions += len(verdict.actions) > 1
        if decisions > opening and (right := answers(oracle, sight, verdict)):
            lessons = {
                oracle.theme(sight, judged.action)
                for judged in verdict.actions
                if judged.best and oracle.action_class(sight, judged.action) in right
            }
            found.append(Exercise(sight, verdict, right, frozenset(lessons), oracle))
    return found


def play_judged_match(
    oracle: Oracle[Any, Any], share: float, rng: Random, most: int
) -> list[tuple[AnySight, Verdict[Any]]]:
    """Play a match, of at most so many entries, in which both give away `share`; its decisions, judged."""
    found: list[tuple[AnySight, Verdict[Any]]] = []

    class Noting:
        def choose(self, sight: AnySight, rng: Random) -> Any:
            found.append((sight, oracle.judge(sight)))
            return rng.choices(sight.actions, weights=mix_actions(found[-1][1], share))[0]

    play_out(Match.start(oracle.rules), dict.fromkeys(Seat, Noting()), StreamDice(rng), most)
    return found


def find_mixed_answers(
    oracle: Oracle[Any, Any], sight: AnySight, verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """The ideas that the strategy often takes, or that lie hardly below its mixture; none if most do."""
    ideas = [oracle.action_class(sight, judged.action) for judged in verdict.actions]
    right = {
        idea
        for idea, judged in zip(ideas, verdict.actions, strict=True)
        if judged.weight >= OFTEN or _below_mixture(verdict, judged) < MIXED_GAP
    }
    return frozenset(right) if len(right) <= MAX_RIGHT_SHARE * len(set(ideas)) else frozenset()


def _below_mixture(verdict: Verdict[Any], judged: ActionValue[Any]) -> float:
    return verdict.below_mixture[verdict.actions.index(judged)]


def find_clear_answer(
    oracle: Oracle[Any, Any], sight: AnySight, verdict: Verdict[Any]
) -> frozenset[Hashable]:
    """The idea that is clearly right: perfect play follows it, and every other gives much away; else none."""
    weights: dict[Hashable, float] = {}
    values: dict[Hashable, float] = {}
    for judged in verdict.actions:
        idea = oracle.action_class(sight, judged.action)
        weights[idea] = weights.get(idea, 0.0) + judged.weight
        values[idea] = max(values.get(idea, 0.0), judged.value.number)
    right = max(weights, key=weights.__getitem__)
    others = [value for idea, value in values.items() if idea != right]
    clear = bool(others) and values[right] - max(others) >= CLEAR_GAP
    return frozenset({right}) if clear and weights[right] >= NEARLY_ALWAYS else frozenset()


# -- practice ----------------------------------------------------------------------------------------


@dataclass
class Skill:
    """How hard exercises are to be, from 0, the easiest on offer, to 1, the hardest."""

    aim: float = 0.2

    @classmethod
    def from_data(cls, data: Any) -> "Skill":
        """What `as_data` gave; a beginner's where it cannot be read."""
        try:
            skill = cls(float(data["aim"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            return cls()
        return skill if 0 <= skill.aim <= 1 else cls()

    def as_data(self) -> dict[str, Any]:
        """As it is kept in a file."""
        return {"aim": self.aim}

    def answered(self, right: bool) -> None:
        """Follow an answer."""
        self.aim = min(1.0, self.aim + _UP) if right else max(0.0, self.aim - _DOWN)


def select_by_skill(found: Iterator[Exercise], skill: Skill) -> Iterator[Exercise]:
    """Of every few exercises the one that suits the skill, as it is when the next one is asked for."""
    offered: list[Exercise] = []
    while offered := [*offered, *islice(found, _ON_OFFER - len(offered))]:
        offered.sort(key=lambda exercise: exercise.difficulty)
        yield offered.pop(round(skill.aim * (len(offered) - 1)))


# -- the puzzles of a day ----------------------------------------------------------------------------


@lru_cache(maxsize=16)  # whoever comes back to the menu comes back to the same day
def get_daily_puzzle(day: date, game: Game) -> Exercise:
    """The puzzle of a day in one game. It depends on the date and on nothing else."""
    seed = sha256(f"duels daily {day.isoformat()} {game.name}".encode()).hexdigest()
    return next(select_by_skill(exercises(game, seed), Skill(_DAILY_AIM)))


def is_complete(answers: Sequence[bool]) -> bool:
    """Whether all of a day's puzzles are answered."""
    return len(answers) >= len(GAMES)


def count_streak(answered: Mapping[str, Sequence[bool]], today: date) -> int:
    """On how many days in a row, up to today or yesterday, all puzzles were answered, right or wrong."""
    day = today if is_complete(answered.get(today.isoformat(), ())) else today - timedelta(days=1)
    days = 0
    while is_complete(answered.get(day.isoformat(), ())):
        days += 1
        day -= timedelta(days=1)
    return days


def format_daily_result(day: date, answers: Sequence[bool], days: int) -> str:
    """A line to show to others, which gives nothing away."""
    marks = "".join(RIGHT if right else WRONG for right in answers).ljust(len(GAMES), OPEN)
    row = f", day {days} in a row" if days > 1 else ""
    return f"duels daily {day.isoformat()}: {marks} {sum(answers)}/{len(GAMES)}{row}"
