"""The options of a game: their kinds, validation and text form.

An option is a field of a rules dataclass. The default determines its kind:

- a number: `lights: int = 7`
- a limit: `max_turns: int | None = None`
- a flag: `wrap: bool = False`
- a name: `board: str = "flat"`
- a tuple of numbers or names: `heaps: tuple[int, ...] = (3, 5, 7)`
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, cast

from duels.core.errors import BadOption, UnknownName, quote
from duels.core.validation import as_int

OptionValue = int | bool | str | tuple[int, ...] | tuple[str, ...] | None

# Arguments of our environments, measurements and commands, and of Gymnasium's and PettingZoo's `make`.
_RESERVED = """
agent autoreset autoreset_mode base_url batch bool_masks copy dict_observations dtype first game grade
limit_ends max_moves memory num_envs opponent policy render_mode seat seed disable_env_checker env_type id
max_cycles max_episode_steps vector_kwargs vectorization_mode wrappers against all board chance count
format games help jobs json matches out pace plain player position save seat1 seat2 verify key_env
"""
RESERVED = frozenset(_RESERVED.split())
"""Names that options must not have, because functions that accept options have arguments of these names."""
MAX_NUMBER = 10_000_000
_KEY = "duels.option"
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_DIGITS = re.compile(r"-?[0-9]{1,9}")


class OptionKind(Enum):
    """The kind of an option's values."""

    NUMBER = "number"
    LIMIT = "limit"
    FLAG = "flag"
    NAME = "name"
    NUMBERS = "numbers"
    NAMES = "names"


@dataclass(frozen=True)
class Option:
    """One option of a game."""

    name: str
    kind: OptionKind
    default: OptionValue
    help: str = ""
    minimum: int = 1
    maximum: int = MAX_NUMBER
    choices: tuple[str, ...] = ()
    """The allowed names; empty if all are allowed."""

    def check(self, value: Any, game: str) -> OptionValue:
        """Return the value in the form that rules store. Raises BadOption if it is not allowed."""
        if self.kind is OptionKind.FLAG:
            if not isinstance(value, bool):
                raise BadOption(f"{self.name} must be True or False in {game}, not {value!r}.")
            return value
        if self.kind is OptionKind.LIMIT and value is None:
            return None
        if self.kind in (OptionKind.NUMBERS, OptionKind.NAMES):
            if not isinstance(value, tuple | list) or not value:
                expected = f"a list of one or more {self.kind.value}"
                raise BadOption(f"{self.name} must be {expected} in {game}, not {value!r}.")
            check = self._check_number if self.kind is OptionKind.NUMBERS else self._check_name
            return tuple(check(part, game) for part in value)
        check = self._check_name if self.kind is OptionKind.NAME else self._check_number
        checked: OptionValue = check(value, game)
        return checked

    def _check_number(self, value: Any, game: str) -> Any:
        number = 0 if value is None else as_int(value)
        if number is None:
            raise BadOption(f"{self.name} must be a whole number in {game}, not {value!r}.")
        prefix = "each of " if self.kind is OptionKind.NUMBERS else ""
        if number < self.minimum:
            raise BadOption(f"{prefix}{self.name} must be at least {self.minimum} in {game}, not {value}.")
        if number > self.maximum and self.kind is not OptionKind.LIMIT:
            raise BadOption(f"{prefix}{self.name} must be at most {self.maximum} in {game}, not {number}.")
        return number

    def _check_name(self, value: Any, game: str) -> Any:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise BadOption(f"In {game}, {self.name} must be a name, not {value!r}.")
        if self.choices and value not in self.choices:
            raise BadOption(
                f"{self.name} must be one of {', '.join(self.choices)} in {game}, not {quote(value)}."
            )
        return value

    def parse(self, text: str) -> OptionValue:
        """Parse the text form of a value, without checking its bounds. Raises BadOption."""
        text = text.strip().lower()
        if self.kind is OptionKind.FLAG:
            if text in ("yes", "true", "no", "false"):
                return text in ("yes", "true")
            raise BadOption(f"write yes or no, not {quote(text)}.")
        if self.kind is OptionKind.LIMIT and text == "none":
            return None
        if self.kind is OptionKind.NUMBERS:
            return tuple(_parse_number(part) for part in text.split(","))
        if self.kind is OptionKind.NAMES:
            return tuple(text.split(","))
        return text if self.kind is OptionKind.NAME else _parse_number(text)

    @staticmethod
    def format(value: OptionValue) -> str:
        """Return the text form of a value: one word without spaces."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple):
            return ",".join(map(str, value))
        return "none" if value is None else str(value)


def option(
    default: Any,
    help: str = "",
    *,
    minimum: int = 1,
    maximum: int = MAX_NUMBER,
    choices: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field for an option with help, bounds or a list of allowed names."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices}
    return dataclasses.field(default=default, metadata={_KEY: metadata})


@cache
def list_options(rules: type) -> tuple[Option, ...]:
    """Return the options of a class of rules, in order. Raises BadOption if a name is reserved."""
    for f in dataclasses.fields(rules):
        if f.name in RESERVED or f.name.startswith("no_"):  # --no-x switches the flag x off
            raise BadOption(
                f"{rules.__name__} must not have an option {quote(f.name)}: the name is reserved."
            )
    return tuple(
        Option(f.name, _find_kind(f.default), cast(OptionValue, f.default), **f.metadata.get(_KEY, {}))
        for f in dataclasses.fields(rules)
    )


def find_option(rules: type, name: str) -> Option:
    """Return the option with this name. Raises UnknownName if the game has none."""
    options = {option.name: option for option in list_options(rules)}
    if name not in options:
        supported = f"it has {', '.join(options)}" if options else "it has none"
        raise UnknownName(f"{cast(Any, rules).game.name} has no option {quote(name)}; {supported}.")
    return options[name]


def options_data(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """Return options as JSON data, with lists for tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def _find_kind(default: Any) -> OptionKind:
    if isinstance(default, bool):
        return OptionKind.FLAG
    if isinstance(default, tuple):
        return OptionKind.NAMES if default and isinstance(default[0], str) else OptionKind.NUMBERS
    if isinstance(default, str):
        return OptionKind.NAME
    return OptionKind.LIMIT if default is None else OptionKind.NUMBER


def _parse_number(text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise BadOption(f"{quote(text)} is not a whole number.")
    return int(text)
