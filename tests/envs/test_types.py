"""The public interface for a user's type checker: mypy checks this file, and it runs."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import duels
from duels.envs import pettingzoo
from duels.envs.conformance import ConformanceReport, check_environments
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv, register
from duels.envs.pettingzoo import GuardedDuelEnv, chain_v0, flip_v0, hunt_v0, leap_v0, lights_v0
from duels.vector import Batch, BatchTally, PreparedPolicy, Steps, Tables


def uniform(sight: duels.Sight[Any, Any]) -> dict[Any, float]:
    return {action: 1 / len(sight.actions) for action in sight.actions}


def first(observation: NDArray[np.int8], mask: NDArray[np.int8]) -> int:
    return int(mask.argmax())


def test_exploitability() -> None:
    assert_type(duels.exploitability("random", "lights", lights=3), float)
    assert_type(duels.exploitability(uniform, duels.find_game("leap"), goal=4), float)
    table = duels.table_of(first, "lights", lights=3)
    assert_type(table, NDArray[np.float64])
    bounds = duels.exploitability_bounds(table, "lights", lights=3)
    assert_type(bounds.low, float)


def test_vector() -> None:
    batch = duels.vector.make("chain", 2, seed=1, cells=3, run=3)
    assert_type(batch, Batch)
    steps = batch.step(batch.sample())
    assert_type(steps, Steps)
    assert_type(steps.rewards, NDArray[np.float32])
    assert_type(steps.terminated, NDArray[np.bool_])
    assert_type(batch.observe(), NDArray[np.int8])
    assert_type(batch.tables, Tables)
    policy = batch.policy(batch.tables.legal.argmax(axis=1))
    assert_type(policy, PreparedPolicy)
    tally = batch.rollout(3, policy)
    assert_type(tally, BatchTally)
    assert_type(tally.draws, NDArray[np.int64])
    assert_type(tally.games, int)


def test_pettingzoo() -> None:
    for env in (
        lights_v0.env(lights=3),
        leap_v0.env(goal=4),
        chain_v0.env(cells=3, run=3, max_boards=None),
        hunt_v0.env(cells=2, max_turns=3),
        flip_v0.env(side=2, values=2, copies=2, target=3),
        pettingzoo.env(duels.find_game("leap"), goal=4),
    ):
        assert_type(env, GuardedDuelEnv)
    assert_type(chain_v0.raw_env(), pettingzoo.DuelEnv)
    assert_type(pettingzoo.register(duels.find_game("leap")), str)


def test_gymnasium() -> None:
    env = DuelEnv("lights", opponent="random", seat=2, lights=4)
    observation, info = env.reset(seed=1)
    assert_type(observation, Any)
    assert_type(env.feature_names, tuple[str, ...])
    env.set_opponent("greedy")
    _, reward, terminated, _, _ = env.step(np.int64(info["action_mask"].argmax()))
    assert_type(reward, float)
    assert_type(terminated, bool)
    envs = DuelVectorEnv("lights", 2)
    assert_type(envs.reset(seed=1)[0], Any)
    assert_type(envs.seats, NDArray[np.int64])
    envs.set_opponent(first)
    assert_type(register(duels.find_game("leap")), str)


def test_conformance() -> None:
    checked = check_environments(duels.find_game("lights").rules(lights=3), games=1)
    assert_type(checked, ConformanceReport)
