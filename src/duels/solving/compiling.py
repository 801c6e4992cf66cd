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


def inner(function: Callable[..., Any]) -> Any:
    """For what only compiled code calls; to let Python call it would take longer to compile than it does."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    return njit(**options)(function)
