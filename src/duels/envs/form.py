"""Environment settings beyond the rules' options: how a limit ends a game, how much history is observed."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.features import EntryTokens, check_memory, is_limit_draw, make_limit_feature
from duels.core.rules import AnyRules

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Form:
    """How a game is played and shown; without anything said, as the rules have it."""

    is_limit_draw: bool = False
    """A limit ends the game drawn, and what is left of it is observed; otherwise it truncates the game."""

    memory: int = 0
    """How many entries of the game so far an observation holds beside what the seat knows now."""

    def names(self, rules: AnyRules) -> tuple[str, ...]:
        """What the numbers say that an observation has beside the game's features."""
        left = make_limit_feature(rules).names() if self.is_limit_draw else ()
        return (*left, *EntryTokens(rules).names(self.memory))

    def numbers(self, rules: AnyRules) -> int:
        """How many those are."""
        return len(self.names(rules))


PLAIN = Form()


class Named:
    """What has names for the numbers of its observations and for its actions."""

    rules: AnyRules
    form: Form = PLAIN

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each number of an observation says, such as `cells[3]=mine`."""
        return (*self.rules.game.encoding(self.rules).names, *self.form.names(self.rules))

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action is, in the game's notation."""
        return tuple(map(self.rules.format, self.rules.all_actions()))


class Copyable:
    """What goes on by itself once it is copied: not even `copy.copy` shares anything that changes."""

    def __copy__(self) -> Self:
        return deepcopy(self)


def form_of(rules: AnyRules, limit_ends: str, memory: int = 0) -> Form:
    """The form that is asked for; DuelsError if it does not fit the rules."""
    form = Form(is_limit_draw(limit_ends), check_memory(rules, memory))
    form.numbers(rules)
    return form


def left_shown(rules: AnyRules) -> NDArray[np.int8]:
    """[left] the numbers that say how much is left of the limit."""
    feature = make_limit_feature(rules)
    marks = feature.marks()
    return np.stack([np.frombuffer(marks[left], np.int8) for left in feature.values])


def refuse_options(options: dict[str, Any] | None) -> None:
    """A framework can hand options to a reset; there are none, and none are to be lost in silence."""
    if options:
        raise DuelsError(f"A reset takes no options: give {', '.join(map(str, options))} to `make`.")
