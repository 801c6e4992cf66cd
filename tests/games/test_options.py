"""Invalid options are rejected in one clear line."""

import inspect
from collections.abc import Callable
from dataclasses import make_dataclass
from importlib import import_module
from typing import Any

import click
import pytest

import duels
from duels.core.errors import BadOption, UnknownName
from duels.core.options import RESERVED, list_options
from duels.games import GAMES, find_game, resolve_rules
from duels.terminal.commands import cli
from duels.terminal.game_options import GameCommand


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("lights", {"lights": 0}, "lights must be at least 1 in lights, not 0."),
        ("lights", {"lights": 10**9}, "lights must be at most 10000000 in lights, not 1000000000."),
        ("leap", {"goal": -3}, "goal must be at least 1 in leap, not -3."),
        ("leap", {"goal": None}, "goal must be at least 1 in leap, not None."),
        ("leap", {"goal": "21"}, "goal must be a whole number in leap, not '21'."),
        ("lights", {"lights": 7.0}, "lights must be a whole number in lights, not 7.0."),
        ("lights", {"lights": True}, "lights must be a whole number in lights, not True."),
        ("chain", {"max_boards": 1.5}, "max_boards must be a whole number in chain, not 1.5."),
        ("chain", {"max_boards": 0}, "max_boards must be at least 1 in chain, not 0."),
        ("hunt", {"max_turns": 0}, "max_turns must be at least 1 in hunt, not 0."),
        ("flip", {"side": 4}, "'values' times 'copies' must equal the number of tiles, 'side' times 'side'."),
        ("flip", {"side": 10, "values": 10, "copies": 10}, "side must be at most 9 in flip, not 10."),
        ("flip", {"target": 39}, "'target' 39 is too high: the 25 tiles could run out."),
    ],
)
def test_rejects_an_option_without_a_game(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadOption, match=f"^{says}"):
        GAMES[name].rules(**options)


@pytest.mark.parametrize("name", GAMES)
def test_default_options_are_those_of_the_book(name: str) -> None:
    assert GAMES[name].rules().options() == {}


def test_accepts_numpy_numbers() -> None:
    size: Any = pytest.importorskip("numpy").int64(5)
    assert repr(GAMES["lights"].rules(lights=size)) == "Lights(lights=5)"


@pytest.mark.parametrize("name", [None, 3, "chess"])
def test_rejects_unknown_games(name: Any) -> None:
    with pytest.raises(UnknownName, match=f"There is no game '{name}'"):
        find_game(name)


def list_parameters(call: Callable[..., Any]) -> set[str]:
    """Return the parameters of a call that are not options."""
    named = inspect.signature(call).parameters.values()
    assert named
    return {parameter.name for parameter in named if parameter.kind is not parameter.VAR_KEYWORD}


@pytest.mark.parametrize("call", [duels.start, duels.exercises, resolve_rules])
def test_functions_with_options_have_only_reserved_parameters(call: Callable[..., Any]) -> None:
    assert list_parameters(call) <= RESERVED


@pytest.mark.parametrize(
    ("needs", "module", "names"),
    [
        ("numpy", "duels", ("exploitability", "exploitability_bounds", "table_of")),
        ("numpy", "duels.vector", ("make",)),
        ("gymnasium", "gymnasium", ("make", "make_vec")),
        ("gymnasium", "duels.envs.gymnasium", ("DuelEnv", "DuelVectorEnv")),
        ("pettingzoo", "pettingzoo", ("make",)),
        ("pettingzoo", "duels.envs.pettingzoo", ("env", "raw_env", "DuelEnv")),
        ("pyspiel", "duels.envs.openspiel", ("load_game",)),
    ],
)
def test_optional_functions_have_only_reserved_parameters(
    needs: str, module: str, names: tuple[str, ...]
) -> None:
    pytest.importorskip(needs)
    for name in names:
        assert list_parameters(getattr(import_module(module), name)) <= RESERVED


def test_command_flags_are_reserved_names() -> None:
    context = click.Context(cli)
    all_commands = (cli.get_command(context, name) for name in cli.list_commands(context))
    commands = [command for command in all_commands if isinstance(command, GameCommand)]
    assert commands
    for command in commands:
        flags = {flag for param in command.params for flag in param.opts if flag.startswith("--")}
        assert {flag.removeprefix("--").replace("-", "_") for flag in flags} <= RESERVED


@pytest.mark.parametrize("name", [*sorted(RESERVED), "no_luck"])
def test_rejects_options_with_reserved_names(name: str) -> None:
    rules = make_dataclass("Heap", [(name, int, 3)], frozen=True)
    with pytest.raises(BadOption, match=f"^Heap must not have an option '{name}': the name is reserved.$"):
        list_options(rules)
