"""A limit as part of the game: it ends in a draw, and observations include the remaining turns."""

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

from duels import vector
from duels.core.errors import DuelsError
from duels.envs import pettingzoo
from duels.envs.engine import RulesEngine
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.settings import make_settings
from duels.games import GAMES
from duels.solving.tables import DRAWN
from tests.envs.reference import MatchEngine

FORMS = [("chain", {"cells": 4, "run": 4, "max_boards": 2}), ("hunt", {"cells": 3, "max_turns": 3})]
LIMITED = pytest.mark.parametrize("rules", [GAMES[game].rules(**options) for game, options in FORMS], ids=str)


def left_in(observation: Any, rules: Any) -> int:
    """Return the remaining limit from the last numbers of an observation."""
    left = observation[-(rules.limit_value + 1) :]
    assert left.sum() == 1
    return int(left.argmax())


@LIMITED
def test_a_limit_ends_the_same_game_in_a_draw(rules: Any) -> None:
    rng, drawn = Random(1), 0
    settings = make_settings(rules, "draw")
    plain, by_rules, match = RulesEngine(rules), RulesEngine(rules, settings), MatchEngine(rules, settings)
    engines = (plain, by_rules, match)
    for game in range(40):
        for engine in engines:
            engine.reset(game)
        while True:
            clock = getattr(match.match.state, rules.clock)
            for engine in (by_rules, match):
                assert engine.actor == plain.actor
                for seat in (0, 1):
                    observation = engine.observe(seat)
                    assert (observation[: plain.observation_size] == plain.observe(seat)).all()
                    assert left_in(observation, rules) == rules.limit_value - clock
            if plain.actor < 0:
                break
            assert (by_rules.mask() == plain.mask()).all()
            action, chance = rng.choice(np.flatnonzero(plain.mask()).tolist()), rng.getrandbits(32)
            for engine in engines:
                engine.step(action, chance)
        drawn += plain.truncated
        for engine in (by_rules, match, pickle.loads(pickle.dumps(by_rules))):
            assert engine.result == (DRAWN if plain.truncated else plain.result)
            assert (engine.terminated, engine.truncated, engine.actor) == (True, False, -1)
            assert not engine.mask_for(0).any()
            assert not engine.mask_for(1).any()
            assert not any(engine.allows(action) for action in range(engine.num_actions))
    assert drawn


@LIMITED
def test_arrays_end_at_the_limit_too(rules: Any) -> None:
    plain = vector.make(rules, 60, seed=3, autoreset=False)
    drawn = vector.make(rules, 60, seed=3, autoreset=False, limit_ends="draw")
    for _ in range(40):
        assert (drawn.actor == plain.actor).all()
        assert (drawn.observe(0)[:, : plain.observation_size] == plain.observe(0)).all()
        masks = plain.masks()
        masks[plain.actor < 0] = 0
        assert (drawn.masks() == masks).all()
        one, two = plain.step(plain.sample()), drawn.step(drawn.sample())
        assert (two.terminated == (one.terminated | one.truncated)).all()
        assert not two.truncated.any()
        assert (one.rewards == two.rewards).all()
    assert plain.cut_off.any()
    left = [left_in(observation, rules) for observation in drawn.observe(1)[plain.cut_off]]
    assert set(left) == {0}
    assert not drawn.masks_for(0).any()


@LIMITED
def test_arrays_restart_after_the_limit(rules: Any) -> None:
    batch, plain = vector.make(rules, 40, seed=3, limit_ends="draw"), vector.make(rules, 40, seed=3)
    batch.keep_final = True
    reached = 0
    for _ in range(60):
        ended = batch.step(batch.sample()).terminated
        if ended.any():
            reached += sum(left_in(observation, rules) == 0 for observation in batch.final_observations[0])
            assert not batch.final_masks.any()
            assert all(
                left_in(observation, rules) == rules.limit_value for observation in batch.observe(0)[ended]
            )
    assert reached
    for envs in (batch, plain):
        envs.reset(seed=5)
    one, two = batch.rollout(60), plain.rollout(60)
    assert (one.draws == two.truncated).all()
    assert one.draws.any()
    assert not one.truncated.any()


@LIMITED
def test_gymnasium_ends_at_the_limit(rules: Any) -> None:
    envs: Any = DuelVectorEnv(rules, 8, limit_ends="draw", autoreset_mode="Disabled")
    singles = [DuelEnv(rules, limit_ends="draw") for _ in range(8)]
    observation, info = envs.reset(seed=4)
    over, rewarded = np.zeros(8, bool), np.zeros(8)
    for env, (seed, one) in zip(singles, enumerate(observation, start=4), strict=True):
        assert (env.reset(seed=seed)[0] == one).all()
        assert one in env.observation_space
    while not over.all():
        actions = info["action_mask"].argmax(axis=1)
        for place in np.flatnonzero(over):
            envs.reset(options={"reset_mask": np.arange(8) == place})
        observation, rewards, terminated, truncated, info = envs.step(actions)
        assert not truncated.any()
        for place in np.flatnonzero(~over):
            expected = singles[place].step(actions[place])
            assert (expected[0] == observation[place]).all()
            assert expected[1:4] == (rewards[place], terminated[place], False)
            assert (expected[4]["action_mask"] == info["action_mask"][place]).all()
        rewarded += np.where(over, 0, rewards)
        over |= terminated
    assert set(rewarded.tolist()) <= {-1.0, 0.0, 1.0}


def test_pettingzoo_ends_at_the_limit() -> None:
    env = pettingzoo.chain_v0.env(cells=4, run=4, max_boards=1, limit_ends="draw")
    env.reset(seed=1)
    while not env.terminations["player_1"]:
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(mask.argmax()))
    assert env.truncations == {"player_1": False, "player_2": False}
    assert env.rewards == {"player_1": 0.0, "player_2": 0.0}
    observation = env.observe("player_1")
    assert not observation["action_mask"].any()
    assert observation in env.observation_space("player_1")


def test_a_limit_is_graded_as_one_half() -> None:
    settings: dict[str, Any] = {"cells": 4, "run": 4, "max_boards": 1}
    envs: Any = DuelVectorEnv("chain", 1, limit_ends="draw", grade=True, **settings)
    env = DuelEnv("chain", limit_ends="draw", grade=True, **settings)
    _, info = env.reset(seed=1)
    envs.reset(seed=1)
    over = False
    while not over:
        action = info["action_mask"].argmax()
        *_, many = envs.step(np.full(1, action))
        _, reward, over, _, info = env.step(action)
        if not over:
            assert many["value"][0] == info["value"]
    assert reward == 0.0
    assert info["value"] == many["value"][0] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "chain"}, "only with a limit: set max_boards"),
        ({"game": "flip"}, "only with a limit: flip has none"),
        ({"game": "hunt", "max_turns": 1001}, "at most 1000 to be observed, not 1001"),
    ],
)
def test_rejects_invalid_limit_endings(options: dict[str, Any], message: str) -> None:
    for make in (vector.make, DuelEnv, DuelVectorEnv, pettingzoo.env):
        with pytest.raises(DuelsError, match=message):
            make(limit_ends="draw", **options)
    with pytest.raises(DuelsError, match="'truncation' or 'draw', not 'win'"):
        vector.make("chain", limit_ends="win")
