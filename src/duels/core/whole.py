"""What counts as a whole number, or as a flag, wherever a program hands us one: options, seeds, actions."""

from operator import index
from typing import Any

from duels.core.errors import DuelsError


def whole(value: Any) -> int | None:
    """`value` as an int if it is a whole number of any type, NumPy's included; else None. True is none."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def need_whole(what: str, value: Any, least: int | None = None) -> int:
    """The same, but DuelsError, saying `what` it was to be, if it is none or below `least`."""
    number = whole(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" from {least}"
        raise DuelsError(f"{what} is a whole number{bound}, not {value!r}.")
    return number


def need_flag(what: str, value: Any) -> bool:
    """True or False; DuelsError, saying `what` it was to be, if it is anything else: "no" would be true."""
    if value is True or value is False:
        return bool(value)
    raise DuelsError(f"{what} is True or False, not {value!r}.")
