"""The JSON in a folder: the fields of rows and of the config, and the values that are possible."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from duels.core.errors import DuelsError, quote
from duels.core.match import Match
from duels.core.rules import AnyRules, AnySight, Ending
from duels.players.prompt import FORMS
from duels.players.text_player import CONVERSATION, NO_MEMORY

Row = Mapping[str, Any]
Check = Callable[[Any], bool]
Schema: TypeAlias = "Check | Mapping[str, Schema] | list[Schema] | tuple[Schema, ...]"
"""A check, or the form of a JSON value: an object, a list of any length, or a list with a schema per item."""

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


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_text(value: Any) -> bool:
    """Whether a value is a string that can be printed as it stands."""
    return isinstance(value, str) and value.isprintable()


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MAX_NUMBER  # not a bool


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _MAX_NUMBER  # not NaN, which compares as false


def _one_of(*values: Any) -> Check:
    """Check for one of some values. Types must match: 1 is neither True nor 1.0."""
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def _optional(schema: Schema) -> Check:
    return lambda value: value is None or _fits(value, schema)


def _table_of(schema: Schema) -> Check:
    """Check for an object of valid values under printable names."""
    return lambda value: (
        isinstance(value, dict)
        and all(_is_text(name) and _fits(each, schema) for name, each in value.items())
    )


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a JSON value fits a schema. An object may have more fields than its schema."""
    if isinstance(schema, Mapping):
        return isinstance(value, dict) and all(
            name in value and _fits(value[name], each) for name, each in schema.items()
        )
    if isinstance(schema, list):
        return isinstance(value, list) and all(_fits(each, schema[0]) for each in value)
    if isinstance(schema, tuple):
        return isinstance(value, list) and len(value) == len(schema) and all(map(_fits, value, schema))
    return schema(value)


_is_seat = _one_of(1, 2)
_is_flag = _one_of(True, False)
_USAGE = (_is_count, _is_count, _is_count)
_BLUNDER: Mapping[str, Schema] = {
    "seat": _is_seat,
    "entry": _is_count,
    "shortfall": _is_number,
    "best": [_is_text],
}
MATCH: Mapping[str, Schema] = {
    "v": _is_count,
    **dict.fromkeys(("key", "game", "seed", "result"), _is_text),
    "options": _table_of(lambda value: True),
    "players": (_is_text, _is_text),
    "pair": _is_count,
    "entries": [_is_text],
    "ending": _one_of(*(each.value for each in Ending)),
    **dict.fromkeys(("score", "adjusted"), _is_number),
    "shortfalls": (_is_number, _is_number),
    "decisions": (_is_count, _is_count),
    "forfeited": (_is_number, _is_number),
    "failures": [(_is_seat, _is_count, _is_text, _is_string)],
    "blunders": [_BLUNDER],
    "manners": (_table_of((_is_count, _is_number)),) * 2,
}
"""The fields of a match. A match with a model also has `usage`."""
ANSWER: Mapping[str, Schema] = {
    **dict.fromkeys(("v", "sample"), _is_count),
    **dict.fromkeys(("key", "game", "position"), _is_text),
    "seat": _is_seat,
    "action": _optional(_is_text),
    "policy": _optional(_table_of(_is_number)),
    "failures": [(_is_text, _is_string)],
    "usage": _USAGE,
}
"""The fields of a probe's answer."""
_REQUEST: Mapping[str, Schema] = {
    **dict.fromkeys(("match", "question"), _is_text),
    "seat": _is_seat,
    "seconds": _is_number,
    "status": _is_count,
    "at_most": (_is_count, _is_count),
    "usage": _optional(_USAGE),
}
"""Fields that a request or its reply may have. Both have `id`."""


def is_match(row: Row) -> bool:
    """Whether a row has the fields of a match, and its numbers agree with each other."""
    if not _fits(row, MATCH) or ("usage" in row and not _fits(row["usage"], (_USAGE, _USAGE))):
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
    """Whether a row has the fields of a probe's answer, and the probabilities of its policy sum to 1."""
    if not _fits(row, ANSWER):
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
        _is_text(row.get("id"))
        and all(_fits(row[name], schema) for name, schema in _REQUEST.items() if name in row)
        and ("match" not in row or "seat" in row)
        and ("usage" not in row or "status" in row)
    )


def make_answer_key(rules: AnyRules, seat: int, position: str, sample: int) -> str:
    """Return the key of a probe's question: a hash of its content."""
    content = [VERSION, rules.name, sorted(rules.options().items()), seat, position, sample]
    return sha256(json.dumps(content).encode()).hexdigest()[:32]


def _is_even(value: Any) -> bool:
    return _is_count(value) and value > 1 and value % 2 == 0


MODEL_CONDITIONS: Mapping[str, Schema] = {
    "memory": _one_of(NO_MEMORY, CONVERSATION),
    "form": _one_of(*FORMS),
    **dict.fromkeys(("show_actions", "mirror", "relabel", "ask_forced"), _is_flag),
    "temperature": _optional(_is_number),
    **dict.fromkeys(("max_tokens", "retries", "prompt"), _is_count),
}
"""Model settings that a folder stores: only those that affect results, so no address."""
PRICES: Mapping[str, Schema] = dict.fromkeys(("input_price", "output_price"), _optional(_is_number))
_IDENTITY = {"sort": _one_of("ours", "program", "model"), "called": _is_text}
_SHARED: Mapping[str, Schema] = {
    "games": lambda value: bool(value) and _fits(value, [_is_text]),
    "seed": _is_string,
    "budget": _optional(_is_text),
    "currency": _is_text,
    "limits": {
        **dict.fromkeys(("move_seconds", "start_seconds"), _is_number),
        "memory_mb": _optional(_is_count),
        "retries": _is_count,
    },
    "model": MODEL_CONDITIONS,
    "prices": PRICES,
}
RUN_SCHEMA: Mapping[str, Schema] = {
    "kind": _one_of("run"),
    "players": lambda value: _table_of(_IDENTITY)(value) and len(value) > 1,
    "matches": _table_of(_is_even),
    "options": _table_of(_table_of(lambda value: True)),
    "until": _optional(_is_number),
    **_SHARED,
}
PROBE_SCHEMA: Mapping[str, Schema] = {
    "kind": _one_of("probe"),
    "player": lambda value: _table_of(_IDENTITY)(value) and len(value) == 1,
    "samples": lambda value: _is_count(value) and value > 0,
    "positions": lambda value: _is_count(value) and value > 1,
    "symmetric": _is_flag,
    **_SHARED,
}


def check_schema(data: Mapping[str, Any], schema: Mapping[str, Schema], prefix: str = "") -> None:
    """Raise DuelsError for the first unknown or missing key or impossible value."""
    for name in data:
        if name not in schema:
            keys = ", ".join(sorted(schema))
            raise DuelsError(f"{quote(prefix + name)} is not a key of a config; the keys are {keys}.")
    for name, value_schema in schema.items():
        if name not in data:
            raise DuelsError(f"the key {quote(prefix + name)} is missing.")
        value = data[name]
        if isinstance(value_schema, Mapping) and isinstance(value, dict):
            if value:  # without models, their settings are empty
                check_schema(value, value_schema, f"{prefix}{name}.")
        elif not _fits(value, value_schema):
            raise DuelsError(f"{quote(prefix + name)} cannot be {quote(json.dumps(value))}.")
