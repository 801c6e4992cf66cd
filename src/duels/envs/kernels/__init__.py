"""Fast implementations of rules and levels for flip and hunt. Tests prove them equal to the rules."""

from importlib import import_module
from typing import Any

from duels.core.rules import AnyRules
from duels.games import GAMES

_KERNELS = {"flip": f"{__name__}.flip"}
_LEVELS = {"hunt": f"{__name__}.hunt.levels", "flip": f"{__name__}.flip.levels"}


def find_kernel(rules: AnyRules, part: str) -> Any:
    """Return the module `part` (`engine`, `batch` or `jax`) of the kernel of `rules`, or None."""
    kernel = _KERNELS.get(_our_name(rules))
    return import_module(f"{kernel}.{part}") if kernel else None


def find_levels(rules: AnyRules) -> Any:
    """Return the class that plays a level in many games under `rules`, or None."""
    name = _LEVELS.get(_our_name(rules))
    module = import_module(name) if name else None
    return module.LEVELS if module and module.fits(rules) else None


def _our_name(rules: AnyRules) -> str:
    """Return the name of the rules if they belong to one of our games, else an empty string."""
    ours = GAMES.get(rules.name)
    return rules.name if ours and type(rules) is ours.rules_class() else ""
