"""Settings of environments beyond the rules' options: the effect of a limit, and the memory."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

from duels.core.errors import DuelsError, UnknownName, require_extra
from duels.core.features import EntryTokens, check_memory, ends_in_draw, make_limit_feature
from duels.core.game import Game
from duels.core.options import OptionValue, find_option
from duels.core.rules import AnyRules
from duels.games import resolve_rules

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class EnvSettings:
    """The effect of a limit and the content of observations."""

    is_drawn_at_limit: bool = False
    """If True, a limit ends the game as a draw, and observations show the moves left. If False, a limit
    truncates the game."""

    memory: int = 0
    """The number of past entries in an observation."""

    def names(self, rules: AnyRules) -> tuple[str, ...]:
        """Return the names of the features that these settings add to an observation."""
        limit_names = make_limit_feature(rules).names() if self.is_drawn_at_limit else ()
        return (*limit_names, *EntryTokens(rules).names(self.memory))

    def size(self, rules: AnyRules) -> int:
        """Return the number of features that these settings add."""
        return len(self.names(rules))


DEFAULT_SETTINGS = EnvSettings()


class FeatureNames:
    """A mixin that names the features of observations and the actions."""

    rules: AnyRules
    settings: EnvSettings = DEFAULT_SETTINGS

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of each number in an observation, such as `cells[3]=mine`."""
        return (*self.rules.game.encoding(self.rules).names, *self.settings.names(self.rules))

    @property
    def action_names(self) -> tuple[str, ...]:
        """Each action in the game's notation."""
        return tuple(map(self.rules.format, self.rules.all_actions()))


class Copyable:
    """A mixin that makes `copy.copy` a deep copy, so that copies do not share mutable state."""

    def __copy__(self) -> Self:
        return deepcopy(self)


class UnknownArgument(UnknownName, TypeError):
    """A keyword argument is neither a setting of the environment nor an option of the game.

    Some trainers pass arguments of their own. If that raises TypeError, they retry without the argument.
    """


def resolve_env_rules(game: str | Game | AnyRules, **options: OptionValue) -> AnyRules:
    """Return the rules of a game with these options. Return rules unchanged.

    Raises UnknownArgument for an option that the game does not have, and the errors of `resolve_rules`.
    """
    rules_class = type(resolve_rules(game))
    for name in options:
        try:
            find_option(rules_class, name)
        except UnknownName as error:
            raise UnknownArgument(
                f"The environment got an unexpected keyword argument {name!r}: {error}"
            ) from None
    return resolve_rules(game, **options)


def make_settings(rules: AnyRules, limit_ends: str, memory: int = 0) -> EnvSettings:
    """Make settings. Raises DuelsError if they do not fit the rules."""
    settings = EnvSettings(ends_in_draw(limit_ends), check_memory(rules, memory))
    settings.size(rules)
    return settings


def encode_limit_left(rules: AnyRules) -> NDArray[np.int8]:
    """Return the encodings of the moves left until the limit, indexed [moves left, feature]."""
    feature = make_limit_feature(rules)
    marks = feature.encode_values()
    return np.stack([np.frombuffer(marks[moves_left], np.int8) for moves_left in feature.values])


def reject_reset_options(options: dict[str, Any] | None) -> None:
    """Raise DuelsError if a reset gets options, because ignoring them would hide mistakes."""
    if options:
        raise DuelsError(f"A reset takes no options. Pass {', '.join(map(str, options))} to `make`.")
