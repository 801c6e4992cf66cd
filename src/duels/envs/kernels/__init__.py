"""Second forms of rules for games whose states are too many for tables; tests hold them to the rules."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def kernel_of(game: str, door: str) -> ModuleType | None:
    """A module of the kernel of `game`: `engine` for one game, `batch` for many; None without a kernel."""
    if find_spec(f"{__name__}.{game}") is None:
        return None
    return import_module(f"{__name__}.{game}.{door}")
