"""Imports of optional dependencies, with a message that names the extra to install."""

from collections.abc import Iterator
from contextlib import contextmanager

from duels.core.errors import DuelsError, format_install_command


class MissingExtra(ModuleNotFoundError, DuelsError):
    """An optional dependency is not installed; the message says how to install it."""


@contextmanager
def require_extra(name: str) -> Iterator[None]:
    """Raise MissingExtra for an import that fails inside this context."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"This needs {missing.name}: {format_install_command(name)}.", name=missing.name
        ) from None
