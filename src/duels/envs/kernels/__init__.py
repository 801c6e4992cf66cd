"""Second forms of rules and of levels where tables do not do; tests hold them to the first."""

from importlib import import_module
from typing import Any

from duels.core.rules import Rules

# By the class of the rules, never by a name: whatever another game is called, its rules are its own.
_KERNELS = {("duels.games.flip.rules", "QuantumTiles"): f"{__name__}.flip"}

_LEVELS = {
    ("duels.games.hunt.rules", "QuantumHunt"): f"{__name__}.hunt.levels",
    ("duels.games.flip.rules", "QuantumTiles"): f"{__name__}.flip.levels",
}


def kernel_of(rules: Rules[Any, Any, Any], door: str) -> Any:
    """A module of the kernel of `rules`: `engine` for one game, `batch` for many; None without a kernel."""
    kernel = _KERNELS.get(_kind(rules))
    return import_module(f"{kernel}.{door}") if kernel else None


def levels_of(rules: Rules[Any, Any, Any]) -> Any:
    """The module with the levels of `rules`, for ONE game and for MANY; None where there is no such."""
    name = _LEVELS.get(_kind(rules))
    module = import_module(name) if name else None
    return module if module and module.fits(rules) else None


def _kind(rules: Rules[Any, Any, Any]) -> tuple[str, str]:
    return type(rules).__module__, type(rules).__qualname__
