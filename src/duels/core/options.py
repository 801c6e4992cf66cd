"""The options of rules: what they may be, how they are checked, and how they are written as text.

An option is a field of a rules dataclass. Its kind follows from its default: a number (`lights: int = 7`),
a limit (`max_turns: int | None = None`), a flag (`misere: bool = False`), a name (`board: str = "flat"`), or
a tuple of numbers or names (`heaps: tuple[int, ...] = (3, 5, 7)`).
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, cast

from duels.core.errors import BadOption, quote
from duels.core.validation import as_int

OptionValue = int | bool | str | tuple[int, ...] | tuple[str, ...] | None

# What is said of a match, an environment or a measurement beside the options of its rules; what Gymnasium and
# PettingZoo take for themselves where an environment is made by its name; what the commands take.
_TAKEN = """
agent autoreset autoreset_mode base_url batch copy dict_observations dtype first game grade
limit_ends max_moves memory num_envs opponent policy render_mode seat seed disable_env_checker env_type id
max_cycles max_episode_steps vector_kwargs vectorization_mode wrappers against all board chance count
format games help jobs json matches out pace plain player position save seat1 seat2 verify key_env
"""
RESERVED = frozenset(_TAKEN.split())
"""Names that no option may have: what is called with options would take them for its own."""
MAX_NUMBER = 10_000_000
_KEY = "duels.option"
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_DIGITS = re.compile(r"-?[0-9]{1,9}")


class OptionKind(Enum):
    """What an option holds."""

    NUMBER = "number"
    LIMIT = "limit"
    FLAG = "flag"
    NAME = "name"
    NUMBERS = "numbers"
    NAMES = "names"


@dataclass(frozen=True)
class Option:
    """One option of some rules."""

    name: str
    kind: OptionKind
    default: OptionValue
    help: str = ""
    minimum: int = 1
    maximum: int = MAX_NUMBER
    choices: tuple[str, ...] = ()
    """The names it may have; empty for any."""

    def check(self, value: Any, game: str) -> OptionValue:
        """Return the value as rules store it; raise BadOption if it is not allowed."""
        if self.kind is OptionKind.FLAG:
            if not isinstance(value, bool):
                raise BadOption(f"{self.name} is True or False in {game}, not {value!r}.")
            return value
        if self.kind is OptionKind.LIMIT and value is None:
            return None
        if self.kind in (OptionKind.NUMBERS, OptionKind.NAMES):
            if not isinstance(value, tuple | list) or not value:
                what = f"a list of one or more {self.kind.value}"
                raise BadOption(f"{self.name} is {what} in {game}, not {value!r}.")
            one = self._number if self.kind is OptionKind.NUMBERS else self._word
            return tuple(one(part, game) for part in value)
        checked: OptionValue = (self._word if self.kind is OptionKind.NAME else self._number)(value, game)
        return checked

    def _number(self, value: Any, game: str) -> Any:
        number = 0 if value is None else as_int(value)
        if number is None:
            raise BadOption(f"{self.name} is a whole number in {game}, not {value!r}.")
        each = "each of " if self.kind is OptionKind.NUMBERS else ""
        if number < self.minimum:
            raise BadOption(f"{each}{self.name} is at least {self.minimum} in {game}, not {value}.")
        if number > self.maximum and self.kind is not OptionKind.LIMIT:
            raise BadOption(f"{each}{self.name} is at most {self.maximum} in {game}, not {number}.")
        return number

    def _word(self, value: Any, game: str) -> Any:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise BadOption(f"{self.name} is a name in {game}, not {value!r}.")
        if self.choices and value not in self.choices:
            raise BadOption(f"{self.name} is one of {', '.join(self.choices)} in {game}, not {quote(value)}.")
        return value

    def parse(self, text: str) -> OptionValue:
        """Read what `format` writes; raise BadOption if that fails. The value still has to be checked."""
        text = text.strip().lower()
        if self.kind is OptionKind.FLAG:
            if text in ("yes", "true", "no", "false"):
                return text in ("yes", "true")
            raise BadOption(f"{quote(text)} is neither yes nor no.")
        if self.kind is OptionKind.LIMIT and text == "none":
            return None
        if self.kind is OptionKind.NUMBERS:
            return tuple(_read_number(part) for part in text.split(","))
        if self.kind is OptionKind.NAMES:
            return tuple(text.split(","))
        return text if self.kind is OptionKind.NAME else _read_number(text)

    @staticmethod
    def format(value: OptionValue) -> str:
        """One word, without spaces."""
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
    """The options of a class of rules, in its own order; BadOption if one of them has a name it may not."""
    for f in dataclasses.fields(rules):
        if f.name in RESERVED or f.name.startswith("no_"):  # --no-x is how the flag x is taken away
            raise BadOption(f"No option may be called {quote(f.name)}, as one of {rules.__name__} is.")
    return tuple(
        Option(f.name, _kind(f.default), cast(OptionValue, f.default), **f.metadata.get(_KEY, {}))
        for f in dataclasses.fields(rules)
    )


def options_data(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """Return options as JSON has them: a tuple is a list."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def _kind(default: Any) -> OptionKind:
    if isinstance(default, bool):
        return OptionKind.FLAG
    if isinstance(default, tuple):
        return OptionKind.NAMES if default and isinstance(default[0], str) else OptionKind.NUMBERS
    if isinstance(default, str):
        return OptionKind.NAME
    return OptionKind.LIMIT if default is None else OptionKind.NUMBER


def _read_number(text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise BadOption(f"{quote(text)} is not a whole number.")
    return int(text)
