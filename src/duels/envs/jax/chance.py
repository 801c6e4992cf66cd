"""Random draws from a key: 32 bits for each purpose, and uniform choices from them.

A key is already random, so a short hash of it and the purpose is enough. JAX's own generator takes longer
than the rest of a step.
"""

from enum import IntEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

MAX_OUTCOMES = 2**16  # with more, the products in `pick` overflow 32 bits


class Purpose(IntEnum):
    """The purpose of random bits: one key gives different bits for each purpose."""

    STEP = 1
    """Chance after an action."""
    FIRST = 2
    """The player who moves first."""
    START = 3
    """Chance before the first decision."""


def random_bits(key: Any, purpose: Purpose) -> Any:
    """Return 32 random bits."""
    mixed = jnp.uint32(purpose)
    for word in jax.random.key_data(key):
        mixed = _mix(mixed ^ word)
    return mixed


def pick(bits: Any, count: Any) -> Any:
    """Return a number below `count` (at most MAX_OUTCOMES), all equally likely, from 32 random bits."""
    upper, lower = bits >> 16, bits & 0xFFFF
    count = jnp.asarray(count).astype(jnp.uint32)
    return ((upper * count + (lower * count >> 16)) >> 16).astype(jnp.int32)


def _mix(word: Any) -> Any:
    # lowbias32 by C. Wellons: a permutation in which every bit depends on every other.
    word = (word ^ (word >> 16)) * np.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * np.uint32(0x846CA68B)
    return word ^ (word >> 16)
