"""How far a long computation is: whoever starts one may pass a function that is told in words, now and then.

Methods know no screen, and screens know no method.
"""

from collections.abc import Callable

Progress = Callable[[str], None]


def no_progress(text: str) -> None:
    """Tell nobody."""
