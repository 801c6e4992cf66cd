"""Positions with one right answer, drawn from the solved game and graded at once."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from duels.core.match import Match, playing
from duels.core.rules import Seat, Sight
from duels.core.words import Question
from duels.games import Game
from duels.players.levels import mixture
from duels.solving.oracle import Oracle, Verdict
from duels.terminal.advice import belief_strip, hint, mark_of, percent, points
from duels.terminal.screen import Screen
from duels.terminal.table import ALWAYS, help_text

AnyMatch = Match[Any, Any, Any]

HELP = help_text(ALWAYS | {"quit": "leave"})

# A right answer is worth asking for when every other one gives away at least this much,
CLEAR_GAP = 0.05
# and when perfect play gives it nearly always.
NEARLY_ALWAYS = 0.9
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
    """A position, the seat to decide, the judgement of every action, the right one, and what it teaches."""

    match: AnyMatch
    seat: Seat
    verdict: Verdict[Any]
    idea: Hashable
    lesson: Hashable

    @property
    def sight(self) -> Sight[Any, Any]:
        return self.match.sight(self.seat)


def exercises(game: Game, oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    """Positions with one right answer, each from a match of its own, no position twice.

    A lesson that was just taught comes again only when no other is found.
    """
    asked: set[str] = set()
    recent: list[Hashable] = []
    stale: list[Exercise] = []
    waited = 0
    while waited < _MOST_MATCHES:
        waited += 1
        found = [e for e in _in_one_match(game, oracle, rng) if _position(e) not in asked]
        fresh = [exercise for exercise in found if exercise.lesson not in recent]
        stale += found
        if fresh:
            exercise = rng.choice(fresh)
        elif stale and waited >= _PATIENT:
            exercise = min(stale, key=lambda exercise: recent.index(exercise.lesson))
        else:
            continue
        asked.add(_position(exercise))
        others = [lesson for lesson in recent if lesson != exercise.lesson]
        recent = [*others[1 - _RECENT :], exercise.lesson]
        stale, waited = [], 0
        yield exercise


def _in_one_match(game: Game, oracle: Oracle[Any, Any], rng: Random) -> list[Exercise]:
    """The positions with one right answer that one match comes through."""
    found: list[Exercise] = []
    decisions = 0

    def decide(match: AnyMatch, seat: Seat) -> Any:
        nonlocal decisions
        sight = match.sight(seat)
        verdict = oracle.judge(sight)
        decisions += len(verdict.actions) > 1
        if decisions > OPENING and (idea := one_answer(oracle, sight, verdict)) is not None:
            right = next(j.action for j in verdict.actions if oracle.idea(sight, j.action) == idea)
            lesson = oracle.lesson(sight, right)
            found.append(Exercise(match, seat, verdict, idea, lesson))
        return rng.choices(sight.actions, weights=mixture(verdict, SHARE_ON_THE_WAY))[0]

    for _ in islice(playing(Match.start(game.rules()), rng, decide), _LONGEST_MATCH + 1):
        pass
    return found


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


def _position(exercise: Exercise) -> str:
    return exercise.match.rules.format_position(exercise.sight)


def practise(game: Game, count: int, rng: Random, screen: Screen) -> tuple[int, int]:
    """Ask `count` exercises; how many were right, out of how many answered."""
    right = asked = 0
    with screen.patience("looking for positions"):
        oracle = game.oracle(game.rules())
        found = exercises(game, oracle, rng)
        exercise = next(found, None)
    try:
        if exercise and oracle.counts_as_one:
            screen.say(f"{oracle.counts_as_one}\n")
        while exercise and asked < count:
            answer = _ask(game, oracle, exercise, f"{asked + 1} of {count}", screen)
            asked += 1
            right += _grade(oracle, exercise, answer, screen)
            if asked < count:
                with screen.patience("looking for another position"):
                    exercise = next(found, None)
        if not exercise:
            more = "more " if asked else ""
            screen.say(f"No {more}positions with one right answer were found in {game.name}.\n")
    except _Leave:
        pass
    except KeyboardInterrupt:
        screen.say("\n")  # the score stands on a line of its own, not behind ^C
        raise
    finally:
        if asked:
            screen.say(f"{right} of {asked} right.\n")
    return right, asked


class _Leave(Exception):
    """The person wants to stop."""


def _ask(game: Game, oracle: Oracle[Any, Any], exercise: Exercise, place: str, screen: Screen) -> Any:
    """The action entered."""
    rules, sight = exercise.match.rules, exercise.sight
    words = game.words(rules)
    screen.say(f"--- {place}: {_position(exercise)} ---\n{words.board(sight)}{words.remembered(sight)}\n")
    strip = belief_strip(oracle.belief(sight))
    if strip:
        screen.say(f"The other token may be here:\n{strip}")

    entered: list[str] = []

    def leave() -> str:
        raise _Leave

    shown: dict[str, Callable[[], str]] = {
        "help": lambda: HELP,
        "?": lambda: HELP,
        "rules": game.card,
        "board": lambda: words.board(sight),
        "moves": lambda: words.moves(sight),
        "hint": lambda: hint(oracle, rules, sight, words, entered),
        "quit": leave,
    }
    dialogue = words.ask(sight)
    try:
        question = next(dialogue)
        while True:
            entry = screen.ask(question)
            word = entry.strip().lower()
            if word == "back":
                entered.clear()
                dialogue = words.ask(sight)
                question = next(dialogue)
            elif word in shown:
                screen.say(shown[word]())
                question = Question(question.prompt)
            else:
                question = dialogue.send(entry)
                if not question.notice:
                    entered.append(entry)
    except StopIteration as done:
        return done.value


def _grade(oracle: Oracle[Any, Any], exercise: Exercise, answer: Any, screen: Screen) -> bool:
    rules, sight, verdict = exercise.match.rules, exercise.sight, exercise.verdict
    reason = oracle.reason(sight)
    chosen = next(judged for judged in verdict.actions if judged.action == answer)
    if oracle.idea(sight, answer) == exercise.idea:
        screen.say(f"Right: {rules.format(answer)} wins {percent(chosen.value)}. {reason}\n\n")
        return True
    right = [j for j in verdict.actions if j.best and oracle.idea(sight, j.action) == exercise.idea]
    loss = right[0].value.number - chosen.value.number
    error = right[0].value.error + chosen.value.error
    best = " or ".join(rules.format(judged.action) for judged in right[:3])
    more = f" (or {len(right) - 3} more like it)" if len(right) > 3 else ""
    screen.say(
        f"Not the best ({mark_of(loss)}): {rules.format(answer)} gives away "
        f"{points(loss, verdict.value.exactness, error)}; best was {best}{more}. {reason}\n\n"
    )
    return False
