"""Second forms of rules for games whose states are too many for tables; tests hold them to the rules."""

from importlib import import_module
from typing import Any

from duels.core.rules import Rules

# By the class of the rules, never by a name: whatever another game is called, its rules are its own.
_KERNELS = {("duels.games.flip.rules", "QuantumTiles"): f"{__name__}.flip"}


def kernel_of(rules: Rules[Any, Any, Any], door: str) -> Any:
    """A module of the kernel of `rules`: `engine` for one game, `batch` for many; None without a kernel."""
    kernel = _KERNELS.get((type(rules).__module__, type(rules).__qualname__))
    return import_module(f"{kernel}.{door}") if kernel else None
