"""The same seeded games in every framework: states, masks, observations and rewards, step by step."""

from dataclasses import replace
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pyspiel
import pytest

import duels.envs.gymnasium
import duels.envs.openspiel  # noqa: F401  (both register the games)
from duels import vector
from duels.core.rules import CHANCE
from duels.envs import dice
from duels.envs import engine as engine_module
from duels.envs import pettingzoo as duels_pettingzoo
from duels.envs.engine import RulesEngine, make_engine
from duels.envs.table_batch import TableBatch
from tests.envs.cases import CASES, Reference, resolve_rules

SEEDS = range(3)


def last_mask(match: Reference, seat: int) -> list[int]:
    """Return the mask of `seat` at the end of a match, computed from the rules alone."""
    rules: Any = match.engine.rules
    before, last = match.engine.match.previous, match.engine.match.last
    if not match.engine.truncated:
        return [0] * match.engine.num_actions
    endless: Any = replace(rules, **{rules.limit: None})
    assert before
    assert last
    state = endless.apply(before.state, last.action).state
    if rules.has_hidden_information and endless.actor(state) != seat + 1:
        return [1] * match.engine.num_actions
    return [int(action in endless.actions(state)) for action in rules.all_actions()]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_engines_play_the_same_game(case: str, seed: int) -> None:
    rng = Random(seed)
    engine = make_engine(resolve_rules(case))
    for number in range(20):
        match = Reference(case, seed, number)
        engine.reset(match.stream)
        while True:
            assert (engine.actor, engine.result, engine.truncated) == (
                match.engine.actor,
                match.engine.result,
                match.engine.truncated,
            )
            assert engine.mask().tolist() == match.engine.mask().tolist()
            for seat in (0, 1):
                assert engine.observe(seat).tolist() == match.engine.observe(seat).tolist()
            legal = set(match.legal())
            assert all(engine.allows(a) == (a in legal) for a in range(-1, engine.num_actions + 1))
            if match.over:
                break
            action = match.any_action(rng)
            stream = match.stream
            match.play(action)
            engine.step(action, dice.roll(stream)[0])


def test_the_cache_of_an_engine_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rules: Any = replace(resolve_rules("leap"), goal=60)
    plays = []
    for most in (engine_module.MAX_BYTES, 1000):
        monkeypatch.setattr(engine_module, "MAX_BYTES", most)
        engine_module._get_position_cache.cache_clear()
        engine = RulesEngine(rules)
        observations = []
        while engine.actor >= 0:
            engine.step(int(engine.mask().argmax()), 0)
            observations.append(engine.observe(0).tolist())
            count = engine._cache.get.cache_info().currsize
            assert count * (engine.num_actions + 2 * engine.observation_size) <= most
        plays.append(observations)
    engine_module._get_position_cache.cache_clear()
    assert len(plays[0]) > 100
    assert plays[0] == plays[1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_pettingzoo_plays_the_same_game(case: str, seed: int) -> None:
    game, options = CASES[case]
    rng = Random(seed)
    env = getattr(duels_pettingzoo, f"{game}_v0").env(**options)
    env.reset(seed=seed)
    match = Reference(case, seed)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        seat = env.possible_agents.index(agent)
        assert info == {}
        assert observation["observation"].tolist() == match.engine.observe(seat).tolist()
        other = env.possible_agents[1 - seat]
        if match.over:
            assert observation["action_mask"].tolist() == last_mask(match, seat)
            assert reward == match.rewards[seat]
            assert (terminated, truncated) == (match.engine.terminated, match.engine.truncated)
            env.step(None)
            continue
        assert [terminated, truncated, reward] == [False, False, 0]
        assert seat == match.engine.actor
        assert observation["action_mask"].tolist() == match.engine.mask().tolist()
        assert observation["action_mask"].dtype == np.int8
        assert not env.observe(other)["action_mask"].any()
        assert env.observe(other)["observation"].tolist() == match.engine.observe(1 - seat).tolist()
        action = match.any_action(rng)
        match.play(action)
        env.step(action)
    assert match.over


def _without_clock(match: Reference) -> Any:
    state, clock = match.engine.match.state, match.engine.rules.clock
    return replace(state, **{clock: 0}) if clock else state


@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_arrays_play_the_same_game(case: str, autoreset: bool) -> None:
    count, seed, rng = 5, 7, Random(7)
    batch = vector.make(resolve_rules(case), count, seed, first=3, autoreset=autoreset)
    matches = [Reference(case, seed, 3 + number) for number in range(count)]
    states = batch.tables.rules_states(batch.rules) if isinstance(batch, TableBatch) else []
    for _ in range(60):
        for number, match in enumerate(matches):
            assert batch.actor[number] == match.engine.actor
            assert batch.masks()[number].tolist() == match.engine.mask().tolist()
            for seat in (0, 1):
                assert batch.observe(seat)[number].tolist() == match.engine.observe(seat).tolist()
            if not match.over:
                assert batch.sample()[number] == match.random_action()
                assert batch.observe()[number].tolist() == match.engine.observe(match.engine.actor).tolist()
            if isinstance(batch, TableBatch) and not match.engine.truncated:
                assert states[batch.states[number]] == _without_clock(match)

        was_over = [match.over for match in matches]
        actions = [0 if match.over else match.any_action(rng) for match in matches]
        steps = batch.step(np.array(actions))
        for number, match in enumerate(matches):
            if was_over[number]:
                assert not steps.rewards[number].any()
                assert not (steps.terminated | steps.truncated)[number]
                continue
            match.play(actions[number])
            assert tuple(steps.rewards[number].tolist()) == match.rewards
            assert steps.terminated[number] == match.engine.terminated
            assert steps.truncated[number] == match.engine.truncated
            if match.over and autoreset:
                match.reset()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_openspiel_plays_the_same_game(case: str, seed: int) -> None:
    game, options = CASES[case]
    parameters = ",".join(f"{name}={value}" for name, value in {**options, "max_moves": 0}.items())
    state = pyspiel.load_game(f"duels_{game}({parameters})").new_initial_state()
    match, rng = Reference(case, seed), Random(seed)
    outcomes = list(match.engine.rules.all_outcomes())
    size = match.engine.observation_size  # what is left of a limit comes after it
    while not match.over:
        player = state.current_player()
        assert player == match.engine.actor
        assert state.legal_actions() == match.legal()
        for seat in (0, 1):
            assert state.observation_tensor(seat)[:size] == match.engine.observe(seat).tolist()
        assert state.rewards() == [0.0, 0.0]
        before = len(match.engine.match.turns)
        action = match.any_action(rng)
        match.play(action)
        state.apply_action(action)
        for turn in match.engine.match.turns[before + 1 :]:
            assert turn.actor is CHANCE
            odds = dict(state.chance_outcomes())
            assert sum(odds.values()) == pytest.approx(1)
            assert outcomes.index(turn.action) in odds
            state.apply_action(outcomes.index(turn.action))
    assert state.is_terminal()
    assert tuple(state.returns()) == match.rewards
    for seat in (0, 1):
        assert state.observation_tensor(seat)[:size] == match.engine.observe(seat).tolist()


def _play_gymnasium(case: str, seat: int, seed: int) -> None:
    game, options = CASES[case]
    env: Any = gymnasium.make(f"duels/{game.title()}-v0", seat=seat + 1, **options).unwrapped
    match, rng = Reference(case, seed), Random(seed)

    def answer() -> None:
        while match.engine.actor == 1 - seat:
            match.play(match.random_action())

    observation, info = env.reset(seed=seed)
    answer()
    for _ in range(3):
        while True:
            assert observation.tolist() == match.engine.observe(seat).tolist()
            assert info["action_mask"].tolist() == match.engine.mask().tolist()
            assert env.action_masks().tolist() == match.engine.mask().astype(bool).tolist()
            action = match.any_action(rng)
            observation, reward, terminated, truncated, info = env.step(np.int64(action))
            match.play(action)
            answer()
            assert reward == match.rewards[seat]
            assert (terminated, truncated) == (
                match.over and not match.engine.truncated,
                match.engine.truncated,
            )
            if match.over:
                break
        assert observation.tolist() == match.engine.observe(seat).tolist()
        assert info["action_mask"].tolist() == last_mask(match, seat)
        observation, info = env.reset()
        match.reset()
        answer()


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_gymnasium_plays_the_same_game(case: str, seat: int) -> None:
    for seed in SEEDS:
        _play_gymnasium(case, seat, seed)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_gymnasium_vector_plays_the_same_game(case: str, seat: int) -> None:
    game, options = CASES[case]
    count, seed, rng = 4, 11, Random(11)
    envs: Any = gymnasium.make_vec(
        f"duels/{game.title()}-v0", count, seat=seat + 1, autoreset_mode="SameStep", **options
    )
    matches = [Reference(case, seed + number) for number in range(count)]

    def answer(match: Reference) -> None:
        while match.engine.actor == 1 - seat:
            match.play(match.random_action())

    observations, info = envs.reset(seed=seed)
    for match in matches:
        answer(match)
    for _ in range(40):
        for number, match in enumerate(matches):
            assert observations[number].tolist() == match.engine.observe(seat).tolist()
            assert info["action_mask"][number].tolist() == match.engine.mask().tolist()
        actions = [match.any_action(rng) for match in matches]
        observations, rewards, terminated, truncated, info = envs.step(np.array(actions))
        for number, match in enumerate(matches):
            match.play(actions[number])
            answer(match)
            assert rewards[number] == match.rewards[seat]
            assert terminated[number] == match.engine.terminated
            assert truncated[number] == match.engine.truncated
            if match.over:
                assert info["final_obs"][number].tolist() == match.engine.observe(seat).tolist()
                last = info["final_info"]["action_mask"][number]
                assert last.tolist() == last_mask(match, seat)
                match.reset()
                answer(match)
