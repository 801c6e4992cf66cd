"""Practice that gets harder with success, and easier without."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from duels.analysis.exercises import Exercise

_ON_OFFER = 5  # exercises, of which one is chosen
_UP, _DOWN = 0.1, 0.2  # twice as many right as wrong keep the difficulty where it is


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


def at_level(found: Iterator[Exercise], skill: Skill) -> Iterator[Exercise]:
    """Of every few exercises the one that suits the skill, as it is when the next one is asked for."""
    offered: list[Exercise] = []
    while offered := [*offered, *islice(found, _ON_OFFER - len(offered))]:
        offered.sort(key=lambda exercise: exercise.difficulty)
        yield offered.pop(round(skill.aim * (len(offered) - 1)))
