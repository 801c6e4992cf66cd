"""Second forms of rules and of levels where tables do not do; tests hold them to the first."""

from importlib import import_module
from typing import Any

from duels.core.rules import AnyRules
from duels.games import GAMES

# By the names of our games.
_KERNELS = {"flip": f"{__name__}.flip"}
_LEVELS = {"hunt": f"{__name__}.hunt.levels", "flip": f"{__name__}.flip.levels"}


def kernel_of(rules: AnyRules, door: str) -> Any:
    """A module of the kernel of `rules`: `engine` for one game, `batch` for many; None without a kernel."""
    kernel = _KERNELS.get(_our_name(rules))
    return import_module(f"{kernel}.{door}") if kernel else None


def levels_of(rules: AnyRules) -> Any:
    """The class of levels for any number of games of `rules`; None if there is no such."""
    name = _LEVELS.get(_our_name(rules))
    module = import_module(name) if name else None
    return module.LEVELS if module and module.fits(rules) else None


def _our_name(rules: AnyRules) -> str:
    """The name of our game, or nothing: another game of that name, or other rules for it, are not ours."""
    ours = GAMES.get(rules.name)
    return rules.name if ours and type(rules) is ours.rules_class() else ""
