"""The code on the page about JAX runs; the other pages are tested without JAX."""

import re
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="make jax-test installs it")

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).parents[2] / "docs" / "environments" / "jax.md").read_text(encoding="utf-8")
PIECES = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("piece", PIECES, ids=range(1, len(PIECES) + 1))
def test_every_code_block_runs(piece: str) -> None:
    exec(compile(piece, "docs", "exec"), {})
