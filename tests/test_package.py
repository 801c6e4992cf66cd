"""The package `duels`: light, complete, typed, and equal at run time and for a type checker."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import duels
from duels.games import GAMES

ROOT = Path(__file__).parent.parent
NEEDS_NUMPY = {
    "best_responses",
    "exploitability",
    "exploitability_bounds",
    "mask_agent",
    "exploitability_over_seeds",
    "policy_of",
    "table_of",
    "vector",
}
PUBLIC = sorted(name for name in dir(duels) if not name.startswith("_"))


def printed(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return result.stdout


def test_importing_the_package_loads_little() -> None:
    modules = printed("import sys, duels; print(*sys.modules)").split()
    assert not {"click", "platformdirs", "numpy"} & {module.split(".")[0] for module in modules}
    assert "importlib.metadata" not in modules


def test_every_listed_name_exists() -> None:
    assert all(hasattr(duels, name) for name in PUBLIC)


def test_only_computing_names_need_numpy() -> None:
    names = sorted(set(PUBLIC) - NEEDS_NUMPY)
    assert printed(f"import sys; sys.modules['numpy'] = None; from duels import {', '.join(names)}") == ""


def test_dir_lists_names_before_use() -> None:
    names = {name for name in printed("import duels; print(*dir(duels))").split() if name[0] != "_"}
    assert names == set(PUBLIC)
    assert names >= NEEDS_NUMPY


def test_games_is_a_package_with_a_list_function() -> None:
    import duels.games.hunt.rules as rules

    assert duels.all_games()[: len(GAMES)] == tuple(GAMES.values())
    assert duels.games.hunt.rules is rules


def test_the_version_is_the_installed_one() -> None:
    assert duels.__version__ == version("duels")
    with pytest.raises(AttributeError, match="nothing"):
        _ = duels.nothing  # type: ignore[attr-defined]


def test_the_package_is_a_command() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "duels", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"duels {duels.__version__}\n"


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the output of `mypy --strict`, without settings, for a user's file and every name."""
    folder = tmp_path_factory.mktemp("user")
    user_file = ROOT / "tests" / "typing" / "user_file.py"
    (folder / "user_file.py").write_bytes(user_file.read_bytes())
    names = folder / "names.py"
    lines = [*(f"reveal_type(duels.{name})" for name in (*PUBLIC, "__version__")), "duels.nothing"]
    names.write_text("import duels\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-pretty"),
            *("--cache-dir", str(ROOT / ".mypy_cache" / "user"), "user_file.py", "names.py"),
        ],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(Path(duels.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not result.stderr
    return result.stdout.splitlines()


def test_a_users_file_is_typed(checked: list[str]) -> None:
    assert [line for line in checked if line.startswith("user_file.py")] == []


def test_detects_a_missing_name(checked: list[str]) -> None:
    errors = [line for line in checked if ": error: " in line]
    assert len(errors) == 1
    assert 'Module has no attribute "nothing"' in errors[0]


@pytest.mark.parametrize("name", [*PUBLIC, "__version__"])
def test_every_public_name_is_typed(name: str, checked: list[str]) -> None:
    line = 2 + [*PUBLIC, "__version__"].index(name)
    (line_text,) = (text for text in checked if text.startswith(f"names.py:{line}:"))
    revealed: Any = re.search(r'Revealed type is "(.*)"', line_text)
    assert revealed
    assert revealed[1] != "Any"
    assert not revealed[1].endswith("-> Any")
