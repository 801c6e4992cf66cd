"""The JSON in a folder: the fields of rows and of the config, and the values that are possible."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from duels.core.errors import DuelsError, quote
from duels.core.match import Match
from duels.core.rules import AnyRules, AnySight, Ending

Row = Mapping[str, Any]
Check = Callable[[Any], bool]

VERSION = 2
"""The format version of rows."""
DIGEST = "digest"
"""The field with a row's digest. Rows of earlier versions of duels have none."""
_TOLERANCE = 1e-6
_MAX_NUMBER = 1e9
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode  # made once, for speed


def make_digest(content: Row) -> str:
    """Return a short hash of JSON, which detects damage but not forgery."""
    return sha256(_encode(content).encode()).hexdigest()[:16]


def encode_row(row: Row) -> str:
    """Return a row with its digest as a line of JSON."""
    return _encode({**row, DIGEST: make_digest(row)}) + "\n"


def is_string(value: Any) -> bool:
    """Whether a value is a string, printable or not."""
    return isinstance(value, str)


def is_text(value: Any) -> bool:
    """Whether a value is a string that can be printed as it stands."""
    return isinstance(value, str) and value.isprintable()


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 0 to a billion. Booleans are not numbers."""
    return type(value) is int and 0 <= value <= _MAX_NUMBER


def is_number(value: Any) -> bool:
    """Whether a value is a finite number of at most a billion. Booleans are not numbers."""
    return type(value) in (int, float) and abs(value) <= _MAX_NUMBER  # not NaN, which compares as false


def one_of(*values: Any) -> Check:
    """Check for one of some values. Types must match: 1 is neither True nor 1.0."""
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def optional(check: Check) -> Check:
    """Check for null or a valid value."""
    return lambda value: value is None or check(value)


def list_of(check: Check, length: int | None = None) -> Check:
    """Check for a list of valid items, of any length or of exactly `length`."""
    return lambda value: (
        isinstance(value, list) and length in (None, len(value)) and all(check(each) for each in value)
    )


def table_of(check: Check) -> Check:
    """Check for an object of valid values under printable names."""
    return lambda value: (
        isinstance(value, dict) and all(is_text(name) and check(each) for name, each in value.items())
    )


def fields_of(checks: Mapping[str, Check]) -> Check:
    """Check for an object with these fields. It may have others."""
    return lambda value: (
        isinstance(value, dict)
        and all(name in value and check(value[name]) for name, check in checks.items())
    )


def tuple_of(*checks: Check) -> Check:
    """Check for a list with one check per item."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(each) for check, each in zip(checks, value, strict=True))
    )


is_seat = one_of(1, 2)
_is_flag = one_of(True, False)
_is_usage = list_of(is_count, 3)
_BLUNDER = {"seat": is_seat, "entry": is_count, "shortfall": is_number, "best": list_of(is_text)}
MATCH: Mapping[str, Check] = {
    "v": is_count,
    **dict.fromkeys(("key", "game", "seed", "result"), is_text),
    "options": table_of(lambda value: True),
    "players": list_of(is_text, 2),
    "pair": is_count,
    "entries": list_of(is_text),
    "ending": one_of(*(each.value for each in Ending)),
    "score": is_number,
    "adjusted": is_number,
    "shortfalls": list_of(is_number, 2),
    "decisions": list_of(is_count, 2),
    "forfeited": list_of(is_number, 2),
    "failures": list_of(tuple_of(is_seat, is_count, is_text, is_string)),
    "blunders": list_of(fields_of(_BLUNDER)),
    "manners": list_of(table_of(tuple_of(is_count, is_number)), 2),
}
"""The fields of a match. A match with a model also has `usage`."""
ANSWER: Mapping[str, Check] = {
    **dict.fromkeys(("v", "sample"), is_count),
    **dict.fromkeys(("key", "game", "position"), is_text),
    "seat": is_seat,
    "action": optional(is_text),
    "policy": optional(table_of(is_number)),
    "failures": list_of(tuple_of(is_text, is_string)),
    "usage": _is_usage,
}
"""The fields of a probe's answer."""
_REQUEST: Mapping[str, Check] = {
    **dict.fromkeys(("match", "question"), is_text),
    "seat": is_seat,
    "seconds": is_number,
    "status": is_count,
    "at_most": list_of(is_count, 2),
    "usage": optional(_is_usage),
}
"""Fields that a request or its reply may have. Both have `id`."""


def is_match(row: Row) -> bool:
    """Whether a row has the fields of a match, and its numbers agree with each other."""
    if not fields_of(MATCH)(row) or not list_of(_is_usage, 2)(row.get("usage", [[0, 0, 0]] * 2)):
        return False
    entries, blunders = len(row["entries"]), row["blunders"]
    return (
        row["score"] == _score_for_result(row["result"])
        and -1 - _TOLERANCE <= row["adjusted"] <= 2 + _TOLERANCE
        and sum(row["decisions"]) <= entries
        and all(-_TOLERANCE <= value <= 1 + _TOLERANCE for value in row["forfeited"])
        and all(1 <= each["entry"] <= entries and abs(each["shortfall"]) <= 1 for each in blunders)
        and all(map(_adds_up, row["shortfalls"], row["decisions"], row["manners"]))
    )


def _score_for_result(result: str) -> float:
    return 1.0 if result.startswith("1 won") else 0.0 if result.startswith("2 won") else 0.5


def _adds_up(shortfall: float, decisions: int, categories: Mapping[str, tuple[int, float]]) -> bool:
    """Whether a seat's decisions are the sums over their categories, and lose at most 1 each."""
    counts, shortfalls = (sum(each[i] for each in categories.values()) for i in (0, 1))
    error = _TOLERANCE * (1 + decisions)
    return (
        counts == decisions and abs(shortfalls - shortfall) <= error and abs(shortfall) <= decisions + error
    )


def can_replay(row: Row, rules: AnyRules) -> bool:
    """Whether the entries of a match are legal and lead to its result."""
    try:
        outcome = Match.start(rules).play_text(*row["entries"]).outcome
    except DuelsError:
        return False
    return outcome is not None and (outcome.code, outcome.ending.value) == (row["result"], row["ending"])


def is_answer(row: Row) -> bool:
    """Whether a row has the fields of a probe's answer, and its policy is one."""
    if not fields_of(ANSWER)(row):
        return False
    odds = (row["policy"] or {"": 1.0}).values()
    return all(0 <= each <= 1 + _TOLERANCE for each in odds) and abs(sum(odds) - 1) < 0.01


def is_legal_answer(row: Row, sight: AnySight) -> bool:
    """Whether the answer to a question is an action, or a policy over actions, that the position allows."""
    texts = [*(row["policy"] or ()), *([] if row["action"] is None else [row["action"]])]
    try:
        return all(sight.rules.parse(text) in sight.actions for text in texts)
    except DuelsError:
        return False


def is_request(row: Row) -> bool:
    """Whether a row has the fields of a request or its reply."""
    return (
        is_text(row.get("id"))
        and all(check(row[name]) for name, check in _REQUEST.items() if name in row)
        and ("match" not in row or "seat" in row)
        and ("usage" not in row or "status" in row)
    )


def make_answer_key(rules: AnyRules, seat: int, position: str, sample: int) -> str:
    """Return the key of a probe's question: a hash of its content."""
    content = [VERSION, rules.name, sorted(rules.options().items()), seat, position, sample]
    return sha256(json.dumps(content).encode()).hexdigest()[:32]


def _is_even(value: Any) -> bool:
    return is_count(value) and value > 1 and value % 2 == 0


_Schema = Mapping[str, "Check | _Schema"]
_IDENTITY = fields_of({"sort": one_of("ours", "program", "model"), "called": is_text})
_SHARED: _Schema = {
    "games": lambda value: bool(value) and list_of(is_text)(value),
    "seed": is_string,
    "budget": optional(is_text),
    "currency": is_text,
    "limits": {
        **dict.fromkeys(("move_seconds", "start_seconds"), is_number),
        "memory_mb": optional(is_count),
        "retries": is_count,
    },
    "model": {
        **dict.fromkeys(("show_actions", "mirror", "relabel"), _is_flag),
        "temperature": optional(is_number),
        **dict.fromkeys(("max_tokens", "retries"), is_count),
    },
    "prices": dict.fromkeys(("input_price", "output_price"), optional(is_number)),
}
RUN_SCHEMA: _Schema = {
    "kind": one_of("run"),
    "players": lambda value: table_of(_IDENTITY)(value) and len(value) > 1,
    "matches": table_of(_is_even),
    "options": table_of(table_of(lambda value: True)),
    "until": optional(is_number),
    **_SHARED,
}
PROBE_SCHEMA: _Schema = {
    "kind": one_of("probe"),
    "player": lambda value: table_of(_IDENTITY)(value) and len(value) == 1,
    "samples": lambda value: is_count(value) and value > 0,
    "positions": lambda value: is_count(value) and value > 1,
    "symmetric": _is_flag,
    **_SHARED,
}


def check_schema(data: Mapping[str, Any], schema: _Schema, prefix: str = "") -> None:
    """Raise DuelsError for the first unknown or missing key or impossible value."""
    for name in data:
        if name not in schema:
            keys = ", ".join(sorted(schema))
            raise DuelsError(f"{quote(prefix + name)} is not a key of a config; the keys are {keys}.")
    for name, check in schema.items():
        if name not in data:
            raise DuelsError(f"the key {quote(prefix + name)} is missing.")
        value = data[name]
        if isinstance(check, Mapping) and isinstance(value, dict):
            if value:  # without models, their settings are empty
                check_schema(value, check, f"{prefix}{name}.")
        elif isinstance(check, Mapping) or not check(value):
            raise DuelsError(f"{quote(prefix + name)} cannot be {quote(json.dumps(value))}.")
