"""Compiled code without a folder to keep it in."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # what numba is left with where all is read-only
import half
assert half.half(9) == 4.5
print(type(half.half._cache).__name__)
"""


@pytest.mark.parametrize(("kept", "cache"), [(True, "FunctionCache"), (False, "NullCache")])
def test_it_is_kept_where_it_can_be_and_runs_all_the_same(kept: bool, cache: str, tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(
        "from duels.solving.compiling import compiled\n\n"
        "@compiled(nogil=True)\n"
        "def half(number):\n"
        "    return number / 2\n"
    )
    lines = PROGRAM.format(folder=str(tmp_path)).splitlines()
    program = "\n".join(line for line in lines if not (kept and "_locator_classes" in line))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == cache
