"""Pgx's interface: its own test, its wrapper, illegal actions, copies, pictures."""

import pickle
from types import SimpleNamespace
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="make jax-test installs it")

import jax.numpy as jnp  # noqa: E402
import pgx  # noqa: E402
from pgx.experimental import auto_reset as pgx_auto_reset  # noqa: E402

from duels.core.errors import DuelsError  # noqa: E402
from duels.envs.jax import auto_reset, make  # noqa: E402
from duels.games import GAMES  # noqa: E402
from tests.jax.cases import FORMS, random_actions, resolve_rules  # noqa: E402

pytestmark = pytest.mark.slow


def equal(one: Any, two: Any) -> bool:
    same = jax.tree.map(lambda a, b: a.dtype == b.dtype and bool((a == b).all()), one, two)
    return all(jax.tree.leaves(same))


@pytest.mark.parametrize("game", GAMES)
def test_passes_the_api_test_of_pgx(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pgx's test accepts only the ids of Pgx's own environments. Its random player takes only batches, so with
    # today's JAX the test fails for Pgx's own environments too.
    monkeypatch.setattr("pgx._src.api_test.EnvId", Literal[game])
    monkeypatch.setattr("pgx._src.api_test.act_randomly", jax.jit(random_actions))
    pgx.api_test(make(game), num=3)


@pytest.mark.parametrize(
    "settings", ["lights", "chain of 2 boards", "hunt of 6 turns, then drawn", "flip of 9", "high card"]
)
def test_works_with_pgx_auto_reset(settings: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pgx splits a key in two. Ours uses one key for both draws, because each purpose gets its own bits.
    one_key = SimpleNamespace(lax=jax.lax, random=SimpleNamespace(split=lambda key: (key, key)))
    monkeypatch.setattr("pgx.experimental.wrappers.jax", one_key)
    env = make(resolve_rules(settings), limit_ends=FORMS[settings][1])
    ours = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    theirs = jax.jit(jax.vmap(pgx_auto_reset(env.step, env.init)))
    key = jax.random.PRNGKey(2)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, 8))
    ended = 0
    for number in range(30):
        for_actions, for_steps = jax.random.split(jax.random.fold_in(key, number))
        keys = jax.random.split(for_steps, 8)
        actions = random_actions(for_actions, states.legal_action_mask)
        expected, states = theirs(states, actions, keys), ours(states, actions, keys)
        assert equal(states, expected)
        ended += int((states.terminated | states.truncated).sum())
    assert ended > 0


def test_auto_reset_rejects_functions_of_different_environments() -> None:
    env = make("lights")
    with pytest.raises(DuelsError, match="of the same environment"):
        auto_reset(env.step, make("leap").init)
    with pytest.raises(DuelsError, match="of the same environment"):
        auto_reset(lambda state, action, key: state, env.init)


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_action_loses(game: str) -> None:
    env = make(game)
    step = jax.jit(env.step)
    init = jax.jit(env.init)
    for seed in range(2):
        key = jax.random.PRNGKey(seed)
        state = step(init(key), int(init(key).legal_action_mask.argmax()), key)
        illegal = np.flatnonzero(~np.asarray(state.legal_action_mask))
        for action in (int(illegal[0]), -1, env.num_actions):
            loser = int(state.current_player)
            after = step(state, action, key)
            assert after.terminated
            assert after.legal_action_mask.all()
            assert after.rewards[loser] == -1
            assert after.rewards[1 - loser] == 1
            assert int(after.current_player) == 1 - loser
            again = step(after, 0, key)
            assert equal(again, after.replace(rewards=jnp.zeros(2, jnp.float32)))


@pytest.mark.parametrize("game", ["chain", "flip"])
def test_without_a_key_the_state_draws_chance(game: str) -> None:
    env = make(game)
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 64))
    keys, ended, positions = [states._key], 0, set()
    for _ in range(40):
        states = step(states, random_actions(jax.random.key(len(keys)), states.legal_action_mask))
        ended += int(states.terminated.sum())
        keys.append(states._key)
        positions |= {bytes(row) for row in np.asarray(states.observation)}
    assert ended > 10  # so games have begun again
    assert len({bytes(key) for step_keys in keys for key in np.asarray(step_keys)}) == 64 + ended
    assert len(positions) > 200
    again = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 64))
    for number in range(1, 41):
        again = step(again, random_actions(jax.random.key(number), again.legal_action_mask))
    assert equal(again, states)


@pytest.mark.parametrize("game", GAMES)
def test_the_discount_says_who_moves_next(game: str) -> None:
    env = make(game)
    step = jax.jit(jax.vmap(env.step))
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 64))
    seen: set[float] = set()
    for number in range(60):
        movers = states.current_player
        states = step(states, random_actions(jax.random.key(number), states.legal_action_mask))
        same = jnp.where(states.current_player == movers, 1.0, -1.0)
        assert (states.discount == jnp.where(states.terminated, 0.0, same)).all()
        seen |= set(states.discount.tolist())
    assert seen == ({-1.0, 0.0} if game in ("lights", "leap") else {-1.0, 0.0, 1.0})


def test_games_without_chance_need_no_key() -> None:
    env = make("lights")
    state = env.step(env.init(jax.random.PRNGKey(0)), 0)
    assert not state.terminated
    assert int(state._step_count) == 1


@pytest.mark.parametrize("game", GAMES)
def test_environments_describe_themselves(game: str) -> None:
    env = make(game)
    state = env.init(jax.random.PRNGKey(0))
    assert (env.id, env.version, env.num_players) == (game, "v0", 2)
    assert make(env.id) is env
    assert env.observation_shape == state.observation.shape == env.observe(state, 1).shape
    assert (env.num_actions,) == state.legal_action_mask.shape
    assert len(env.action_names) == env.num_actions
    assert len(env.feature_names) == env.observation_shape[0]


@pytest.mark.parametrize("game", GAMES)
def test_copies_continue_identically(game: str) -> None:
    env = make(game)
    key = jax.random.PRNGKey(5)
    state = env.init(key)
    other_env, other = pickle.loads(pickle.dumps((env, state)))
    action = int(state.legal_action_mask.argmax())
    assert (other_env, hash(other_env)) == (env, hash(env))
    assert equal(state, other)
    assert equal(jax.jit(env.step)(state, action, key), jax.jit(other_env.step)(other, action, key))


def test_environments_differ_by_their_options() -> None:
    assert make("lights") == make("lights", lights=7)
    assert make("lights") != make("lights", lights=8)
    assert make("chain", max_boards=2) != make("chain", max_boards=2, limit_ends="draw")


@pytest.mark.parametrize("game", GAMES)
def test_pictures_of_one_game_and_of_many(game: str) -> None:
    env = make(game)
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    states = jax.jit(jax.vmap(env.init))(keys)
    states = jax.jit(jax.vmap(env.step))(states, states.legal_action_mask.argmax(axis=1), keys)
    many = ElementTree.fromstring(states.to_svg())
    single = ElementTree.fromstring(jax.tree.map(lambda part: part[0], states).to_svg())
    assert len(many) == 3
    assert len(single) == 1
    assert float(many.get("height", "0")) == 3 * float(single.get("height", "0"))


def test_rejects_limits_of_games_without_one() -> None:
    with pytest.raises(DuelsError, match="only with a limit"):
        make("chain", limit_ends="draw")
