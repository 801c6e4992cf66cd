"""The examples learn perfect play."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="make jax-test installs it")

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_ppo_plays_lights_perfectly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop("jax_ppo", None)
    import jax_ppo

    assert jax_ppo.train_and_grade("lights", seeds=5, updates=100) == [0.0] * 5


def test_alphazero_plays_leap_perfectly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop("alphazero", None)
    import alphazero

    (_, before), (moves, after) = alphazero.train("leap", seed=0, iterations=10)
    assert (before, moves, after) == (0.5, 40_960, 0)
