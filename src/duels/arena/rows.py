"""What the rows of logs have in them: one with a field missing is as good as a line that cannot be read."""

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

VERSION = 2
"""Of rows in a log."""
_NUMBER = int | float
MATCH: Mapping[str, Any] = {
    "v": int,
    "key": str,
    "game": str,
    "options": dict,
    "players": list,
    "pair": int,
    "seed": str,
    "entries": list,
    "result": str,
    "ending": str,
    "score": _NUMBER,
    "adjusted": _NUMBER,
    "shortfalls": list,
    "decisions": list,
    "forfeited": list,
    "failures": list,
    "blunders": list,
    "manners": list,
}
"""The fields of a match, by type; one with a model also has `usage`."""
ANSWER: Mapping[str, Any] = {
    "v": int,
    "key": str,
    "game": str,
    "seat": int,
    "position": str,
    "sample": int,
    "action": str | None,
    "policy": dict | None,
    "failures": list,
    "usage": list,
}
"""The fields of an answer of a probe."""
REQUEST: Mapping[str, Any] = {"id": str}
"""The field that a request to a model and what came back have in common."""
DECIDED = ("entries", "result", "action", "policy")
"""What a match or an answer was: rows of one key that differ in these come from separate attempts."""


def is_whole(row: Row, fields: Mapping[str, Any]) -> bool:
    """Whether a row has all its fields; what another version wrote may have others."""
    if row.get("v", VERSION) != VERSION:
        return True
    return all(name in row and isinstance(row[name], kind) for name, kind in fields.items())
