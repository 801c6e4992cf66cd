"""RLlib on our environments: through Gymnasium's registry and its own PettingZoo wrapper."""

from typing import Any

import gymnasium
import pytest

from duels.envs import pettingzoo
from duels.envs.gymnasium import DuelEnv

pytestmark = pytest.mark.slow
pytest.importorskip("ray.rllib", reason="make trainers-test installs it")


def test_ppo_learns_against_an_opponent() -> None:
    from ray.rllib.algorithms.ppo import PPOConfig

    config = (
        PPOConfig()
        .environment("duels.envs.gymnasium:duels/Lights-v0", env_config={"lights": 4})
        .env_runners(num_env_runners=0)
        .training(train_batch_size=200, minibatch_size=50, num_epochs=1)
    )
    algorithm: Any = config.build_algo()
    results = algorithm.train()
    assert results["env_runners"]["num_episodes"] > 0
    algorithm.stop()


def test_rllibs_wrapper_plays_games() -> None:
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

    env = PettingZooEnv(pettingzoo.chain_v0.env(max_boards=2))
    observations, _ = env.reset(seed=1)
    over = False
    while not over:
        (agent,) = observations
        action = int(observations[agent]["action_mask"].argmax())
        observations, rewards, terminated, truncated, _ = env.step({agent: action})
        over = terminated["__all__"] or truncated["__all__"]
    assert set(rewards) <= {"player_1", "player_2"}


class Strict(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Fails on an illegal action."""

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        assert "illegal" not in result[-1]
        return result


def test_ppo_learns_with_the_mask() -> None:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

    register_env("strict", lambda arguments: Strict(DuelEnv("lights", **arguments)))
    names = ("observations", "action_mask")
    config = (
        PPOConfig()
        .environment("strict", env_config={"dict_observations": names})
        .env_runners(num_env_runners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size=200, minibatch_size=50, num_epochs=1)
    )
    algorithm: Any = config.build_algo()
    results = algorithm.train()
    algorithm.stop()
    assert results["env_runners"]["num_episodes"] > 0
