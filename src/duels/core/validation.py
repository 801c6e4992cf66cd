"""Checking whole numbers and flags wherever a program hands us one: options, seeds, actions."""

from operator import index
from typing import Any

from duels.core.errors import DuelsError


def as_int(value: Any) -> int | None:
    """Return an int, or None. Accepts NumPy integers, rejects bools."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_int(what: str, value: Any, least: int | None = None) -> int:
    """Return an int; DuelsError, naming `what` it was to be, if it is none or below `least`."""
    number = as_int(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" from {least}"
        raise DuelsError(f"{what} is a whole number{bound}, not {value!r}.")
    return number


def check_flag(what: str, value: Any) -> bool:
    """Return a bool; DuelsError, naming `what` it was to be, for anything else: "no" would be true."""
    if value is True or value is False:
        return bool(value)
    raise DuelsError(f"{what} is True or False, not {value!r}.")
