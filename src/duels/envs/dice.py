"""Randomness by counting: what falls depends on the seed, the environment's number and the tick only.

So a batch draws the same whether it is stepped whole or in parts, and one environment the same as its
place in a batch. It is SplitMix64: a stream is a 64-bit number that every tick adds to; the word that
falls is the number, mixed. The upper half of a word is for chance, the lower for a random player. Chance
before the first decision of a game draws from the tick at which the game begins, mixed in another way,
and so does the seat that an agent takes by lot. A game that is broken off takes a tick, so that the next
one begins differently.
"""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from duels.core.validation import check_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Words = NDArray[np.uint64]

GAMMA = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
_WORD = 0xFFFFFFFFFFFFFFFF
HALF = 0xFFFFFFFF
BEGIN = 0xA5A5A5A5A5A5A5A5
SEAT = 0x5EA75EA75EA75EA7


def _mix(word: int) -> int:
    word = (word ^ (word >> 30)) * MIX_1 & _WORD
    word = (word ^ (word >> 27)) * MIX_2 & _WORD
    return word ^ (word >> 31)


def stream(seed: int, number: int = 0) -> int:
    """The stream of environment `number` under `seed`."""
    return _mix((_mix((check_int("seed", seed) + GAMMA) & _WORD) + (number + 1) * GAMMA) & _WORD)


def advance(stream: int, ticks: int = 1) -> int:
    """The stream some ticks later."""
    return (stream + ticks * GAMMA) & _WORD


def roll(stream: int) -> tuple[int, int]:
    """What falls next: 32 bits for chance, 32 bits for a random player."""
    return fallen(advance(stream))


def fallen(stream: int) -> tuple[int, int]:
    """What fell at the stream's last tick, in the same way."""
    word = _mix(stream)
    return word >> 32, word & HALF


def begin(stream: int) -> int:
    """32 bits for chance before the first decision of a game that begins now."""
    return _mix(stream ^ BEGIN) >> 32


def seat(stream: int) -> int:
    """Who an agent is, 0 or 1, in a game that begins now."""
    return _mix(stream ^ SEAT) >> 63


def pick(bits: int, ways: int) -> int:
    """One of `ways` equally likely ways, from 32 random bits."""
    return bits * ways >> 32


def draw(odds: "Sequence[float]", bits: int) -> int:
    """`draw_all` for one draw, without arrays, which are slow for one."""
    bounds = [round(reached * 2**32) for reached in accumulate(odds)]
    return min(bisect_right(bounds, bits), bounds.index(bounds[-1]))


def draw_all(odds: "NDArray[np.float64]", bits: "ArrayLike") -> "NDArray[np.int64]":
    """[...] the way that 32 random bits draw by the probabilities [..., way]."""
    import numpy as np

    drawn: NDArray[np.int64] = (np.asarray(bits)[..., None] >= bounds(odds)).sum(axis=-1)
    return drawn


def bounds(odds: "NDArray[np.float64]") -> "NDArray[np.int64]":
    """[..., way] the 32-bit number below which a way, or one before it, is drawn by its probability."""
    import numpy as np

    bounds = (np.cumsum(odds, axis=-1) * 2**32).round().astype(np.int64)
    # The last way that can be drawn gets what rounding left over.
    bounds[bounds >= bounds.max(axis=-1, keepdims=True)] = 1 << 32
    return bounds


def streams(seed: int, first: int, count: int) -> "Words":
    """The streams of `count` environments from number `first` on, as an array."""
    import numpy as np

    numbers = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(first & _WORD)
    return _mix_all(numbers * np.uint64(GAMMA) + np.uint64(_mix((check_int("seed", seed) + GAMMA) & _WORD)))


def streams_of(seeds: "Words") -> "Words":
    """The streams of single environments with these seeds, an array of 64-bit numbers."""
    import numpy as np

    gamma = np.uint64(GAMMA)
    return _mix_all(_mix_all(seeds + gamma) + gamma)


def words(streams: "Words", ticks: int) -> "Words":
    """The next `ticks` words of every stream, a row a tick."""
    import numpy as np

    counts = np.arange(1, ticks + 1, dtype=np.uint64) * np.uint64(GAMMA)
    return _mix_all(streams + counts[:, None])


def next_words(streams: "Words") -> "Words":
    """The next word of every stream."""
    return _mix_all(streams + _gamma())


def begin_all(streams: "Words") -> "NDArray[np.int64]":
    """`begin` for every stream, as signed numbers to reckon with."""
    import numpy as np

    return (_mix_all(streams ^ np.uint64(BEGIN)) >> np.uint64(32)).view(np.int64)


def seat_all(streams: "Words") -> "NDArray[np.int8]":
    """`seat` for every stream."""
    import numpy as np

    return (_mix_all(streams ^ np.uint64(SEAT)) >> np.uint64(63)).astype(np.int8)


def _mix_all(words: "Words") -> "Words":
    """`_mix` on an array, in place."""
    import numpy as np

    shifted = np.empty_like(words)
    for shift, factor in _mixing():
        words ^= np.right_shift(words, shift, shifted)
        if factor is not None:
            words *= factor
    return words


@lru_cache
def _gamma() -> "Words":
    """GAMMA as an array, in the same way."""
    import numpy as np

    return np.array(GAMMA, np.uint64)


@lru_cache
def _mixing() -> "list[tuple[Words, Words | None]]":
    """How far to shift, and what to multiply by: arrays of one number, which NumPy takes quickest."""
    import numpy as np

    steps = ((30, MIX_1), (27, MIX_2), (31, None))
    return [
        (np.array(shift, np.uint64), None if factor is None else np.array(factor, np.uint64))
        for shift, factor in steps
    ]
