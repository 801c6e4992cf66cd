"""Memory: the last entries that a seat saw, equal in every environment."""

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

import duels
from duels import vector
from duels.core.errors import DuelsError
from duels.core.features import EntryTokens
from duels.core.rules import Seat
from duels.envs import pettingzoo
from duels.envs.engine import RulesEngine
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.settings import make_settings
from duels.games import GAMES
from tests.envs.reference import MatchEngine

FORM: dict[str, Any] = {"cells": 3, "max_turns": 6}
RULES = GAMES["hunt"].rules(**FORM)


def remembered(observed: Any, memory: int) -> list[str]:
    """The entries of an observation in words, the latest first."""
    names = EntryTokens(RULES).actions
    entries = np.asarray(observed)[-memory * (len(names) + 2) :].reshape(memory, -1)
    return [
        "?" if hidden else ("my " if mine else "") + names[int(np.argmax(action))]
        for mine, hidden, *action in entries.tolist()
        if hidden or any(action)
    ]


def expected_memory(match: Any, seat: Seat, memory: int) -> list[str]:
    """Return the same from the match."""
    turns = zip(match.turns_known_to(seat), match.redacted_history(seat), strict=True)
    entries = [
        "?" if action is None else ("my " if turn.actor is seat else "") + RULES.format(action)
        for turn, action in turns
    ]
    return entries[: -memory - 1 : -1]


@pytest.mark.parametrize("memory", [1, 3, 20])
def test_memory_agrees_with_the_match(memory: int) -> None:
    rng, settings = Random(1), make_settings(RULES, "truncation", memory)
    reference, engine = MatchEngine(RULES), RulesEngine(RULES, settings)
    for game in range(20):
        reference.reset(game)
        engine.reset(game)
        while True:
            for seat in Seat:
                assert remembered(engine.observe(seat - 1), memory) == expected_memory(
                    reference.match, seat, memory
                )
            if reference.actor < 0:
                break
            action = rng.choice(np.flatnonzero(reference.mask()).tolist())
            reference.step(action, 0)
            engine.step(action, 0)
            engine = pickle.loads(pickle.dumps(engine))


@pytest.mark.parametrize("autoreset", [True, False])
def test_memory_in_arrays_agrees_with_single_games(autoreset: bool) -> None:
    settings: dict[str, Any] = {"memory": 5, "limit_ends": "draw"}
    batch = vector.make(RULES, 20, seed=1, autoreset=autoreset, **settings)
    batch.keep_final = True
    engines = [RulesEngine(RULES, make_settings(RULES, "draw", 5)) for _ in range(20)]
    for _ in range(30):
        for seat in (0, 1):
            assert (batch.observe(seat) == [engine.observe(seat) for engine in engines]).all()
        batch = pickle.loads(pickle.dumps(batch))
        actions = batch.sample()
        ended = batch.step(actions).terminated
        for engine, action in zip(engines, actions, strict=True):
            if engine.actor >= 0:
                engine.step(int(action), 0)
        if autoreset and ended.any():
            places = np.flatnonzero(ended)
            assert (batch.final_observations[1] == [engines[k].observe(1) for k in places]).all()
            for k in places:
                engines[k].reset(0)


def test_rollouts_keep_memory() -> None:
    rolled, stepped = (vector.make(RULES, 3, seed=4, memory=2) for _ in range(2))
    rolled.rollout(9)
    for _ in range(9):
        stepped.step(stepped.sample())
    for seat in (0, 1):
        assert (rolled.observe(seat) == stepped.observe(seat)).all()


def test_observations_include_the_memory() -> None:
    arguments: dict[str, Any] = {"memory": 4, "seat": 2, **FORM}
    env, envs = DuelEnv("hunt", **arguments), DuelVectorEnv("hunt", 3, **arguments)
    first, info = env.reset(seed=5)
    many, _ = envs.reset(seed=5)
    assert (many[0] == first).all()
    assert remembered(first, 4)[1:] == ["?"]  # the opponent has moved, and its observation comes first
    action = info["action_mask"].argmax()
    assert remembered(env.step(action)[0], 4)[0] == f"my {env.action_names[action]}"
    zoo = pettingzoo.hunt_v0.env(memory=4, **FORM)
    zoo.reset(seed=5)
    zoo.step(0)
    assert remembered(zoo.observe("player_1")["observation"], 4) == ["my move 1"]
    assert remembered(zoo.observe("player_2")["observation"], 4) == []
    assert env.observation_space.shape == (len(set(env.feature_names)),) == first.shape
    assert env.feature_names[-1] == "past[4]=observe 3"


def test_rejects_memory_in_games_without_secrets() -> None:
    for make in (vector.make, DuelEnv, DuelVectorEnv, pettingzoo.env):
        with pytest.raises(DuelsError, match="memory must be 0 in chain"):
            make("chain", memory=2)
    with pytest.raises(DuelsError, match="memory"):
        vector.make("hunt", memory=-1)


def test_an_agent_with_a_memory_is_graded_in_short_forms() -> None:
    settings: dict[str, Any] = {"cells": 2, "max_turns": 3}
    rules = GAMES["hunt"].rules(**settings)
    answers = {}

    def agent(observation: Any, mask: Any) -> Any:
        answers[observation.tobytes()] = mask
        return mask / mask.sum()

    policy = duels.policy_of(agent, rules, memory=4, dtype="int8")
    assert duels.exploitability(policy, rules) == pytest.approx(duels.exploitability("random", rules))
    # The agent is called with every observation that the environments show in random games.
    engine, rng = RulesEngine(rules, make_settings(rules, "truncation", 4)), Random(1)
    for game in range(20):
        engine.reset(game)
        while engine.actor >= 0:
            assert (answers[engine.observe(engine.actor).tobytes()] == engine.mask()).all()
            engine.step(rng.choice(np.flatnonzero(engine.mask()).tolist()), 0)


def test_rejects_grading_agents_with_a_memory_on_the_whole_board() -> None:
    policy = duels.policy_of(lambda expected_memory, mask: mask / mask.sum(), "hunt", memory=2)
    with pytest.raises(DuelsError, match=r"history|past"):
        duels.exploitability_bounds(policy, "hunt")
