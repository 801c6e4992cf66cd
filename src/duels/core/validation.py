"""Validation of arguments: whole numbers and flags."""

from operator import index
from typing import Any

from duels.core.errors import DuelsError

ANSWER_TOLERANCE = 1e-3
"""The largest difference between probabilities that count as equal: GPUs round differently."""


def as_int(value: Any) -> int | None:
    """Return `value` as an int, or None if it is not an integer. Bools are not, NumPy integers are."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_int(name: str, value: Any, minimum: int | None = None) -> int:
    """Return `value` as an int.

    Raises DuelsError, naming the argument, if it is not a whole number or is below `minimum`.
    """
    number = as_int(value)
    if number is None or (minimum is not None and number < minimum):
        bound = "" if minimum is None else f" of at least {minimum}"
        raise DuelsError(f"{name} must be a whole number{bound}, not {value!r}.")
    return number


def check_flag(name: str, value: Any) -> bool:
    """Return `value`. Raises DuelsError, naming the argument, if it is not a bool. ("no" would be truthy.)"""
    if value is True or value is False:
        return bool(value)
    raise DuelsError(f"{name} must be True or False, not {value!r}.")
