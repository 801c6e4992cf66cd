"""Observations: views encoded as zeros and ones, described by a list of features.

A game defines its features once, from the observing seat's point of view. All environments use them.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from duels.core.errors import DuelsError
from duels.core.explore import iter_reachable
from duels.core.rules import AnyRules, Seat
from duels.core.validation import check_int


@dataclass(frozen=True)
class Feature:
    """A part of an observation: `count` slots, each with one of `values`. `read` returns the value of each.

    A slot with two values is one number (0 for the first, 1 for the second). Any other slot is one-hot.
    """

    name: str
    values: tuple[Hashable, ...]
    read: Callable[[Any, Seat], Sequence[Hashable]]
    count: int = 1

    @property
    def width(self) -> int:
        """The number of elements per slot."""
        return 1 if len(self.values) == 2 else len(self.values)

    @property
    def size(self) -> int:
        """The number of elements of all slots."""
        return self.count * self.width

    def encode_values(self) -> "Mapping[Hashable, bytes]":
        """Return the encoding of each value of a slot."""
        if self.width == 1:
            return {value: bytes([index]) for index, value in enumerate(self.values)}
        return _OneHot(self.values)

    def names(self) -> Iterator[str]:
        """Yield the name of each element: `cells[3]=mine`, or `my_turn` for a feature with two values."""
        for slot in range(1, self.count + 1):
            name = f"{self.name}[{slot}]" if self.count > 1 else self.name
            if self.width == 1:
                yield name
            else:
                yield from (f"{name}={format_feature_value(value)}" for value in self.values)


def format_feature_value(value: Hashable) -> str:
    """Return a value of a feature or a view as one word."""
    if isinstance(value, Seat):
        return "one" if value is Seat.ONE else "two"
    return value.name.lower() if isinstance(value, Enum) else str(value)


class Encoding:
    """A list of features, concatenated."""

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)
        self.size = sum(feature.size for feature in self.features)
        self._encodings = tuple(feature.encode_values() for feature in self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the elements of an observation."""
        return tuple(name for feature in self.features for name in feature.names())

    def encode(self, view: Any, seat: Seat) -> bytes:
        """Return the observation of `view` by `seat`, with one byte per element."""
        return b"".join(
            [
                encodings[value]
                for feature, encodings in zip(self.features, self._encodings, strict=True)
                for value in feature.read(view, seat)
            ]
        )

    def find_slice(self, name: str) -> slice:
        """Return the slice of the feature `name` in an observation. Raises KeyError for an unknown name."""
        start = 0
        for feature in self.features:
            if feature.name == name:
                return slice(start, start + feature.size)
            start += feature.size
        raise KeyError(name)


class _OneHot(dict[Hashable, bytes]):
    """One-hot encodings, made on demand to save memory."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        super().__init__()
        self._indexes = {value: index for index, value in enumerate(values)}

    def __missing__(self, value: Hashable) -> bytes:
        index = self._indexes[value]
        return bytes(index) + b"\1" + bytes(len(self._indexes) - index - 1)


TRUNCATION, DRAW = LIMIT_ENDS = ("truncation", "draw")
MAX_OBSERVED_LIMIT = 1000
"""The largest limit whose remaining turns can be part of an observation, where they are one-hot."""


def ends_in_draw(limit_ends: str) -> bool:
    """Return whether the limit ends a game as a draw. Raises DuelsError for a value not in LIMIT_ENDS."""
    if limit_ends not in LIMIT_ENDS:
        raise DuelsError(f"limit_ends must be {' or '.join(map(repr, LIMIT_ENDS))}, not {limit_ends!r}.")
    return limit_ends == DRAW


def make_limit_feature(rules: AnyRules) -> Feature:
    """Return the feature with the turns left before the limit. Raises DuelsError without a limit."""
    limit, clock = rules.limit_value, rules.clock
    if limit is None or clock is None:
        advice = f"{rules.name} has none" if rules.limit is None else f"set {rules.limit}"
        raise DuelsError(f"The turns before a limit can be observed only with a limit: {advice}.")
    if limit > MAX_OBSERVED_LIMIT:
        raise DuelsError(f"A limit must be at most {MAX_OBSERVED_LIMIT} to be observed, not {limit}.")
    return Feature("left", tuple(range(limit + 1)), lambda view, seat: (limit - getattr(view, clock),))


def check_memory(rules: AnyRules, memory: int) -> int:
    """Return `memory`, the number of remembered entries. Raises DuelsError if it is not allowed."""
    if check_int("memory", memory, 0) and not rules.has_hidden_information:
        raise DuelsError(f"memory must be 0 in {rules.name}: the game has no hidden information.")
    return memory


def number_actions(rules: AnyRules) -> dict[Any, int]:
    """Return the integer that stands for each action in environments, tables and datasets."""
    return {action: number for number, action in enumerate(rules.all_actions())}


class EntryTokens:
    """Integers (tokens) for the last entries that a seat has seen, in observations with memory.

    A token is NOTHING (no entry yet), HIDDEN, or an action of the seat itself or of another actor.
    """

    NOTHING, HIDDEN = range(2)

    def __init__(self, rules: AnyRules) -> None:
        self.actions = tuple(map(rules.format, rules.all_actions()))
        self.width = 2 + len(self.actions)

    def token(self, action: Any, is_own: Any) -> Any:
        """Return the token of an action's number, or the tokens of an array of numbers."""
        return 2 + 2 * action + is_own

    def encode_tokens(self) -> list[bytes]:
        """Return the encoding of each token: two flags (own, hidden), then the one-hot action."""
        visible = [
            bytes([is_own, 0]) + bytes(action) + b"\1" + bytes(len(self.actions) - action - 1)
            for action in range(len(self.actions))
            for is_own in (0, 1)
        ]
        return [bytes(self.width), b"\0\1" + bytes(len(self.actions)), *visible]

    def names(self, memory: int) -> Iterator[str]:
        """Yield the names of the elements for the last `memory` entries, the latest first."""
        for entry in range(1, memory + 1):
            yield from (f"past[{entry}]={name}" for name in ("mine", "hidden", *self.actions))


MAX_EXPLORED_STATES = 100_000
"""The maximum number of states to explore for a game that does not define its features."""
_MINE, _OTHERS = "mine", "other's"


@lru_cache(maxsize=16)
def discover_features(rules: AnyRules) -> tuple[Feature, ...]:
    """Return the features of a game that defines none: every field of a view, with its values.

    Tuples are split into slots, and so are strings of equal length, one slot per character. A seat becomes
    `mine` or `other's`. The clock is left out, so that the limit does not change the features. Numbers and
    strings are sorted; other values are in order of discovery, which is the same in every process.

    Raises DuelsError if the game has too many states.
    """
    unlimited: Any = replace(cast(Any, rules), **{rules.limit: None}) if rules.limit else rules
    states = []
    if (unlimited.max_states() or 0) <= MAX_EXPLORED_STATES:
        states = [match.state for match in islice(iter_reachable(unlimited), MAX_EXPLORED_STATES + 1)]
    if not 0 < len(states) <= MAX_EXPLORED_STATES:
        raise DuelsError(
            f"{rules.name} has too many states to find its features by exploring: "
            f"write a module 'features' in {rules.game.package}."
        )
    field_values: dict[str, dict[Hashable, None]] = {}
    lengths: dict[str, set[int]] = {}
    for state in states:
        for seat in Seat:
            for name, slots in _iter_fields(rules.view(state, seat), seat):
                if name != rules.clock:
                    field_values.setdefault(name, {}).update(dict.fromkeys(slots))
                    lengths.setdefault(name, set()).add(len(slots))
    for name, field_lengths in lengths.items():
        if len(field_lengths) > 1:  # shorter tuples are padded with None
            field_values[name][None] = None
    return tuple(
        _make_feature(name, _sort_values(values), max(lengths[name])) for name, values in field_values.items()
    )


def _sort_values(unsorted: Collection[Hashable]) -> tuple[Hashable, ...]:
    values: list[Any] = [value for value in unsorted if value is not None]
    if any(all(type(value) is kind for value in values) for kind in (int, str)):
        values.sort()
    return (*values, *[None] * (None in unsorted))


def _make_feature(name: str, values: tuple[Hashable, ...], count: int) -> Feature:
    def read(view: Any, seat: Seat) -> Sequence[Hashable]:
        slots = dict(_iter_fields(view, seat)).get(name, ())
        return (*slots, *[None] * (count - len(slots)))

    letters = _find_alphabet(values)
    if letters and count == 1 and letters[0] * len(letters[1]) < len(values):
        length, alphabet = letters
        return Feature(name, alphabet, lambda view, seat: cast(str, read(view, seat)[0]), length)
    return Feature(name, values, read, count)


def _find_alphabet(values: tuple[Hashable, ...]) -> tuple[int, tuple[str, ...]] | None:
    """Return the common length and the letters of strings, or None if the lengths differ."""
    words = [value for value in values if isinstance(value, str)]
    lengths = {len(word) for word in words}
    if len(words) < len(values) or len(lengths) != 1:
        return None
    return lengths.pop(), tuple(sorted(set().union(*words)))


def _iter_fields(view: Any, seat: Seat) -> Iterator[tuple[str, tuple[Hashable, ...]]]:
    """Yield the names of a view's fields and the values of their slots."""
    if not is_dataclass(view):
        yield "view", _flatten(view, seat)
        return
    for field in fields(view):
        yield field.name, _flatten(getattr(view, field.name), seat)


def _flatten(value: Any, seat: Seat) -> tuple[Hashable, ...]:
    if isinstance(value, tuple):
        return tuple(slot for item in value for slot in _flatten(item, seat))
    if isinstance(value, Seat):
        return (_MINE if value is seat else _OTHERS,)
    return (value,)
