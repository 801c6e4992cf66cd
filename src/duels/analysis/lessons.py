"""Lessons: guided first matches, a few positions with one idea each."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from duels.core.game import Game
from duels.core.rules import AnySight
from duels.solving.oracles import get_oracle


@dataclass(frozen=True)
class LessonStep:
    """A position of a lesson, with a sentence before and after the answer."""

    sight: AnySight
    """The information of the seat to move, who is the learner."""
    task: str
    retry: str
    """The answer to a wrong action."""
    lesson: str
    """The answer to a right action."""
    answers: tuple[Any, ...]
    """The right actions."""
    marks: tuple[tuple[str, str], ...] = ()
    """Parts of the drawing, by `data-key` or action, each with a sentence on what it means."""

    def comment(self, action: Any) -> str:
        """Return the sentence that follows the learner's action."""
        return self.lesson if action in self.answers else self.retry


def get_lesson(game: Game) -> tuple[LessonStep, ...]:
    """Return the steps of a game's lesson; empty if the game has none.

    >>> import duels
    >>> step = get_lesson(duels.find_game("leap"))[0]
    >>> step.comment(step.answers[0])
    'You landed exactly on 21, so you win.'
    """
    lessons = tomllib.loads((files(__package__) / "lessons.toml").read_text(encoding="utf-8"))
    rules = game.rules()
    steps = []
    for data in lessons.get(game.name, []):
        sight = rules.parse_position(data["position"])
        answers = (
            map(rules.parse, data["answers"]) if "answers" in data else get_oracle(rules).judge(sight).best
        )
        marks = tuple(data.get("marks", {}).items())
        steps.append(LessonStep(sight, data["task"], data["retry"], data["lesson"], tuple(answers), marks))
    return tuple(steps)
