"""The examples in docstrings run and print what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import duels
from duels.core.errors import DuelsError

SOURCE = Path(duels.__file__).parent
PUBLIC = {name: getattr(duels, name) for name in dir(duels) if name != "vector"}
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_show(name: str) -> None:
    try:
        module = import_module(name)
    except (ImportError, DuelsError) as missing:
        pytest.skip(f"{name} needs an extra: {missing}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("vector", "make"),
        ("envs.gymnasium", "DuelEnv"),
        ("envs.gymnasium", "DuelVectorEnv"),
        ("envs.gymnasium", "register"),
        ("envs.pettingzoo", "DuelEnv"),
        ("envs.pettingzoo", "raw_env"),
        ("envs.pettingzoo", "register"),
        ("envs.openspiel", "load_game"),
        ("envs.openspiel", "register"),
        ("envs.conformance", "check_environments"),
    ],
)
def test_environments_have_examples(module: str, name: str) -> None:
    assert ">>> " in getattr(import_module(f"duels.{module}"), name).__doc__


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if callable(value)])
def test_public_names_have_examples(name: str) -> None:
    assert ">>> " in (PUBLIC[name].__doc__ or ""), name
