"""The same seeded games in every framework: states, masks, observations and rewards, step by step."""

from dataclasses import replace
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest

import duels.envs.gymnasium
import duels.envs.openspiel  # noqa: F401  (both register the games)
from duels import vector
from duels.envs import dice
from duels.envs import engine as engine_module
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
