"""Randomness by counting: what falls depends on the seed, the environment's number and the tick only.

So a batch draws the same whether it is stepped whole or in parts, and one environment the same as its
place in a batch. It is SplitMix64: a stream is a 64-bit number that every tick adds to; the word that
falls is the number, mixed. The upper half of a word is for chance, the lower for a random player. Chance
before the first decision of a game draws from the tick at which the game begins, mixed in another way,
and so does the seat that an agent takes by lot. A game that is broken off takes a tick, so that the next
one begins differently.
"""

from duels.core.extras import require_extra
from duels.core.validation import check_int

with require_extra("vector"):
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


def draw_all(odds: NDArray[np.float64], bits: ArrayLike) -> NDArray[np.int64]:
    """[...] the way that 32 random bits draw by the probabilities [..., way]."""
    drawn: NDArray[np.int64] = (np.asarray(bits)[..., None] >= bounds(odds)).sum(axis=-1)
    return drawn


def bounds(odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """[..., way] the 32-bit number below which a way, or one before it, is drawn by its probability."""
    bounds = (np.cumsum(odds, axis=-1) * 2**32).round().astype(np.int64)
    # The last way that can be drawn gets what rounding left over.
    bounds[bounds >= bounds.max(axis=-1, keepdims=True)] = 1 << 32
    return bounds


def streams(seed: int, first: int, count: int) -> Words:
    """The streams of `count` environments from number `first` on, as an array."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(first & _WORD)
    return _mix_all(numbers * np.uint64(GAMMA) + np.uint64(_mix((check_int("seed", seed) + GAMMA) & _WORD)))


def streams_of(seeds: Words) -> Words:
    """The streams of single environments with these seeds, an array of 64-bit numbers."""
    return next_words(next_words(seeds))


def next_words(streams: Words) -> Words:
    """The next word of every stream."""
    return _mix_all(streams + np.uint64(GAMMA))


def begin_all(streams: Words) -> NDArray[np.int64]:
    """`begin` for every stream, as signed numbers to reckon with."""
    return (_mix_all(streams ^ np.uint64(BEGIN)) >> np.uint64(32)).view(np.int64)


def seat_all(streams: Words) -> NDArray[np.int8]:
    """`seat` for every stream."""
    return (_mix_all(streams ^ np.uint64(SEAT)) >> np.uint64(63)).astype(np.int8)


def _mix_all(words: Words) -> Words:
    """`_mix` on an array, in place."""
    for shift, factor in ((30, MIX_1), (27, MIX_2)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words
