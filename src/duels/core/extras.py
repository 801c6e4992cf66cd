"""What something needs beyond the base install is asked for here, by the extra that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from duels.core.errors import DuelsError, format_install_command


class MissingExtra(ModuleNotFoundError, DuelsError):
    """A package is not there; the message says what installs it."""


@contextmanager
def require_extra(name: str) -> Iterator[None]:
    """Within, a package that is not there is named together with the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"This needs {missing.name}: {format_install_command(name)}.", name=missing.name
        ) from None
