"""Compiled code that is kept for the next time, where there is a folder for it. Needs the extra `fast`."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like `numba.njit`, and keep what is compiled; where that cannot be, it is compiled again each time."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # the package, the home and NUMBA_CACHE_DIR are all read-only
            return njit(**options)(function)

    return decorate
