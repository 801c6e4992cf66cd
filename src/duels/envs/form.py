"""What an environment makes of its rules beside their options: whether a limit is part of the game."""

from dataclasses import dataclass
from typing import Any

from duels.core.extras import extra
from duels.core.features import left_feature, limit_draws
from duels.core.rules import Rules

with extra("vector"):
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Form:
    """How a game is played and shown; without anything said, as the rules have it."""

    limit_draws: bool = False
    """A limit ends the game drawn, and what is left of it is observed; otherwise it truncates the game."""

    def names(self, rules: Rules[Any, Any, Any]) -> tuple[str, ...]:
        """What the numbers say that an observation has beside the game's features."""
        return tuple(left_feature(rules).names()) if self.limit_draws else ()

    def numbers(self, rules: Rules[Any, Any, Any]) -> int:
        """How many those are."""
        return len(self.names(rules))


PLAIN = Form()


def form_of(rules: Rules[Any, Any, Any], limit_ends: str) -> Form:
    """The form that is asked for; DuelsError if it does not fit the rules."""
    form = Form(limit_draws=limit_draws(limit_ends))
    form.numbers(rules)
    return form


def left_shown(rules: Rules[Any, Any, Any]) -> NDArray[np.int8]:
    """[left] the numbers that say how much is left of the limit."""
    feature = left_feature(rules)
    marks = feature.marks()
    return np.stack([np.frombuffer(marks[left], np.int8) for left in feature.values])
