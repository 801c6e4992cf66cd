"""Errors about a missing extra name it."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

from duels.core.errors import DuelsError, MissingExtra, require_extra

ROOT = Path(__file__).parent.parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
NEEDS = [
    ("import duels.envs.gymnasium", "rl", ["gymnasium", "numpy"]),
    ("import duels.envs.gymnasium", "rl", ["gymnasium"]),
    ("import duels.envs.pettingzoo", "rl", ["pettingzoo"]),
    ("import duels.envs.pettingzoo", "rl", ["pettingzoo", "gymnasium", "numpy"]),
    ("import duels.envs.openspiel", "openspiel", ["pyspiel"]),
    ("import duels.envs.openspiel", "openspiel", ["pyspiel", "numpy"]),
    ("import duels.vector", "vector", ["numpy"]),
    ("duels.vector", "vector", ["numpy"]),
    ("duels.exploitability", "vector", ["numpy"]),
    ("duels.table_of", "vector", ["numpy"]),
]


@pytest.mark.parametrize(("statement", "name", "missing"), NEEDS)
def test_errors_name_the_extra(statement: str, name: str, missing: list[str]) -> None:
    program = "\n".join(
        [
            "import sys, duels",
            *(f"sys.modules[{package!r}] = None" for package in missing),
            "try:",
            f"    {statement}",
            "except ImportError as error:",
            "    print(error)",
        ]
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip().endswith(f"pip install 'duels[{name}]', or '.[{name}]' in its folder.")
    assert len(result.stdout.splitlines()) == 1


def test_a_missing_extra_is_a_duels_error_and_an_import_error() -> None:
    with pytest.raises(MissingExtra, match="This needs nothing_of_the_kind") as caught, require_extra("rl"):
        import_module("nothing_of_the_kind")
    assert isinstance(caught.value, DuelsError)
    assert caught.value.name == "nothing_of_the_kind"


def test_extras_do_not_overlap() -> None:
    for one, other in combinations(EXTRAS, 2):
        assert set(EXTRAS[one]) != set(EXTRAS[other]), (one, other)


def test_every_extra_that_is_mentioned_exists() -> None:
    named: dict[str, Path] = {}
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        named |= dict.fromkeys(re.findall(r"\b(?:extra|to_install)\(['\"](\w+)['\"]\)", source), path)
        named |= dict.fromkeys(re.findall(r"\bextra [`'](\w+)[`']", source), path)
    for path in (ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for names in re.findall(r"(?:duels|'\.)\[([a-z,]+)\]", text):
            named |= dict.fromkeys(names.split(","), path)
        named |= dict.fromkeys(re.findall(r"\bextra `(\w+)`", text), path)
    assert {"fast", "rl", "vector", "openspiel", "data"} <= named.keys()
    assert not {name: path for name, path in named.items() if name not in EXTRAS}
