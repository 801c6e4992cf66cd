"""A game under OpenSpiel's parameters: its rules, and the integers of what can be done."""

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from duels.analysis.shown import Shown
from duels.core.errors import BadOption
from duels.core.features import action_numbers, said
from duels.core.game import Game
from duels.core.options import Kind, Option, OptionValue, options_of
from duels.core.rules import CHANCE, AnyRules

# Some duels can go on for ever. OpenSpiel wants an end: after so many moves nobody has won, unless
# `max_moves` is 0, for algorithms that can do with a game that comes back to where it was.
MAX_MOVES = 100
UNLIMITED = 1000  # what is then said to be the longest game, and remembered of one

SEPARATOR = ";"  # OpenSpiel keeps the comma for itself

Parameter = int | bool | str
Parameters = tuple[tuple[str, Parameter], ...]


class SpielForm:
    """A game under some parameters: its rules, and the integers of what can be done."""

    def __init__(self, game: Game, parameters: Parameters) -> None:
        self._made_of = game, parameters
        given = dict(parameters)
        self.max_moves = int(given.pop("max_moves"))
        if self.max_moves < 0:
            raise BadOption(f"max_moves is 0 (no limit) or more in {game.name}, not {self.max_moves}.")
        options = {option.name: option for option in options_of(game.rules_class())}
        self.rules = game.rules(**{name: _value_of(options[name], value) for name, value in given.items()})
        # A limit is an end like any other here, so what is left of it is part of the position.
        self.shown = Shown(self.rules, with_left=True)
        self.describe = game.find("features", "describe") or _describe_fields
        self.actions = self.rules.all_actions()
        self.outcomes = self.rules.all_outcomes()
        self.number = action_numbers(self.rules)
        self.number |= {outcome: number for number, outcome in enumerate(self.outcomes)}
        self.longest = self.max_moves or UNLIMITED
        # A move may be followed by chance, and chance may come before the first.
        self.most_chance = self.longest + _opening(self.rules) if self.outcomes else 0

    def __reduce__(self) -> Any:
        return _cached_form, self._made_of


def _describe_fields(view: Any) -> str:
    """The view of a game that does not describe it: field by field."""
    if not is_dataclass(view):
        return _plain(view)
    return " ".join(f"{f.name}={_plain(getattr(view, f.name))}" for f in fields(view))


def _plain(value: Any) -> str:
    return ",".join(map(_plain, value)) or "-" if isinstance(value, tuple) else said(value)


def _opening(rules: AnyRules) -> int:
    """How many chance nodes come before the first decision."""
    state, nodes = rules.initial(), 0
    while rules.actor(state) is CHANCE:
        state, nodes = rules.apply(state, rules.actions(state)[0]).state, nodes + 1
    return nodes


@lru_cache(maxsize=64)
def _cached_form(game: Game, parameters: Parameters) -> SpielForm:
    return SpielForm(game, parameters)


def form_of(game: Game, given: dict[str, Parameter]) -> SpielForm:
    return _cached_form(game, tuple(sorted({**parameters_of(game), **given}.items())))


def parameters_of(game: Game) -> dict[str, Parameter]:
    """What OpenSpiel is told of the options: their names, kinds and defaults."""
    options = {option.name: parameter_of(option.default) for option in options_of(game.rules_class())}
    return options | {"max_moves": MAX_MOVES}


def parameter_of(value: OptionValue) -> Parameter:
    if isinstance(value, tuple):
        return SEPARATOR.join(map(str, value)) + SEPARATOR * (len(value) == 1)
    return 0 if value is None else value


def _value_of(option: Option, parameter: Parameter) -> OptionValue:
    if option.kind in (Kind.NUMBERS, Kind.NAMES):
        return option.parse(str(parameter).strip(SEPARATOR).replace(SEPARATOR, ","))
    return None if option.kind is Kind.LIMIT and parameter == 0 else parameter
