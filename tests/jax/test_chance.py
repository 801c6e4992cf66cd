"""Random bits of a key: even for any kind of key, and different for every purpose."""

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="make jax-test installs it")

import jax.numpy as jnp  # noqa: E402

from duels.core.errors import TooLarge  # noqa: E402
from duels.envs import jax as jax_env  # noqa: E402
from duels.envs.jax import MAX_OUTCOMES, Purpose, TableEnv, pick, random_bits  # noqa: E402
from duels.envs.settings import DEFAULT_SETTINGS  # noqa: E402
from tests.outside.highcard import HighCard  # noqa: E402

pytestmark = pytest.mark.slow
KEYS = 1 << 14
PLAYER_KINDS = {
    "seeds in order": lambda: jnp.stack([jnp.zeros(KEYS, jnp.uint32), jnp.arange(KEYS, dtype=jnp.uint32)], 1),
    "split": lambda: jax.random.split(jax.random.PRNGKey(0), KEYS),
    "typed": lambda: jax.random.split(jax.random.key(0), KEYS),
    "of four words": lambda: jax.random.split(jax.random.key(0, impl="rbg"), KEYS),
}


def ones(words: Any) -> Any:
    """[place] how often each of the 32 bits is set, in standard errors from a half."""
    bits = np.unpackbits(np.asarray(words).view(np.uint8).reshape(len(words), 4), axis=1)
    return (bits.mean(axis=0) - 0.5) * 2 * len(words) ** 0.5


@pytest.mark.parametrize("kind", PLAYER_KINDS)
def test_bits_are_even_and_independent_by_purpose(kind: str) -> None:
    keys = PLAYER_KINDS[kind]()
    drawn = [np.asarray(jax.vmap(lambda key, to=to: random_bits(key, to))(keys)) for to in Purpose]
    pairs = [drawn[one] ^ drawn[two] for one, two in ((0, 1), (0, 2), (1, 2))]
    neighbours = [words[1:] ^ words[:-1] for words in drawn]
    for words in (*drawn, *pairs, *neighbours):
        assert np.abs(ones(words)).max() < 5


def test_draws_are_uniform() -> None:
    bits = jax.vmap(lambda key: random_bits(key, Purpose.STEP))(PLAYER_KINDS["seeds in order"]())
    counts = np.bincount(np.asarray(pick(bits, 30)), minlength=30)
    assert len(counts) == 30
    assert np.abs(counts - KEYS / 30).max() < 5 * (KEYS / 30) ** 0.5


@pytest.mark.parametrize("count", [30, MAX_OUTCOMES - 1, MAX_OUTCOMES])
def test_draws_are_exact_up_to_the_maximum(count: int) -> None:
    ends = np.arange(1 << 16, dtype=np.uint32) << 16
    bits = np.concatenate([ends, ends - 1])
    exact = bits.astype(np.uint64) * count >> 32
    assert (np.asarray(pick(jnp.asarray(bits), count)) == exact).all()
    assert len(np.unique(exact)) == count


def test_rejects_too_many_initial_states(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = len(TableEnv(HighCard(), DEFAULT_SETTINGS)._starts)
    monkeypatch.setattr(jax_env, "MAX_OUTCOMES", starts)
    TableEnv(HighCard(), DEFAULT_SETTINGS)
    monkeypatch.setattr(jax_env, "MAX_OUTCOMES", starts - 1)
    with pytest.raises(TooLarge, match=rf"too many openings for JAX: {starts},"):
        TableEnv(HighCard(), DEFAULT_SETTINGS)
