"""Counter-based random numbers: a draw depends on the seed, the environment's number and the tick only.

A batch therefore draws the same numbers whether it is stepped whole or in parts, and a single environment the
same as its place in a batch. The generator is SplitMix64: a stream is a 64-bit counter that grows with every
tick, and a random word is the counter, mixed. The upper half of a word is for chance, the lower half for a
random player. Chance before the first decision of a game, and a randomly drawn seat, use the tick at which
the game starts with another mix. An abandoned game takes a tick, so that the next one starts differently.
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
    """Return the stream of environment `number` under `seed`."""
    return _mix((_mix((check_int("seed", seed) + GAMMA) & _WORD) + (number + 1) * GAMMA) & _WORD)


def advance(stream: int, ticks: int = 1) -> int:
    """Return the stream after this many ticks."""
    return (stream + ticks * GAMMA) & _WORD


def roll(stream: int) -> tuple[int, int]:
    """Return the next 32 bits for chance and 32 bits for a random player."""
    return split_word(advance(stream))


def split_word(stream: int) -> tuple[int, int]:
    """Return the bits of the stream's last tick, as `roll` does."""
    word = _mix(stream)
    return word >> 32, word & HALF


def start_bits(stream: int) -> int:
    """Return 32 bits for chance before the first decision of a game that starts now."""
    return _mix(stream ^ BEGIN) >> 32


def draw_seat(stream: int) -> int:
    """Return a random seat, 0 or 1, for the agent of a game that starts now."""
    return _mix(stream ^ SEAT) >> 63


def pick(bits: int, count: int) -> int:
    """Return a number below `count`, all equally likely, from 32 random bits."""
    return bits * count >> 32


def draw_many(odds: NDArray[np.float64], bits: ArrayLike) -> NDArray[np.int64]:
    """[...] the index that 32 random bits draw by the probabilities [..., index]."""
    drawn: NDArray[np.int64] = (np.asarray(bits)[..., None] >= bounds(odds)).sum(axis=-1)
    return drawn


def bounds(odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """[..., index] the 32-bit number below which this index or an earlier one is drawn."""
    bounds = (np.cumsum(odds, axis=-1) * 2**32).round().astype(np.int64)
    # The last possible index gets what rounding left over.
    bounds[bounds >= bounds.max(axis=-1, keepdims=True)] = 1 << 32
    return bounds


def streams(seed: int, first: int, count: int) -> Words:
    """Return the streams of `count` environments, starting with number `first`."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(first & _WORD)
    return _mix_all(numbers * np.uint64(GAMMA) + np.uint64(_mix((check_int("seed", seed) + GAMMA) & _WORD)))


def streams_from_seeds(seeds: Words) -> Words:
    """Return the streams of single environments with these 64-bit seeds."""
    return next_words(next_words(seeds))


def next_words(streams: Words) -> Words:
    """Return the next word of every stream."""
    return _mix_all(streams + np.uint64(GAMMA))


def start_bits_many(streams: Words) -> NDArray[np.int64]:
    """Return `start_bits` of every stream, as signed numbers."""
    return (_mix_all(streams ^ np.uint64(BEGIN)) >> np.uint64(32)).view(np.int64)


def draw_seats(streams: Words) -> NDArray[np.int8]:
    """Return `draw_seat` of every stream."""
    return (_mix_all(streams ^ np.uint64(SEAT)) >> np.uint64(63)).astype(np.int8)


def _mix_all(words: Words) -> Words:
    """`_mix` on an array, in place."""
    for shift, factor in ((30, MIX_1), (27, MIX_2)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words
