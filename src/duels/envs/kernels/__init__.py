"""Second forms of rules and levels for games without tables; tests prove them equal to the first."""

from importlib import import_module
from typing import Any

from duels.core.rules import AnyRules
from duels.games import GAMES

# By the names of our games.
_KERNELS = {"flip": f"{__name__}.flip"}
_LEVELS = {"hunt": f"{__name__}.hunt.levels", "flip": f"{__name__}.flip.levels"}


def find_kernel(rules: AnyRules, part: str) -> Any:
    """Return a module of the kernel of `rules` (`engine`, `batch` or `jax`), or None without a kernel."""
    kernel = _KERNELS.get(_our_name(rules))
    return import_module(f"{kernel}.{part}") if kernel else None


def find_levels(rules: AnyRules) -> Any:
    """Return the class that plays levels in many games of `rules`, or None."""
    name = _LEVELS.get(_our_name(rules))
    module = import_module(name) if name else None
    return module.LEVELS if module and module.fits(rules) else None


def _our_name(rules: AnyRules) -> str:
    """Return the name if these are the rules of one of our games, else an empty string."""
    ours = GAMES.get(rules.name)
    return rules.name if ours and type(rules) is ours.rules_class() else ""
