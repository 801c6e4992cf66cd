"""Counter-based random numbers: a draw depends only on the seed, the environment's number and the tick.

A batch therefore draws the same numbers as several smaller batches or single environments. All functions take
one integer, or an array with one 64-bit integer per environment.

The generator is SplitMix64. A stream is a 64-bit counter that grows with every tick, and a random word is the
mixed counter. The upper half of a word is for chance, the lower half for a random player. The first tick of a
game, mixed differently, also gives the agent's seat and the chance events before the first decision.
Abandoning a game takes a tick, so that the next game starts differently.
"""

from typing import Any, TypeVar

from duels.core.errors import require_extra

with require_extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# NumPy's type hints do not know that operations with integers keep uint64.
Words = NDArray[Any]
Word = TypeVar("Word", int, Words)

GAMMA = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
WORD = 0xFFFFFFFFFFFFFFFF
HALF_WORD = 0xFFFFFFFF
BEGIN = 0xA5A5A5A5A5A5A5A5
SEAT = 0x5EA75EA75EA75EA7


def _mix(word: Word) -> Word:
    word = (word ^ word >> 30) * MIX_1 & WORD
    word = (word ^ word >> 27) * MIX_2 & WORD
    word ^= word >> 31
    return word


def stream(seed: Word, number: Word | int = 0) -> Word:
    """Return the stream of environment `number` under `seed`."""
    return _mix(_mix(seed + GAMMA & WORD) + (number + 1) * GAMMA & WORD)


def advance(stream: Word) -> Word:
    """Return the stream after one tick."""
    return stream + GAMMA & WORD


def roll(stream: Word) -> tuple[Word, Word]:
    """Return the next 32 bits for chance and 32 bits for a random player."""
    word = _mix(advance(stream))
    return word >> 32, word & HALF_WORD


def start_bits(stream: Word) -> Word:
    """Return 32 bits for chance before the first decision of a game that starts at this tick."""
    return _mix(stream ^ BEGIN) >> 32


def draw_seat(stream: Word) -> Word:
    """Return a random seat, 0 or 1, for the agent in a game that starts at this tick."""
    return _mix(stream ^ SEAT) >> 63


def pick(bits: Word, count: int) -> Word:
    """Return a uniformly random number below `count`, from 32 random bits."""
    return bits * count >> 32


def draw_many(odds: NDArray[np.float64], bits: ArrayLike) -> NDArray[np.int64]:
    """Return indices drawn with these probabilities, indexed [..., index], from 32 random bits each."""
    drawn: NDArray[np.int64] = (np.asarray(bits)[..., None] >= bounds(odds)).sum(axis=-1)
    return drawn


def bounds(odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the cumulative probabilities times 2**32, indexed [..., index]."""
    bounds = (np.cumsum(odds, axis=-1) * 2**32).round().astype(np.int64)
    # Rounding may leave the total below 2**32: the last possible index gets the remainder.
    bounds[bounds >= bounds.max(axis=-1, keepdims=True)] = 1 << 32
    return bounds
