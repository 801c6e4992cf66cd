"""Fast implementations of rules and levels for flip and hunt. Tests prove them equal to the rules."""

from importlib import import_module
from typing import Any

from duels.core.rules import AnyRules
from duels.games import GAMES

_CLASSES = {
    ("flip", "engine"): ("flip.batch", "FlipEngine"),
    ("flip", "batch"): ("flip.batch", "FlipBatch"),
    ("flip", "jax"): ("flip.jax", "FlipEnv"),
    ("flip", "levels"): ("flip.levels", "FlipLevels"),
    ("hunt", "levels"): ("hunt.levels", "HuntLevels"),
}


def find_kernel(rules: AnyRules, part: str) -> Any:
    """Return the class `part` (`engine`, `batch`, `jax` or `levels`) of the kernel of `rules`, or None."""
    kernel = _CLASSES.get((rules.name, part))
    if not kernel or type(rules) is not GAMES[rules.name].rules_class():
        return None
    module, name = kernel
    return getattr(import_module(f"{__name__}.{module}"), name)


def find_levels(rules: AnyRules) -> Any:
    """Return the class that plays a level in many games under `rules`, or None."""
    levels = find_kernel(rules, "levels")
    return levels if levels and levels.fits(rules) else None
