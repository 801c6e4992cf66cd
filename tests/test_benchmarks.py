"""The benchmarks must not make of a peer that fails one that is slow; `make bench` runs all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duels.games import GAMES
from duels.solving.graph import explore

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_who_fails_is_not_given_up(tmp_path: Path) -> None:
    import solving

    with pytest.raises(RuntimeError, match="no-such-game"):
        solving.solved_once("opening", "no-such-game", {}, str(tmp_path))


def test_who_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import solving

    monkeypatch.setattr(solving, "LIMIT", 1)
    assert solving.solved_once("opening", "chain", {"cells": 13}, str(tmp_path)) is None


def test_every_state_is_found_within_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import solving_once

    begun: list[str] = []

    def timed(work: Callable[[], Any]) -> Any:
        begun.append("timed")
        return work()

    def walk(rules: Any) -> Any:
        begun.append("explored")
        return explore(rules)

    monkeypatch.setattr(solving_once, "timed", timed)
    monkeypatch.setattr(solving_once, "explore", walk)
    assert solving_once.solve("states", "lights", {})["states"] > 1
    assert begun == ["timed", "explored"]


def test_steps_are_rated_beside_steps() -> None:
    import bench_envs

    speeds = {"rollout": 30.0, "step by step": 6.0, "step by step, Pgx": 3.0, "rollout, Pgx": 9.0}
    cases = [
        bench_envs.Case(group, name, batch, lambda: 1, speed + (name in bench_envs.PGX))
        for group, speed in speeds.items()
        for name in (*bench_envs.PGX, *GAMES)
        for batch in bench_envs.BATCHES
    ]
    for peer in ("tictactoe_v3", "tictactoe_v3, raw"):
        cases.append(bench_envs.Case("PettingZoo's own", peer, 1, lambda: 1, 1.0))
    ratios = {aim.what: (aim.aim, aim.ratio) for aim in bench_envs.aims(cases)}
    for batch in (64, 1024, 16_384):
        for games, aim in (("flip", 1), ("the other four", 2)):
            assert ratios[f"batch of {batch:,}, step by step, {games}, by Pgx"] == (aim, 6 / 4)
