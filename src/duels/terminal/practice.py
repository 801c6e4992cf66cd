"""Practice at the terminal: positions with a clear answer, asked in the book's words and graded at once."""

from typing import Any

from duels.analysis.exercises import Exercise, exercises
from duels.analysis.wording import belief_strip
from duels.core.rules import Rules
from duels.solving.oracles import oracle_for
from duels.solving.protocols import beliefs_of, explainer_of
from duels.terminal.dialogue import ALWAYS, converse, help_text
from duels.terminal.hint_text import hint_as_text
from duels.terminal.screen import Screen

HELP = help_text(ALWAYS | {"quit": "leave"})


def practise(rules: Rules[Any, Any, Any], count: int, seed: str | None, screen: Screen) -> tuple[int, int]:
    """Ask `count` exercises; how many were right, out of how many answered."""
    right = asked = 0
    with screen.patience("looking for positions") as progress:
        oracle_for(rules, progress)  # the exercises share it
        found = exercises(rules, seed)
        exercise = next(found, None)
    try:
        if exercise and (told := explainer_of(exercise.oracle).counts_as_one):
            screen.say(f"{told}\n")
        while exercise and asked < count:
            answer = _ask(exercise, f"{asked + 1} of {count}", screen)
            asked += 1
            graded = exercise.grade(answer)
            right += graded.right
            screen.say(f"{graded.text}\n\n")
            if asked < count:
                with screen.patience("looking for another position"):
                    exercise = next(found, None)
        if not exercise:
            more = "more " if asked else ""
            screen.say(f"No {more}positions with a clear answer were found in {rules.name}.\n")
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


def _ask(exercise: Exercise, place: str, screen: Screen) -> Any:
    """The action entered."""
    sight, rules = exercise.sight, exercise.sight.rules
    words = rules.game.words(rules)
    screen.say(f"Puzzle {place}: you are {words.called(sight.seat)}, to move\n")
    screen.say(f"{words.board(sight)}{words.remembered(sight)}\n")
    strip = belief_strip(beliefs_of(exercise.oracle).belief(sight))
    if strip:
        screen.say(f"What you can know:\n{strip}")

    def leave(entered: list[str]) -> None:
        raise _Leave

    commands = {
        "help": lambda entered: screen.say(HELP),
        "?": lambda entered: screen.say(HELP),
        "rules": lambda entered: screen.say(rules.game.card()),
        "board": lambda entered: screen.say(words.board(sight)),
        "moves": lambda entered: screen.say(words.moves(sight)),
        "hint": lambda entered: screen.say(hint_as_text(sight, words, entered, exercise.oracle)),
        "quit": leave,
    }
    return converse(lambda: words.ask(sight), screen.ask, commands)
