"""What falls by a key: 32 random bits for every purpose, and equally likely ways from them.

A key is random already, so that a short hash of it and the purpose will do. JAX's own generator takes
longer than the rest of a step.
"""

from enum import IntEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

MOST_WAYS = 2**16  # with more, the products in `share` overflow 32 bits


class Purpose(IntEnum):
    """What bits are for: the same key gives other bits for another purpose."""

    STEP = 1
    """What an action leaves to chance."""
    FIRST = 2
    """Who moves first."""
    START = 3
    """What chance does before the first decision."""


def random_bits(key: Any, purpose: Purpose) -> Any:
    """32 random bits."""
    mixed = jnp.uint32(purpose)
    for word in jax.random.key_data(key):
        mixed = _mix(mixed ^ word)
    return mixed


def share(bits: Any, ways: Any) -> Any:
    """Which of `ways` equally likely ways (at most MOST_WAYS) 32 bits select: the product's upper half."""
    upper, lower = bits >> 16, bits & 0xFFFF
    ways = jnp.asarray(ways).astype(jnp.uint32)
    return ((upper * ways + (lower * ways >> 16)) >> 16).astype(jnp.int32)


def _mix(word: Any) -> Any:
    """A permutation of 32-bit words in which every bit depends on every other: lowbias32 by C. Wellons."""
    word = (word ^ (word >> 16)) * np.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * np.uint32(0x846CA68B)
    return word ^ (word >> 16)
