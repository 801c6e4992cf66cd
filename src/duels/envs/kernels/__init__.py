"""Fast implementations of rules and levels for flip and hunt. Tests prove them equal to the rules."""

from importlib import import_module
from typing import Any

from duels.core.rules import AnyRules
from duels.games import GAMES

_CLASSES = {
    "flip.engine": "FlipEngine",
    "flip.batch": "FlipBatch",
    "flip.jax": "FlipEnv",
    "flip.levels": "FlipLevels",
    "hunt.levels": "HuntLevels",
}


def find_kernel(rules: AnyRules, part: str) -> Any:
    """Return the class `part` (`engine`, `batch`, `jax` or `levels`) of the kernel of `rules`, or None."""
    module, our_game = f"{rules.name}.{part}", GAMES.get(rules.name)
    if module not in _CLASSES or not our_game or type(rules) is not our_game.rules_class():
        return None
    return getattr(import_module(f"{__name__}.{module}"), _CLASSES[module])


def find_levels(rules: AnyRules) -> Any:
    """Return the class that plays a level in many games under `rules`, or None."""
    levels = find_kernel(rules, "levels")
    return levels if levels and levels.fits(rules) else None
