"""A puzzle a day: the same position of every game for everybody on a date, and the streak of days."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256

from duels.analysis.exercises import Exercise, exercises
from duels.analysis.progression import Skill, at_level
from duels.core.game import Game
from duels.games import GAMES

RIGHT, WRONG, OPEN = "■", "□", "·"
_AIM = 0.8  # rather hard


@lru_cache(maxsize=16)  # whoever comes back to the menu comes back to the same day
def puzzle(day: date, game: Game) -> Exercise:
    """The puzzle of a day in one game. It depends on the date and on nothing else."""
    seed = sha256(f"duels daily {day.isoformat()} {game.name}".encode()).hexdigest()
    return next(at_level(exercises(game, seed), Skill(_AIM)))


def complete(answers: Sequence[bool]) -> bool:
    """Whether all of a day's puzzles are answered."""
    return len(answers) >= len(GAMES)


def streak(answered: Mapping[str, Sequence[bool]], today: date) -> int:
    """On how many days in a row, up to today or yesterday, all puzzles were answered, right or wrong."""
    day = today if complete(answered.get(today.isoformat(), ())) else today - timedelta(days=1)
    days = 0
    while complete(answered.get(day.isoformat(), ())):
        days += 1
        day -= timedelta(days=1)
    return days


def shared(day: date, answers: Sequence[bool], days: int) -> str:
    """A line to show to others, which gives nothing away."""
    marks = "".join(RIGHT if right else WRONG for right in answers).ljust(len(GAMES), OPEN)
    row = f", day {days} in a row" if days > 1 else ""
    return f"duels daily {day.isoformat()}: {marks} {sum(answers)}/{len(GAMES)}{row}"
