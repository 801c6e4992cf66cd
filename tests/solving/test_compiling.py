"""Compiled code without a writable cache."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numba")
STEP = 3

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # what numba is left with where all is read-only
import half
assert half.half(9) == 4.5
print(type(half.half._cache).__name__)
"""


@pytest.mark.parametrize(("writable", "cache"), [(True, "FunctionCache"), (False, "NullCache")])
def test_compiled_code_is_cached_where_possible(writable: bool, cache: str, tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(
        "from duels.solving.compiling import cached_njit\n\n"
        "@cached_njit(nogil=True)\n"
        "def half(number):\n"
        "    return number / 2\n"
    )
    lines = PROGRAM.format(folder=str(tmp_path)).splitlines()
    program = "\n".join(line for line in lines if not (writable and "_locator_classes" in line))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == cache


def count_steps(bits: int) -> int:
    return bits.bit_count() * add(STEP, 0)


def add(one: int, two: int) -> int:
    return one + two


def add_one_more(one: int, two: int) -> int:
    return one + two + 1


def test_compiling_leaves_the_functions_unchanged() -> None:
    from duels.solving.compiling import compile_functions

    plain: dict[str, Callable[..., int]] = {"count_steps": count_steps, "add": add}
    assert compile_functions(plain, ("count_steps",))["count_steps"](0b1011) == count_steps(0b1011) == 9


def test_replaced_functions_are_compiled_separately() -> None:
    from duels.solving.compiling import compile_functions

    names = []
    for other in (add, add_one_more):
        cached_njit = compile_functions({"count_steps": count_steps, "add": other}, ("count_steps",))
        names.append(cached_njit["count_steps"].__qualname__)
        assert cached_njit["count_steps"](1) == other(STEP, 0)
    assert len(set(names)) == 2, "otherwise the cache would confuse the two"
