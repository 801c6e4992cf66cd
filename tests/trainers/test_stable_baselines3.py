"""Stable-Baselines3 on our environments, as its users run it."""

import doctest
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import duels.envs.gymnasium  # noqa: F401  (registers the games)
from duels.core.errors import DuelsError
from duels.games import GAMES

pytestmark = pytest.mark.slow
env_util = pytest.importorskip("stable_baselines3.common.env_util", reason="make trainers-test installs it")


@pytest.mark.parametrize("game", GAMES)
def test_make_vec_env(game: str) -> None:
    envs: Any = env_util.make_vec_env(f"duels/{game.title()}-v0", n_envs=3, seed=1)
    envs.reset()
    for _ in range(20):
        masks = envs.env_method("action_masks")
        observations, rewards, _, _ = envs.step(np.array([mask.argmax() for mask in masks]))
        assert observations.shape == (3, *envs.observation_space.shape)
        assert rewards.shape == (3,)
    pictures = envs.get_images()
    assert [picture.dtype for picture in pictures] == [np.uint8] * 3
    assert envs.render("rgb_array").ndim == 3  # all of them, tiled


def test_the_example_in_the_docstring_runs() -> None:
    from duels.envs import stable_baselines3

    result = doctest.testmod(stable_baselines3)
    assert result.attempted
    assert not result.failed


def test_worker_processes() -> None:
    from stable_baselines3.common.vec_env import SubprocVecEnv

    # A new process needs the module that registers the games.
    name = "duels.envs.gymnasium:duels/Leap-v0"
    envs: Any = env_util.make_vec_env(
        name, n_envs=2, seed=1, vec_env_cls=SubprocVecEnv, env_kwargs={"opponent": "club"}
    )
    try:
        assert envs.reset().shape[0] == 2
        envs.step(np.zeros(2, int))
    finally:
        envs.close()


def test_learners_learn() -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import DQN, PPO

    envs: Any = env_util.make_vec_env("duels/Chain-v0", n_envs=2, env_kwargs={"max_boards": 2})
    MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=32, seed=1).learn(256)
    PPO("MlpPolicy", envs, n_steps=64, batch_size=32, seed=1).learn(256)
    DQN("MlpPolicy", envs, learning_starts=50, seed=1).learn(200)


@pytest.mark.parametrize("learner", ["MaskablePPO", "DQN"])
def test_the_dtype_of_observations_does_not_affect_learning(learner: str) -> None:
    import sb3_contrib
    import stable_baselines3
    import torch

    learned = []
    for dtype in ("float32", "int8"):
        envs: Any = env_util.make_vec_env("duels/Chain-v0", 2, seed=1, env_kwargs={"dtype": dtype})
        if learner == "DQN":
            model: Any = stable_baselines3.DQN("MlpPolicy", envs, learning_starts=50, seed=1)
        else:
            model = sb3_contrib.MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=32, seed=1)
        learned.append(model.learn(256).policy.state_dict())
    assert all(torch.equal(weights, learned[1][name]) for name, weights in learned[0].items())


@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        ("chain", {"opponent": "club", "max_boards": 2, "seat": "random", "dict_observations": True}),
        ("hunt", {"max_turns": 10, "limit_ends": "draw", "dtype": "int8"}),
        ("flip", {}),
    ],
)
def test_maskable_ppo_learns_on_arrays(game: str, arguments: dict[str, Any]) -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor

    from duels.envs.stable_baselines3 import DuelVecEnv

    envs = DuelVecEnv(game, 16, **arguments)
    policy = "MultiInputPolicy" if arguments.get("dict_observations") else "MlpPolicy"
    model = MaskablePPO(policy, VecMonitor(envs), n_steps=32, batch_size=64, seed=1).learn(1024)
    # A legal action every time: an illegal one would end games at once.
    assert np.mean([episode["l"] for episode in model.ep_info_buffer]) > 1
    envs.env_method("set_opponent", "random")
    observations, masks = envs.reset(), np.stack(envs.env_method("action_masks"))
    actions, _ = model.predict(observations, action_masks=masks)
    _, rewards, dones, infos = envs.step(actions)
    assert rewards.shape == dones.shape == (16,) == (len(infos),)


def test_a_finished_game_gives_its_last_observation() -> None:
    from duels.envs.stable_baselines3 import DuelVecEnv

    envs = DuelVecEnv("chain", 8, max_boards=1)
    envs.seed(3)
    envs.reset()
    truncated = []
    for _ in range(60):
        masks = np.stack(envs.env_method("action_masks"))
        _, _, dones, infos = envs.step(masks.argmax(axis=1))
        for info in np.array(infos)[dones]:
            assert info["terminal_observation"] in envs.observation_space
            truncated.append(info["TimeLimit.truncated"])
        assert {info["TimeLimit.truncated"] for info in np.array(infos)[~dones]} <= {False}
        assert all("TimeLimit.truncated" not in info for info in envs.reset_infos)
    assert set(truncated) == {True, False}


def test_every_game_has_its_own_info() -> None:
    from duels.envs.stable_baselines3 import DuelVecEnv

    envs: Any = DuelVecEnv("chain", 4, seat="random", grade=True, max_boards=2)
    envs.seed(3)
    envs.reset()
    seats = envs.get_attr("seats")
    assert set(seats) == {1, 2}
    assert [info["seat"] for info in envs.reset_infos] == seats == envs.get_attr("seat")
    masks = np.stack(envs.env_method("action_masks"))
    assert (masks == [info["action_mask"] for info in envs.reset_infos]).all()
    actions = masks.argmax(axis=1)
    actions[0] = masks[0].argmin()
    _, _, dones, infos = envs.step(actions)
    assert dones.tolist() == [True, False, False, False]
    assert (infos[0]["illegal"], infos[0]["regret"], infos[0]["value"]) == (True, 0.5, 0)
    assert not infos[0]["action_mask"].any()
    assert envs.reset_infos[0]["value"] == 0.5
    assert all("illegal" not in info and info["regret"] >= 0 for info in infos[1:])
    with pytest.raises(DuelsError, match="leave out autoreset_mode"):
        DuelVecEnv("chain", 4, autoreset_mode="NextStep")
    with pytest.raises(DuelsError, match="in Stable-Baselines3, with its make_vec_env"):
        DuelVecEnv("chain", 4, render_mode="rgb_array")
    with pytest.raises(DuelsError, match="takes no options"):
        envs.set_options({"cells": 9})


def test_probabilities_are_graded_and_samples_refused() -> None:
    from sb3_contrib import MaskablePPO

    import duels
    from duels.envs.stable_baselines3 import DuelVecEnv

    model = MaskablePPO("MlpPolicy", DuelVecEnv("leap", 4), n_steps=32, seed=0)
    policy: Any = model.policy

    def odds(observations: Any, masks: Any) -> Any:
        tensor = policy.obs_to_tensor(observations)[0]
        return policy.get_distribution(tensor, action_masks=masks).distribution.probs.detach()

    untrained = duels.exploitability_over_seeds(lambda seed: odds, "leap", seeds=1)
    assert untrained.median == pytest.approx(duels.exploitability("random", "leap"), abs=0.05)
    with pytest.raises(DuelsError, match=r"different answers .*deterministic=True"):
        duels.exploitability_over_seeds(
            lambda seed: lambda seen, masks: model.predict(seen, action_masks=masks)[0], "leap"
        )


def test_indices_select_games() -> None:
    from duels.envs.stable_baselines3 import DuelVecEnv

    envs: Any = DuelVecEnv("chain", 3, opponent=lambda seen, masks: masks.argmax(axis=1), seat=2)
    before = envs.reset()
    envs.env_method(
        "set_opponent", lambda seen, masks: masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1), indices=[1]
    )
    after = envs.reset()
    assert (before == after).all(axis=1).tolist() == [True, False, True]
    assert len(envs.env_method("action_masks", indices=[0, 2])) == 2
    with pytest.raises(DuelsError, match="applies to all games"):
        envs.set_attr("render_mode", None, indices=0)
    with pytest.raises(DuelsError, match="applies to all games"):
        envs.env_method("reset", indices=[1])


@pytest.mark.parametrize("name", ["seat", "opponent"])
def test_rejects_attributes_without_effect(name: str) -> None:
    from duels.envs.stable_baselines3 import DuelVecEnv

    with pytest.raises(AttributeError, match=f"{name}.* no setter|Unknown attribute {name}"):
        DuelVecEnv("chain", 3).set_attr(name, 2)


def test_records_videos(tmp_path: Path) -> None:
    env: Any = gymnasium.make("duels/Flip-v0", render_mode="rgb_array")
    folder = tmp_path / "films"
    env = gymnasium.wrappers.RecordVideo(env, str(folder), episode_trigger=lambda episode: True)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(info["action_mask"].argmax())
        over = terminated or truncated
    env.close()
    (film,) = folder.glob("*.mp4")
    assert film.stat().st_size > 1000
