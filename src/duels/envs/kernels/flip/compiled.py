"""The functions for one game, compiled, and a rollout that draws for itself. Needs the extra `fast`."""

from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.kernels.flip import single

# In an order in which each calls only earlier ones: a compiled function must find compiled ones.
_ORDER = ("start", "value_at", "reveal", "lift", "play", "place_of", "spread", "play_random")

_32 = np.uint64(32)


@njit(inline="always")
def _count_bits(word: Any) -> Any:
    """How many bits are set; integers here have no method for it."""
    word -= word >> 1 & 0x5555555555555555
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333)
    return ((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56


def _compile() -> Any:
    scope = {**vars(single), "count_bits": _count_bits}
    for name in _ORDER:
        source = getattr(single, name)
        scope[name] = njit(nogil=True)(FunctionType(source.__code__, scope, name, source.__defaults__))
    return scope["start"], scope["play_random"]


_start, _play_random = _compile()


@njit(nogil=True)
def roll(
    games: Any,
    streams: Any,
    steps: int,
    wins: Any,
    side: int,
    inner: int,
    values: int,
    copies: int,
    target: int,
) -> None:
    """Random play of every game, `steps` ticks of its stream; a game that ends starts again."""
    for number in range(len(games)):
        game = games[number]
        stream = streams[number]
        for _ in range(steps):
            stream += GAMMA
            word = mix(stream)
            winner = _play_random(
                game, np.int64(word & HALF), np.int64(word >> _32), side, inner, values, target
            )
            if winner >= 0:
                wins[number, winner] += 1
                _start(game, side * side, values, copies)
        streams[number] = stream
