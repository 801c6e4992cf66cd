"""Parsers shared by the notations of games."""

import re

from duels.core.errors import NotationError, quote
from duels.core.rules import Seat

# ASCII digits only: int() accepts other scripts. At most nine: longer numbers are typing errors.
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")


def parse_whole_number(text: str) -> int | None:
    """Return the number in `text`, or None if it has anything but ASCII digits."""
    text = text.strip()
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else None


def parse_seat(text: str, position: str) -> Seat:
    """Return the seat with the number `text`; `position` is quoted in the error.

    Raises NotationError if `text` is not `1` or `2`.
    """
    if text not in ("1", "2"):
        raise NotationError(f"Cannot read the player to move in {quote(position)}: write 1 or 2.")
    return Seat(int(text))


def split_fields(text: str, minimum: int, maximum: int, example: str) -> list[str]:
    """Split a one-line position into its fields.

    Raises NotationError, quoting `example`, unless there are `minimum` to `maximum` fields.
    """
    parts = text.split()
    if not minimum <= len(parts) <= maximum:
        raise NotationError(f"Cannot read {quote(text)} as a position: write it like {example}.")
    return parts
