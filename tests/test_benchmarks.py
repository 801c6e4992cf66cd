"""A benchmark must not report a peer that fails as slow; `make bench` runs all of them."""

from pathlib import Path

import pytest

from duels.games import GAMES

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def _add_folder_to_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_a_failed_benchmark_is_an_error(tmp_path: Path) -> None:
    import solving

    with pytest.raises(RuntimeError, match="no-such-game"):
        solving.measure_solving("opening", "no-such-game", {}, str(tmp_path))


def test_a_slow_benchmark_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import solving

    monkeypatch.setattr(solving, "LIMIT", 1)
    assert solving.measure_solving("theirs", "chain", {"cells": 13}, str(tmp_path)) is None


def test_ratios_compare_with_the_fastest_peer() -> None:
    import bench_envs

    speeds = {
        bench_envs.BATCHED: 6.0,
        bench_envs.PGX_BATCHED: 3.0,
        bench_envs.SINGLE: 20_000.0,
        bench_envs.MANY: 90_000.0,
        bench_envs.PETTINGZOO: 5.0,
        bench_envs.PETTINGZOO_OWN: 2.0,
    }
    cases = [
        bench_envs.Case(group, name, batch, lambda: 1, speed + (name == bench_envs.PGX[1]))
        for group, speed in speeds.items()
        for name in (*bench_envs.PGX, *GAMES, "tictactoe_v3")
        for batch in (1, *bench_envs.BATCHES, bench_envs.AGAINST)
    ]
    for row in bench_envs.summarize(cases)["games"]:
        assert row["by_pgx"] == {"64": 1.5, "1024": 1.5, "16384": 1.5}
        assert (row["by_pettingzoo"], row["against_best"]) == (2.5, 20_000)
