"""How far a long computation is, told to whoever listens: methods know no screen, screens know no method."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str], None]


def quiet(text: str) -> None:
    """Tell nobody."""


_listener: Progress = quiet


def tell(text: str) -> None:
    """Say how far it is; cheap enough for every thousandth step."""
    _listener(text)


@contextmanager
def heard_by(listener: Progress) -> Iterator[None]:
    """Within, `listener` is told."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
