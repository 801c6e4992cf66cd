"""Dice: equal for a single environment and its place in a batch, and fair."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from duels.envs import dice
from duels.vector import make

seeds = st.integers(0, 2**64 - 1)


def fallen(streams: NDArray[np.uint64], ticks: int) -> NDArray[np.uint64]:
    """[tick, stream] the next words of streams."""
    words = []
    for _ in range(ticks):
        chance, bits = dice.roll(streams)
        words.append((chance << 32) + bits)
        streams = dice.advance(streams)
    return np.stack(words)


def make_streams(seed: int, first: int, count: int) -> NDArray[np.uint64]:
    """The streams of a batch."""
    batch = make("lights", count, seed, first=first, lights=2)
    return batch._streams


@given(seeds, st.integers(0, 2**65), st.integers(1, 20))
@example(0, 2**64 - 3, 2)
def test_arrays_and_integers_draw_the_same(seed: int, first: int, ticks: int) -> None:
    streams = make_streams(seed, first, 5)
    words = fallen(streams, ticks)
    for place in range(5):
        stream = dice.stream(seed, first + place)
        assert stream == int(streams[place])
        for tick in range(ticks):
            chance, bits = dice.roll(stream)
            assert (chance << 32) + bits == int(words[tick, place])
            stream = dice.advance(stream)


def test_splitmix64_is_the_published_one() -> None:
    """The first numbers for the seed 1234567, as published with the generator."""
    stream, words = 1234567, []
    for _ in range(3):
        chance, bits = dice.roll(stream)
        words.append((chance << 32) + bits)
        stream = dice.advance(stream)
    assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_draws_are_uniform() -> None:
    bits = (fallen(make_streams(3, 0, 700), 300) & np.uint64(dice.HALF_WORD)).astype(np.int64)
    for count in (2, 5, 7, 14):
        counts = np.bincount((bits * count >> 32).ravel(), minlength=count)
        expected = bits.size / count
        # Chi squared, far beyond what chance gives: five standard deviations.
        assert ((counts - expected) ** 2 / expected).sum() < count - 1 + 5 * (2 * (count - 1)) ** 0.5


def test_streams_differ() -> None:
    words = fallen(make_streams(0, 0, 2000), 5)
    assert len(np.unique(words)) == words.size
    assert not np.intersect1d(words, fallen(make_streams(1, 0, 2000), 5)).size
