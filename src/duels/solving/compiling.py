"""Compiled code that is kept for the next time, where there is a folder for it. Needs the extra `fast`."""

from collections.abc import Callable, Sequence
from types import FunctionType
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


def compile_copies(inner: Sequence[Callable[..., Any]], outer: Sequence[Callable[..., Any]]) -> list[Any]:
    """Compile copies of functions of one module, and return those of the `outer` ones.

    They may call the `inner` ones, which are listed callees first and become part of whatever calls them. The
    functions themselves stay plain Python.
    """
    names = dict(outer[0].__globals__)

    def copy(function: Callable[..., Any]) -> Callable[..., Any]:
        copied = FunctionType(function.__code__, names, function.__name__)
        copied.__qualname__ = function.__qualname__
        return copied

    for function in inner:
        names[function.__name__] = njit(inline="always")(copy(function))
    return [compiled()(copy(function)) for function in outer]
