"""Requirements of accelerators: fixed shapes and no host callbacks; and no secrets revealed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

jax = pytest.importorskip("jax", reason="make jax-test installs it")

import jax.numpy as jnp  # noqa: E402

from duels.core.rules import Seat  # noqa: E402
from duels.envs.jax import auto_reset, make  # noqa: E402
from duels.games import GAMES  # noqa: E402
from tests.envs.alike import HUNT, actions_of, pair_of  # noqa: E402
from tests.jax.cases import random_actions  # noqa: E402

pytestmark = pytest.mark.slow


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation of a traced function, those of inner functions too."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda part: hasattr(part, "eqns")
        ):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                yield from equations(inner)


def unfit(function: Any, *arguments: Any) -> list[str]:
    """Return the parts of a function that would not run on an accelerator."""
    problems = []
    for equation in equations(jax.make_jaxpr(function)(*arguments).jaxpr):
        name = equation.primitive.name
        if "callback" in name or name in ("infeed", "outfeed", "debug_print", "device_put"):
            problems.append(name)
        shapes = [var.aval.shape for var in equation.outvars if hasattr(var.aval, "shape")]
        if not all(type(size) is int for shape in shapes for size in shape):
            problems.append(f"{name} of shape {shapes}")
        kinds = [var.aval.dtype for var in equation.outvars if hasattr(var.aval, "dtype")]
        problems += [
            f"{name} of {kind}" for kind in kinds if jnp.issubdtype(kind, np.number) and kind.itemsize > 4
        ]
    return problems


@pytest.mark.parametrize("game", GAMES)
def test_compiled_code_stays_on_the_device(game: str) -> None:
    env = make(game)
    key = jax.random.PRNGKey(0)
    state = env.init(key)
    assert unfit(env.init, key) == []
    assert unfit(env.step, state, jnp.int32(0), key) == []
    assert unfit(env.observe, state, jnp.int32(1)) == []
    assert unfit(auto_reset(env.step, env.init), state, jnp.int32(0), key) == []


def test_the_guard_catches_host_callbacks() -> None:
    number = jax.ShapeDtypeStruct((), jnp.float32)

    def calls(value: Any) -> Any:
        return jax.lax.cond(value > 0, lambda: jax.pure_callback(np.sin, number, value), lambda: value)

    def prints(value: Any) -> Any:
        jax.debug.print("{}", value)
        return value

    assert unfit(calls, 1.0) != []
    assert unfit(prints, 1.0) != []
    assert unfit(jnp.sin, 1.0) == []


@pytest.mark.parametrize("game", GAMES)
def test_whole_rollouts_compile(game: str) -> None:
    env = make(game)
    step = jax.vmap(auto_reset(env.step, env.init))

    def advance(states: Any, key: Any) -> Any:
        for_actions, for_steps = jax.random.split(key)
        actions = random_actions(for_actions, states.legal_action_mask)
        states = step(states, actions, jax.random.split(for_steps, 32))
        return states, (states.rewards, states.terminated)

    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), 32))
    keys = jax.random.split(jax.random.PRNGKey(1), 200)
    states, (rewards, ended) = jax.jit(lambda states: jax.lax.scan(advance, states, keys))(states)
    assert not states.truncated.any()
    assert (rewards.sum(axis=-1) == 0).all()
    assert ((rewards != 0).all(axis=-1) == ended).all()
    assert ended.sum() > 32
    # The lot makes seats even: four standard errors.
    assert abs(float(rewards[..., 0].sum())) < 4 * float(ended.sum()) ** 0.5


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(Seat)))
def test_hunt_shows_only_the_seats_observations(seed: int, seat: Seat) -> None:
    """Two matches that the seat cannot tell apart give its player the same data throughout."""
    step, observe, begun = hunt()
    states = [begun, begun]
    player = (seat - 1) ^ int(begun._first)
    for actions in zip(*(actions_of(match) for match in pair_of(seed, seat)), strict=True):
        states = [step(state, action) for state, action in zip(states, actions, strict=True)]
        one, two = states
        assert (observe(one, player) == observe(two, player)).all()
        assert one.rewards.tolist() == two.rewards.tolist()
        if one.current_player == player:
            assert one.legal_action_mask.tolist() == two.legal_action_mask.tolist()
            assert one.observation.tolist() == two.observation.tolist()


def hunt() -> tuple[Any, Any, Any]:
    if not _HUNT:
        env = make(HUNT)
        _HUNT.append((jax.jit(env.step), jax.jit(env.observe), env.init(jax.random.PRNGKey(0))))
    return _HUNT[0]


_HUNT: list[tuple[Any, Any, Any]] = []


def test_flip_states_hold_no_undrawn_values() -> None:
    """Until a tile is turned, all games have the same state with any key."""
    env = make("flip")
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), 50))
    for part in jax.tree.leaves(states._position):
        assert (part == part[0]).all()
    turn = jax.jit(jax.vmap(env.step, (0, None, 0)))
    turned = turn(states, 0, jax.random.split(jax.random.PRNGKey(1), 50))
    assert len({row.tobytes() for row in np.asarray(turned.observation)}) > 3  # and chance did come into it
