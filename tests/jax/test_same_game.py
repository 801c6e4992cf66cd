"""Equal actions and chance give the same game in JAX as by the rules."""

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="make jax-test installs it")

from duels.envs.jax import (  # noqa: E402
    Purpose,
    make,
    random_bits,
)
from tests.jax.cases import FORMS, Beside, random_actions, resolve_rules  # noqa: E402

pytestmark = pytest.mark.slow
GAMES = 8


def one_of(states: Any, number: int) -> Any:
    return jax.tree.map(lambda part: np.asarray(part[number]), states)


@pytest.mark.parametrize("settings", FORMS)
def test_every_step_agrees_with_the_rules(settings: str) -> None:
    env = make(resolve_rules(settings), limit_ends=FORMS[settings][1])
    step, observe = jax.jit(jax.vmap(env.step)), jax.jit(jax.vmap(env.observe, (0, None)))
    key = jax.random.PRNGKey(1)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES))
    matches = [Beside(settings, env, one_of(states, number)) for number in range(GAMES)]
    assert {match.first for match in matches} == {0, 1}  # it is drawn who moves first
    played = [False] * GAMES
    after_the_end = 0
    while after_the_end < 2:
        observations = [np.asarray(observe(states, player)) for player in (0, 1)]
        for number, match in enumerate(matches):
            pair = [look[number] for look in observations]
            match.check(one_of(states, number), pair, played[number])
        after_the_end += all(match.over for match in matches)
        key, for_actions, for_steps = jax.random.split(key, 3)
        actions = random_actions(for_actions, states.legal_action_mask)
        keys = jax.random.split(for_steps, GAMES)
        bits = jax.vmap(lambda key: random_bits(key, Purpose.STEP))(keys)
        played = [not match.over for match in matches]
        for number, match in enumerate(matches):
            if not match.over:
                match.engine.step(int(actions[number]), int(bits[number]))
        states = step(states, actions, keys)


@pytest.mark.parametrize("settings", ["lights", "chain of 2 boards", "flip of 9", "high card"])
def test_positions_convert_to_states_of_the_rules(settings: str) -> None:
    rules = resolve_rules(settings)
    env = make(rules)
    state = env.init(jax.random.PRNGKey(3))
    state_after = env.rules_state(state._position)
    key = jax.random.PRNGKey(4)
    for _ in range(6):
        if state.terminated | state.truncated:
            break
        key, for_action, for_step = jax.random.split(key, 3)
        action = int(random_actions(for_action, state.legal_action_mask))
        legal = rules.actions(state_after)
        assert [env.action_names[number] for number in np.flatnonzero(state.legal_action_mask)] == sorted(
            map(rules.format, legal), key=env.action_names.index
        )
        state = env.step(state, action, for_step)
        before, state_after = state_after, env.rules_state(state._position)
        assert before != state_after
    assert rules.actor(state_after) is None or state.current_player >= 0
