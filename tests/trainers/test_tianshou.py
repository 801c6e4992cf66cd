"""Tianshou on our environments, through its own wrapper of PettingZoo's."""

from typing import Any

import numpy as np
import pytest

from duels.envs import pettingzoo
from duels.games import GAMES

pytestmark = pytest.mark.slow
zoo = pytest.importorskip("tianshou.env.pettingzoo_env", reason="make trainers-test installs it")


@pytest.mark.parametrize("game", GAMES)
def test_its_wrapper_plays_games(game: str) -> None:
    limits: dict[str, Any] = {"chain": {"max_boards": 2}, "hunt": {"max_turns": 10}}
    env = zoo.PettingZooEnv(pettingzoo.env(game, **limits.get(game, {})))
    for seed in range(3):
        shown, _ = env.reset(seed=seed)
        over = False
        while not over:
            assert shown["agent_id"] in env.agents
            legal = np.flatnonzero(shown["mask"])
            shown, rewards, terminated, truncated, _ = env.step(int(legal[0]))
            over = terminated or truncated
        assert len(rewards) == 2
        assert sum(rewards) == 0
