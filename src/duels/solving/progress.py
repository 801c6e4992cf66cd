"""Progress callbacks: a long computation calls one with a short text from time to time."""

from collections.abc import Callable

Progress = Callable[[str], None]


def no_progress(text: str) -> None:
    """Ignore the text: the default callback."""
