"""Sets of up to 64 things as bits, in compiled code: to count them, and to choose one.

Needs the extra `fast`.
"""

from typing import Any

import numpy as np
from numba import njit

_1, _2, _3, _4, _8, _56 = map(np.uint64, (1, 2, 3, 4, 8, 56))
_BYTE = np.uint64(0xFF)
_EVEN, _PAIRS, _NIBBLES = map(np.uint64, (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_EACH, _TOPS = map(np.uint64, (0x0101010101010101, 0x8080808080808080))

CHOSEN = np.zeros((256, 8), np.uint8)
"""[byte, k] where its k-th bit is, for `kth`."""
for _byte in range(256):
    _set = [bit for bit in range(8) if _byte >> bit & 1]
    CHOSEN[_byte, : len(_set)] = _set


@njit(inline="always")
def _counts(bits: Any) -> Any:
    """How many bits are set up to the end of each byte."""
    bits = bits - ((bits >> _1) & _EVEN)
    bits = (bits & _PAIRS) + ((bits >> _2) & _PAIRS)
    return ((bits + (bits >> _4)) & _NIBBLES) * _EACH


@njit(inline="always")
def count(bits: Any) -> Any:
    """How many bits are set; LLVM makes one instruction of this where there is one."""
    return _counts(bits) >> _56


@njit(inline="always")
def kth(bits: Any, k: Any, chosen: Any) -> Any:
    """Where the k-th set bit is; `chosen` is CHOSEN, flat."""
    counts = _counts(bits)
    at = count(((k * _EACH | _TOPS) - counts) & _TOPS) << _3
    return at + np.uint64(chosen[((bits >> at & _BYTE) << _3) + k - (counts << _8 >> at & _BYTE)])
