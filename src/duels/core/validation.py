"""Validation of what callers give: whole numbers and flags, and answers that are asked for twice."""

from operator import index
from typing import Any

from duels.core.errors import DuelsError

ANSWER_TOLERANCE = 1e-3
"""How far apart two answers to one question may be: a network's differ a little, by rounding on a GPU."""


def as_int(value: Any) -> int | None:
    """Return an int, or None. Accepts NumPy integers, rejects bools."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_int(what: str, value: Any, least: int | None = None) -> int:
    """Return an int; raise DuelsError, naming `what`, if the value is no whole number or below `least`."""
    number = as_int(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" from {least}"
        raise DuelsError(f"{what} is a whole number{bound}, not {value!r}.")
    return number


def check_flag(what: str, value: Any) -> bool:
    """Return a bool; raise DuelsError, naming `what`, for anything else, since "no" is truthy."""
    if value is True or value is False:
        return bool(value)
    raise DuelsError(f"{what} is True or False, not {value!r}.")
