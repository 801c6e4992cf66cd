"""TorchRL on our environments, as its users run it."""

from typing import Any

import gymnasium
import pytest

import duels.envs.gymnasium  # noqa: F401  (registers the games)
from duels.envs import pettingzoo
from duels.games import GAMES

pytestmark = pytest.mark.slow
envs = pytest.importorskip("torchrl.envs", reason="make trainers-test installs it")


def is_legal(steps: Any) -> bool:
    return bool(steps["action_mask"].gather(-1, steps["action"].unsqueeze(-1)).all())


@pytest.mark.parametrize("game", GAMES)
def test_gym_env_takes_the_id_alone(game: str) -> None:
    name = f"duels/{game.title()}-v0"
    assert envs.GymEnv(name).rollout(3).batch_size[0] > 0
    env = envs.GymEnv(name, dict_observations=True, bool_masks=True, categorical_action_encoding=True)
    envs.check_env_specs(env)
    steps = envs.TransformedEnv(env, envs.ActionMask()).rollout(300, break_when_any_done=False)
    assert is_legal(steps)
    assert steps["next", "done"].any()


def test_vector_environments_leave_resets_to_it() -> None:
    def wrap(mode: str) -> Any:
        made = gymnasium.make_vec(
            "duels/Lights-v0", 4, autoreset_mode=mode, dict_observations=True, bool_masks=True
        )
        return envs.TransformedEnv(envs.GymWrapper(made, categorical_action_encoding=True), envs.ActionMask())

    steps = wrap("Disabled").rollout(40, break_when_any_done=False)
    assert is_legal(steps)
    ended = steps["next", "done"].squeeze(-1)
    assert ended.sum() > 8
    assert (steps["next", "reward"].squeeze(-1).abs() == ended).all()
    with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
        wrap("NextStep")


def test_both_seats_play_through_its_wrapper_of_pettingzoo() -> None:
    env = envs.PettingZooWrapper(pettingzoo.lights_v0.env(), use_mask=True)
    steps = env.rollout(20)
    rewards = [steps["next", agent, "reward"].sum().item() for agent in ("player_1", "player_2")]
    assert sorted(rewards) == [-1, 1]
