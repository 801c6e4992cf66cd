"""The vector environment agrees with single ones, step by step, in every autoreset mode."""

import warnings
from collections import Counter
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TransformObservation
from gymnasium.wrappers import vector as wrappers

from duels.core.errors import DuelsError
from duels.envs.gymnasium import DuelVectorEnv

COUNT = 5
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("leap", {"grade": True}),
    ("chain", {"grade": True, "max_boards": 2}),
    ("chain", {"max_boards": 1, "cells": 5, "max_episode_steps": 3}),
    ("hunt", {"max_turns": 5}),
    ("flip", {"max_episode_steps": 4}),
]


def both(game: str, mode: AutoresetMode, seat: int, options: dict[str, Any]) -> tuple[Any, Any]:
    """Our vector environment, and Gymnasium's own of single environments."""
    name = f"duels/{game.title()}-v0"
    ours = gymnasium.make_vec(name, COUNT, seat=seat, autoreset_mode=mode, **options)
    theirs = gymnasium.make_vec(
        name,
        COUNT,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        seat=seat,
        **options,
    )
    return ours, theirs


def check_infos(one: dict[str, Any], many: dict[str, Any]) -> None:
    """Compare infos: ours may only add entries that say no."""
    for name in {*one, *many} - {"final_obs", "final_info"}:
        if not name.startswith("_"):
            reported = one.get(f"_{name}", np.zeros(COUNT, np.bool_))
            assert many[name][reported].tolist() == (one[name][reported].tolist() if name in one else [])
            assert not many[name][many[f"_{name}"] & ~reported].any()


def same_ends(one: dict[str, Any], many: dict[str, Any]) -> None:
    assert ("final_info" in one) == ("final_info" in many)
    if "final_info" not in one:
        return
    over = one["_final_info"]
    assert (many["_final_info"] == over).all()
    assert (many["_final_obs"] == one["_final_obs"]).all()
    for final, due in zip(many["final_obs"][over], one["final_obs"][over], strict=True):
        assert (final == due).all()
    assert all(final is None for final in many["final_obs"][~over])
    check_infos(one["final_info"], many["final_info"])


class Driver:
    """Plays both at random with some illegal actions, and resets some games early."""

    def __init__(self, ours: Any, theirs: Any, mode: AutoresetMode) -> None:
        self.ours, self.theirs, self.mode, self.rng = ours, theirs, mode, Random(4)
        self.met = Counter[str]()

    def play(self, steps: int) -> None:
        masks = self.reset(seed=1)
        for _ in range(steps):
            masks = self.step(masks)

    def reset(self, **arguments: Any) -> Any:
        observations, info = self.theirs.reset(**arguments)
        ours, our_info = self.ours.reset(**arguments)
        assert ours.tolist() == observations.tolist()
        check_infos(info, our_info)
        return info["action_mask"]

    def step(self, masks: Any) -> Any:
        actions = np.array([self.choice(mask) for mask in masks])
        *results, info = self.theirs.step(actions)
        *our_results, our_info = self.ours.step(actions)
        for one, many in zip(results, our_results, strict=True):
            assert (one.tolist(), one.dtype) == (many.tolist(), many.dtype)
        check_infos(info, our_info)
        same_ends(info, our_info)
        masks, (_, _, terminated, truncated) = info["action_mask"], results
        self.count(info.get("final_info", info), terminated, truncated)
        ended = terminated | truncated
        if self.mode is AutoresetMode.DISABLED and ended.any():
            return self.reset_some(masks, ended)
        if self.rng.random() < 0.1:
            return self.reset_some(masks, np.array([self.rng.random() < 0.5 for _ in masks]) | ended)
        return masks

    def choice(self, mask: Any) -> int:
        legal = self.rng.random() >= 0.02
        return self.rng.choice(np.flatnonzero(mask == legal).tolist() or [0])

    def count(self, last: dict[str, Any], terminated: Any, truncated: Any) -> None:
        self.met["ended"] += int(terminated.sum())
        self.met["cut off"] += int(truncated.sum())
        self.met["illegal"] += int(last["illegal"].sum()) if "illegal" in last else 0
        # A learner estimates the value of this position, so some action must be legal.
        assert last["action_mask"][truncated & ~terminated].any(axis=1).all()

    def reset_some(self, masks: Any, reset_mask: Any) -> Any:
        if not reset_mask.any():
            return masks
        seed = self.rng.choice([None, 9, [None, 3, 4, None, 6]])
        self.met["reset"] += 1
        fresh = self.theirs.reset(seed=seed, options={"reset_mask": reset_mask.copy()})
        our_results = self.ours.reset(seed=seed, options={"reset_mask": reset_mask.copy()})
        assert our_results[0].tolist() == fresh[0].tolist()
        check_infos(fresh[1], our_results[1])
        return np.where(reset_mask[:, None], fresh[1]["action_mask"], masks)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("seat", [1, 2])
@pytest.mark.parametrize(("game", "options"), SETTINGS)
def test_vector_environments_equal_single_ones(
    game: str, options: dict[str, Any], seat: int, mode: AutoresetMode
) -> None:
    driver = Driver(*both(game, mode, seat, options), mode)
    driver.play(120)
    assert driver.met["ended"] > 2
    assert driver.met["illegal"] > 2
    assert driver.met["reset"] > 3
    assert bool(driver.met["cut off"]) == (game != "leap")


def test_finished_games_do_not_continue() -> None:
    envs: Any = DuelVectorEnv("chain", 3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(np.array([0, 8, 0]))
    with pytest.raises(DuelsError, match=r"over in environment 1. Reset it, with options=.'reset_mask'"):
        envs.step(np.zeros(3, int))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([True, False], "reset_mask must be a boolean array of length 2"),
        (np.array([1, 0]), "reset_mask must be a boolean array of length 2"),
        (np.array([True]), "reset_mask must be a boolean array of length 2"),
        (np.zeros(2, np.bool_), "reset_mask must select at least one environment"),
    ],
)
def test_rejects_invalid_reset_masks(mask: Any, message: str) -> None:
    envs = DuelVectorEnv("lights", 2)
    with pytest.raises(DuelsError, match="The first reset must include all"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=1)
    with pytest.raises(DuelsError, match=message):
        envs.reset(options={"reset_mask": mask})


def test_modes_and_limits_are_checked() -> None:
    with pytest.raises(DuelsError, match="one of NextStep, SameStep, Disabled, not 'never'"):
        DuelVectorEnv("lights", 2, autoreset_mode="never")
    with pytest.raises(DuelsError, match="max_episode_steps"):
        DuelVectorEnv("lights", 2, max_episode_steps=0)


def _with_junk(envs: Any) -> Any:
    space = spaces.Dict({"seen": envs.single_observation_space, "junk": spaces.Box(0, 1, (1,), np.float32)})
    return wrappers.VectorizeTransformObservation(
        envs,
        TransformObservation,
        func=lambda seen: {"seen": seen, "junk": np.zeros(1, np.float32)},
        observation_space=space,
    )


WRAPPERS: dict[str, Any] = {
    "dtype": lambda envs: wrappers.DtypeObservation(envs, np.float32),
    "normalise": wrappers.NormalizeObservation,
    "normalise rewards": wrappers.NormalizeReward,
    "flatten": wrappers.FlattenObservation,
    "reshape": lambda envs: wrappers.ReshapeObservation(envs, (3, 11)),
    "transform": lambda envs: wrappers.TransformObservation(
        envs,
        lambda seen: seen * 2.0,
        spaces.Box(0, 2, (COUNT, 33), np.float64),
        spaces.Box(0, 2, (33,), np.float64),
    ),
    "filter": lambda envs: wrappers.FilterObservation(_with_junk(envs), ["seen"]),
    "rescale": lambda envs: wrappers.RescaleObservation(
        wrappers.DtypeObservation(envs, np.float32), np.float32(-1), np.float32(1)
    ),
    "statistics": wrappers.RecordEpisodeStatistics,
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_gymnasium_wrappers_work(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, theirs = (
            WRAPPERS[name](envs) for envs in both("chain", AutoresetMode.NEXT_STEP, 1, {"max_boards": 1})
        )
        observations, info = theirs.reset(seed=1)
        assert str(ours.reset(seed=1)[0]) == str(observations)
        rng, ended = Random(1), 0
        for _ in range(40):
            actions = np.array([rng.choice(np.flatnonzero(m).tolist() or [0]) for m in info["action_mask"]])
            observations, rewards, terminated, _, info = theirs.step(actions)
            our_results = ours.step(actions)
            assert str(our_results[0]) == str(observations)
            assert our_results[1].tolist() == rewards.tolist()
            ended += terminated.sum()
        assert ended


def test_gymnasium_vector_wrappers_work() -> None:
    from gymnasium.wrappers.vector import DtypeObservation, RecordEpisodeStatistics

    envs: Any = gymnasium.make_vec("duels/Chain-v0", num_envs=8, max_boards=1)
    envs = RecordEpisodeStatistics(DtypeObservation(envs, np.float32))
    observations, info = envs.reset(seed=1)
    lengths = []
    for _ in range(40):
        observations, _, _, _, info = envs.step(info["action_mask"].argmax(axis=1))
        assert observations.dtype == np.float32
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths
    assert all(1 < length < 20 for length in lengths)
