"""How far a long computation is, told to whoever listens: methods know no screen, screens know no method."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")
Listener = Callable[[str], None]
Progress = Callable[[str], None]
"""Is told how far a long computation is."""


def quiet(text: str) -> None:
    """Tell nobody."""


def _nobody(text: str) -> None:
    """Nobody listens."""


_listener: Listener = _nobody


def tell(text: str) -> None:
    """Say how far it is; cheap enough for every thousandth step."""
    _listener(text)


class Steps(Generic[S, T]):
    """A long computation to go through step by step, which leaves its `result` when it is through."""

    result: T

    def __init__(self, computation: Generator[S, None, T]) -> None:
        self._computation = computation

    def __iter__(self) -> Iterator[S]:
        self.result = yield from self._computation


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Within, `listener` is told."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
