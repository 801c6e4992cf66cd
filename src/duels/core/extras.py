"""What something needs beyond the base install is asked for here, by the extra that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from duels.core.errors import DuelsError, to_install


class MissingExtra(ModuleNotFoundError, DuelsError):
    """A package is not there; the message says what installs it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Within, a package that is not there is named together with the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise MissingExtra(f"This needs {missing.name}: {to_install(name)}.", name=missing.name) from None
