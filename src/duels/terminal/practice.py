"""Positions with one right answer, drawn from the solved game and graded at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Seat, Sight
from duels.core.words import Question
from duels.games import Game
from duels.players.levels import mixture
from duels.solving.oracle import Oracle, Verdict
from duels.terminal.advice import belief_strip, hint, mark_of, percent
from duels.terminal.screen import Screen

AnyMatch = Match[Any, Any, Any]

# A right answer is worth asking for when every other one gives away at least this much.
CLEAR_GAP = 0.05
# The matches that lead to the positions are played well, but not so well that nothing happens.
SHARE_ON_THE_WAY = 0.3
_LOOKED_AT = 20_000


@dataclass(frozen=True)
class Exercise:
    """A position, the seat to decide, and the judgement of every action."""

    match: AnyMatch
    seat: Seat
    verdict: Verdict[Any]


def exercises(game: Game, oracle: Oracle[Any, Any], rng: Random) -> Iterator[Exercise]:
    """Positions with one right answer, no position twice, as long as new ones are found."""
    met: set[str] = set()
    match = Match.start(game.rules())
    for _ in range(_LOOKED_AT):
        actor = match.actor
        if actor is None:
            match = Match.start(match.rules)
        elif actor is CHANCE:
            match = match.play(actor, draw(match, rng))
        else:
            seat = Seat(actor)
            sight = match.sight(seat)
            verdict = oracle.judge(sight)
            position = match.rules.format_position(sight)
            if position not in met and _has_one_answer(oracle, sight, verdict):
                met.add(position)
                yield Exercise(match, seat, verdict)
            actions = [judged.action for judged in verdict.actions]
            chosen = rng.choices(actions, weights=mixture(verdict, SHARE_ON_THE_WAY))[0]
            match = match.play(seat, chosen)


def _has_one_answer(oracle: Oracle[Any, Any], sight: Sight[Any, Any], verdict: Verdict[Any]) -> bool:
    """Whether the best actions are one and the same idea, and all others are clearly worse."""
    others = [judged.value.number for judged in verdict.actions if not judged.best]
    ideas = {oracle.idea(sight, action) for action in verdict.best}
    return len(ideas) == 1 and bool(others) and verdict.value.number - max(others) >= CLEAR_GAP


def practise(game: Game, count: int, rng: Random, screen: Screen) -> tuple[int, int]:
    """Ask `count` exercises; how many were right, out of how many answered."""
    with screen.patience("getting ready"):
        oracle = game.oracle(game.rules())
    right = asked = 0
    for exercise in screen.patiently("looking for a position", exercises(game, oracle, rng)):
        if asked == count:
            break
        try:
            answer = _ask(game, oracle, exercise, asked + 1, count, screen)
        except (EOFError, KeyboardInterrupt):
            screen.say(f"{right} of {asked} right.\n")
            raise
        if answer is None:
            break
        asked += 1
        right += _grade(oracle, exercise, answer, screen)
    screen.say(f"{right} of {asked} right.\n")
    return right, asked


def _ask(
    game: Game, oracle: Oracle[Any, Any], exercise: Exercise, number: int, count: int, screen: Screen
) -> Any | None:
    """The action entered; None if the person wants to leave."""
    rules, words = exercise.match.rules, game.words(exercise.match.rules)
    sight = exercise.match.sight(exercise.seat)
    screen.say(f"--- {number} of {count}: {rules.format_position(sight)} ---\n{words.board(sight)}\n")
    strip = belief_strip(oracle.belief(sight))
    if strip:
        screen.say(f"The other token may be here:\n{strip}")
    dialogue = words.ask(sight)
    try:
        question = next(dialogue)
        while True:
            entry = screen.ask(question)
            if entry.strip().lower() == "quit":
                return None
            if entry.strip().lower() == "hint":
                screen.say(hint(oracle, rules, sight))
                question = Question(question.prompt)
            elif entry.strip().lower() == "back":
                dialogue = words.ask(sight)
                question = next(dialogue)
            else:
                question = dialogue.send(entry)
    except StopIteration as done:
        return done.value


def _grade(oracle: Oracle[Any, Any], exercise: Exercise, answer: Any, screen: Screen) -> bool:
    rules = exercise.match.rules
    chosen = next(judged for judged in exercise.verdict.actions if judged.action == answer)
    reason = oracle.reason(exercise.match.sight(exercise.seat))
    if chosen.best:
        screen.say(f"Right: {rules.format(answer)} wins {percent(chosen.value)}. {reason}\n\n")
        return True
    loss = exercise.verdict.value.number - chosen.value.number
    best = " or ".join(rules.format(action) for action in exercise.verdict.best[:3])
    screen.say(
        f"Not the best ({mark_of(loss)}): {rules.format(answer)} gives away {100 * loss:.1f} points; "
        f"best was {best}. {reason}\n\n"
    )
    return False
