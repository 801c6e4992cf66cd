"""Numba functions that are cached on disk if a folder is writable. Needs the extra `fast`."""

from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload_method

_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile like `numba.njit` and cache the result if a folder is writable."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # the package, the home and NUMBA_CACHE_DIR are all read-only
            return njit(**options)(function)

    return decorate


def compile_functions(
    functions: Mapping[str, Callable[..., Any]], entries: Collection[str], inline: bool = False
) -> dict[str, Any]:
    """Compile functions that call each other by these names, without changing the plain functions.

    Python may call the `entries`, which are cached. With `inline`, the others are inlined into their callers,
    which suits small functions in a tight loop.
    """
    options = {"inline": "always"} if inline else _INNER
    # Numba's cache notices only changes of the entry's file, so the name contains a digest of all functions.
    text = repr([_describe(function.__code__, function.__globals__) for function in functions.values()])
    digest = sha256(text.encode()).hexdigest()[:16]
    compiled_functions, scopes = {}, []
    for name, function in functions.items():
        scopes.append(_scope(function))
        copy = FunctionType(function.__code__, scopes[-1], name, function.__defaults__)
        copy.__module__, copy.__qualname__ = function.__module__, f"{name}_{digest}"
        decorate = cached_njit(error_model="numpy") if name in entries else njit(**options)
        compiled_functions[name] = decorate(copy)
    for scope in scopes:
        scope.update(compiled_functions)
    return compiled_functions


def _describe(code: CodeType, scope: dict[str, Any]) -> list[object]:
    """Return a function's instructions, names and constants, including numbers among its globals."""
    constants = [_describe(c, scope) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    numbers = [value for name in code.co_names if isinstance(value := scope.get(name), int | float)]
    return [code.co_code, code.co_names, code.co_varnames, constants, numbers]


def _scope(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the globals of a function, with NumPy integers: Numba would recompile it for each Python int."""
    names: dict[str, Any] = getattr(function, "__globals__", {})
    return {name: np.int64(value) if type(value) is int else value for name, value in names.items()}


@overload_method(types.Integer, "bit_count")
def _count_bits(number: Any) -> Any:
    def count(number: Any) -> int:
        bits = 0
        while number:
            number &= number - 1
            bits += 1
        return bits

    return count
