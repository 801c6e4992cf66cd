"""Copies made during a game continue like the original, against every opponent."""

import pickle
from collections.abc import Callable
from copy import copy as copied
from copy import deepcopy
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest

from duels import vector
from duels.analysis.agents import table_of
from duels.envs import pettingzoo as ours
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.games import GAMES
from duels.players import make_player
from tests.envs.cases import CASES, resolve_rules
from tests.outside.nim import Nim

Copy = Callable[[Any], Any]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


COPIES = pytest.mark.parametrize("copy", [pickled, deepcopy])


def same(one: Any, two: Any) -> bool:
    """Return whether results are equal, through tuples, dictionaries and arrays."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    if isinstance(one, tuple | list) or (isinstance(one, np.ndarray) and one.dtype.kind == "O"):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(np.array_equal(one, two))


def follow(envs: list[Any], steps: int, seed: int) -> None:
    """Play Gymnasium environments with the same actions over several games, and compare their results."""
    rng, masks = Random(seed), envs[0].unwrapped.action_masks()
    for _ in range(steps):
        action = rng.choice(np.flatnonzero(masks).tolist())
        results = [env.step(np.int64(action)) for env in envs]
        assert all(same(results[0], other) for other in results[1:])
        if results[0][2] or results[0][3]:
            results = [env.reset() for env in envs]
            assert all(same(results[0], other) for other in results[1:])
        masks = results[0][-1]["action_mask"]


OPPONENTS = [
    *((game, opponent) for game in GAMES for opponent in ("random", "greedy")),
    *((game, level) for game in ("lights", "leap", "chain") for level in ("club", "best")),
    ("hunt", "best"),
    ("flip", "club"),
]


@COPIES
@pytest.mark.parametrize(("game", "opponent"), OPPONENTS)
def test_gymnasium(game: str, opponent: str, copy: Copy) -> None:
    env = gymnasium.make(f"duels/{game.title()}-v0", opponent=opponent, seat=2)
    env.reset(seed=3)
    follow([env], 3, seed=1)
    follow([env, copy(env), copy(copy(env))], 5 if game == "flip" else 20, seed=2)


@COPIES
@pytest.mark.parametrize("arguments", [{"render_mode": "ansi"}, {"grade": True}, {"max_boards": 1}])
def test_gymnasium_in_all_its_forms(arguments: dict[str, Any], copy: Copy) -> None:
    player = make_player("club", GAMES["chain"].rules())
    for opponent in ("expert", player, table_of(lambda seen, mask: mask.argmax(), "chain")):
        env: Any = DuelEnv("chain", opponent, **arguments)
        env.reset(seed=3)
        follow([env], 2, seed=1)
        another = copy(env)
        follow([env, another], 20, seed=2)
        assert env.render() == another.render()


def test_a_shallow_copy_is_independent() -> None:
    env: Any = DuelEnv("hunt", "club", max_turns=9, memory=3)
    envs: Any = DuelVectorEnv("hunt", 3, "club", max_turns=9, memory=3)
    zoo: Any = ours.env("hunt", memory=3)
    for each in (env, envs, zoo):
        each.reset(seed=1)
    batch = vector.make("hunt", 3, memory=3)
    cases: list[tuple[Any, Any, Any]] = [
        (env, lambda env: env.step(env.action_masks().argmax()), lambda env: env._observation_and_info()),
        (envs, lambda env: env.step(env.action_masks().argmax(axis=1)), lambda env: env._observe()),
        (zoo, lambda env: env.step(0), lambda env: env.observe("player_1")),
        (batch, lambda env: env.step(env.sample()), lambda env: (env.observe(0), env.bits())),
    ]
    for original, play, observe in cases:
        another, before = copied(original), observe(original)
        play(another)
        assert same(observe(original), before)
        assert not same(observe(another), before)
        play(original)
        assert same(observe(original), observe(another))


def test_pickles_are_small() -> None:
    for game in GAMES:
        assert len(pickle.dumps(DuelEnv(game, "club"))) < 10_000
        assert len(pickle.dumps(vector.make(game, 10))) < 10_000


def test_a_copy_before_the_first_reset_must_be_reset_too() -> None:
    env = pickled(DuelEnv("chain"))
    with pytest.raises(ValueError, match="reset\\(\\) before the first step"):
        env.step(np.int64(0))


@COPIES
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        ("lights", {"opponent": "club", "grade": True}),
        ("chain", {"max_boards": 2, "max_episode_steps": 5}),
        ("hunt", {"max_turns": 6}),
        ("flip", {}),
    ],
)
def test_gymnasium_vector(game: str, arguments: dict[str, Any], mode: str, copy: Copy) -> None:
    envs: list[Any] = [DuelVectorEnv(game, 4, seat=2, autoreset_mode=mode, **arguments)]
    _, info = envs[0].reset(seed=5)
    for step in range(40):
        if step == 7:
            envs += [copy(envs[0])]
        # The last legal action, and now and then one that is not.
        actions = info["action_mask"].cumsum(axis=1).argmax(axis=1) + (step % 5 == 4)
        results = [env.step(actions) for env in envs]
        assert all(same(results[0], other) for other in results)
        info = results[0][-1]


@COPIES
@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_arrays(case: str, autoreset: bool, copy: Copy) -> None:
    batch = vector.make(resolve_rules(case), 5, seed=2, autoreset=autoreset)
    for _ in range(4):
        batch.step(batch.sample())
    another = copy(batch)
    for _ in range(30):
        results = [
            (each.step(each.sample()), each.actor, each.masks(), each.observe(0), each.observe(1))
            for each in (batch, another)
        ]
        assert same(*results)
    if autoreset:
        assert (batch.rollout(20).wins == another.rollout(20).wins).all()


def test_a_prepared_policy_works_with_a_copy() -> None:
    batch = vector.make("chain", 3)
    ready = pickled(batch.policy(batch.tables.legal.argmax(axis=1)))
    assert (pickled(batch).sample(ready) == batch.sample(ready)).all()


@COPIES
@pytest.mark.parametrize("kind", ["env", "raw_env"])
@pytest.mark.parametrize("rules", [*(resolve_rules(case) for case in CASES), Nim()], ids=[*CASES, "nim"])
def test_pettingzoo(rules: Any, kind: str, copy: Copy) -> None:
    env = getattr(ours, kind)(rules)
    unplayed = copy(env)
    assert not hasattr(unplayed, "agents")
    env.reset(seed=3)
    envs, rng = [env], Random(3)
    for step in range(25):
        if step == 4:
            envs += [copy(env), copy(copy(env))]
        results = [each.last() for each in envs]
        assert all(same(results[0], other) for other in results)
        over = results[0][2] or results[0][3]
        action = None if over else rng.choice(np.flatnonzero(results[0][0]["action_mask"]).tolist())
        for each in envs:
            each.step(action)
            if not each.agents:
                each.reset()
            assert (each.agents, each.agent_selection) == (env.agents, env.agent_selection)


@COPIES
def test_pettingzoo_with_grades_and_a_board(copy: Copy) -> None:
    env = ours.env("leap", render_mode="ansi", grade=True)
    env.reset(seed=1)
    env.step(0)
    another = copy(env)
    for action in (0, 1):
        env.step(action)
        another.step(action)
    assert another.infos == env.infos
    assert another.render() == env.render()
