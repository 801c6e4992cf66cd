"""The benchmark plays legal actions and compares equal games."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="make jax-test installs it")

from duels.games import GAMES  # noqa: E402

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import jax_envs

    return jax_envs


def test_the_random_player_is_uniform(bench: Any) -> None:
    mask = np.zeros((4000, 90), bool)
    mask[:, [0, 7, 44, 89]] = True
    chosen, keys = map(np.asarray, bench.player(jax.random.PRNGKey(0), mask))
    counts = np.bincount(chosen, minlength=90)
    assert set(np.flatnonzero(counts)) == {0, 7, 44, 89}
    assert counts[counts > 0].min() > 700
    assert len(np.unique(keys, axis=0)) == len(mask)


def test_ratios_compare_equal_games(bench: Any) -> None:
    speeds = {**dict.fromkeys(GAMES, 6.0), "tic_tac_toe": 3.0, "2048": 1.0}
    cases = [bench.Case("rollout", name, 1, 1, lambda: 1.0, speed) for name, speed in speeds.items()]
    ratios = {(row["game"], row["peer"]): row["ratio"] for row in bench.ratios(cases)}
    assert ratios["flip", "2048"] == 6
    assert ratios["lights", "tic_tac_toe"] == 2
