"""Small parsers that the games' notations are built from."""

import re

from duels.core.errors import NotationError, quote
from duels.core.rules import Seat

# Plain digits only (int() would take other scripts'), and few enough to be a number people mean.
_WHOLE = re.compile(r"[0-9]{1,9}")


def parse_whole_number(text: str) -> int | None:
    """The number written in `text` with plain digits and nothing else, or None."""
    text = text.strip()
    return int(text) if _WHOLE.fullmatch(text) else None


def parse_seat(text: str, whole: str) -> Seat:
    """Read `1` or `2`, the player in the position `whole`."""
    if text not in ("1", "2"):
        raise NotationError(f"Cannot read the player to move in {quote(whole)}: it is 1 or 2.")
    return Seat(int(text))


def split_fields(text: str, least: int, most: int, shape: str) -> list[str]:
    """The fields of a one-line position, from `least` to `most` of them; `shape` shows what is meant."""
    parts = text.split()
    if not least <= len(parts) <= most:
        raise NotationError(f"Cannot read {quote(text)} as a position: write it like {shape}.")
    return parts


def join_and(words: list[str]) -> str:
    """`1`, `1 and 2`, `1, 2 and 3`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
