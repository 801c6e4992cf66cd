"""Zeros and ones packed into 32-bit words: a table of them is small, and a row of it quick to look up."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

WORD = 32
_PLACES = np.arange(WORD, dtype=np.uint32)


def words_for(count: int) -> int:
    """How many words so many bits take."""
    return -(-count // WORD)


def pack(bits: NDArray[Any]) -> NDArray[np.uint32]:
    """[…, word] the bits of [..., bit], the first of a word its lowest."""
    count = bits.shape[-1]
    filled = np.zeros((*bits.shape[:-1], words_for(count) * WORD), np.uint8)
    filled[..., :count] = bits
    words: NDArray[np.uint32] = np.packbits(filled, axis=-1, bitorder="little").view("<u4")
    return words.astype(np.uint32)


def unpack(words: Any, first: int, count: int) -> Any:
    """[bit] `count` bits of the words of one row, from bit number `first` on."""
    bits = (words[:, None] >> _PLACES) & 1
    return bits.astype(jnp.bool_).reshape(-1)[first : first + count]


def settled(words: Any) -> Any:
    """The same words, worked out once.

    On a CPU the compiler would work them out again for every bit that is unpacked. A barrier does not stop
    it, a lookup does.
    """
    return words[jnp.arange(len(words))]
