"""Without an extra, what needs it says which one it needs."""

import subprocess
import sys
from importlib import import_module

import pytest

from duels.core.errors import DuelsError
from duels.core.extras import MissingExtra, extra

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
    ("duels.vector.make('chain', compiled=True)", "fast", ["numba"]),
    ("duels.vector.make('flip', compiled=True)", "fast", ["numba"]),
]


@pytest.mark.parametrize(("statement", "name", "missing"), NEEDS)
def test_the_extra_is_named(statement: str, name: str, missing: list[str]) -> None:
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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(f"pip install 'duels[{name}]', or '.[{name}]' in its folder.")
    assert len(done.stdout.splitlines()) == 1


def test_it_is_an_error_of_ours_and_pythons() -> None:
    with pytest.raises(MissingExtra, match="This needs nothing_of_the_kind") as caught, extra("rl"):
        import_module("nothing_of_the_kind")
    assert isinstance(caught.value, DuelsError)
    assert caught.value.name == "nothing_of_the_kind"
