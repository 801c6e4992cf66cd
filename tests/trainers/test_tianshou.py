"""Tianshou on our environments, through its own PettingZoo wrapper."""

from typing import Any

import numpy as np
import pytest

from duels.envs import pettingzoo
from duels.envs.gymnasium import DuelEnv
from duels.games import GAMES

pytestmark = pytest.mark.slow
zoo = pytest.importorskip("tianshou.env.pettingzoo_env", reason="make trainers-test installs it")


@pytest.mark.parametrize("game", GAMES)
def test_tianshous_wrapper_plays_games(game: str) -> None:
    limits: dict[str, Any] = {"chain": {"max_boards": 2}, "hunt": {"max_turns": 10}}
    env = zoo.PettingZooEnv(pettingzoo.env(game, **limits.get(game, {})))
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            assert observation["agent_id"] in env.agents
            legal = np.flatnonzero(observation["mask"])
            observation, rewards, terminated, truncated, _ = env.step(int(legal[0]))
            over = terminated or truncated
        assert len(rewards) == 2
        assert sum(rewards) == 0


def test_dqn_learns_with_the_mask() -> None:
    import torch
    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode

    arguments: Any = {"max_boards": 2, "dict_observations": ("obs", "mask")}
    envs: Any = DummyVectorEnv([lambda: DuelEnv("chain", **arguments) for _ in range(2)])
    space, actions = envs.observation_space[0]["obs"], envs.action_space[0]
    torch.manual_seed(1)
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=space.shape, action_shape=actions.n, hidden_sizes=[32]),
        action_space=actions,
        eps_training=0.5,
    )
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))
    buffer = VectorReplayBuffer(200, 2)
    collector: Any = Collector(algorithm, envs, buffer)
    collector.reset()
    with policy_within_training_step(policy):
        collector.collect(n_step=150)
    played = buffer.sample(0)[0]
    assert (np.take_along_axis(played.obs.mask, played.act[:, None], axis=1) == 1).all()
    with torch_train_mode(algorithm), policy_within_training_step(policy):
        assert np.isfinite(algorithm.update(buffer, sample_size=64).loss)
