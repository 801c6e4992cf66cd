"""Rollouts in compiled code: the same games as the NumPy ones, drawn from the same streams.

Needs the extra `fast`. Compiled once a machine; the functions hold no lock, so threads run side by side.
"""

from typing import Any

from duels.envs import dice
from duels.envs.extras import extra

with extra("fast"):
    import numpy as np
    from numba import njit

GAMMA = np.uint64(dice.GAMMA)
_MIX_1 = np.uint64(dice.MIX_1)
_MIX_2 = np.uint64(dice.MIX_2)
HALF = np.uint64(dice.HALF)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

# Games that are stepped in turn: their loads from the tables overlap, and they stay in the first cache.
_ABREAST = 256


@njit(inline="always")
def mix(word: Any) -> Any:
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)


@njit(nogil=True, cache=True)
def roll_random(
    streams: Any,
    rows: Any,
    counts: Any,
    packed: Any,
    tickets: int,
    steps: int,
    fields: Any,
    wins: Any,
) -> None:
    """Random play without a limit; `fields` are where a packed word holds what (see `tabled`)."""
    row_mask, win_1, win_2, count_at, field = fields
    won = (1 << win_1) | (1 << win_2)
    longest = (1 << field) - 1
    sums = np.empty(_ABREAST, np.int64)
    ways = np.uint64(tickets)
    for low in range(0, len(rows), _ABREAST):
        high = min(low + _ABREAST, len(rows))
        for begun in range(0, steps, longest):
            sums[:] = 0
            for _ in range(begun, min(begun + longest, steps)):
                for i in range(low, high):
                    streams[i] += GAMMA
                    word = mix(streams[i])
                    index = np.uint64(rows[i]) + ((word & HALF) * np.uint64(counts[i]) >> _32) * ways
                    if tickets > 1:
                        index += (word >> _32) * ways >> _32
                    found = packed[index]
                    rows[i] = found & row_mask
                    counts[i] = found >> count_at
                    sums[i - low] += found & won
            for i in range(low, high):
                wins[i, 0] += sums[i - low] >> win_1 & longest
                wins[i, 1] += sums[i - low] >> win_2 & longest


@njit(nogil=True, cache=True)
def roll_random_limited(
    streams: Any,
    rows: Any,
    counts: Any,
    packed: Any,
    tickets: int,
    steps: int,
    fields: Any,
    wins: Any,
    clock: Any,
    tick_at: int,
    limit: int,
    start_count: int,
    truncated: Any,
) -> None:
    """Random play under a limit, counted in `clock`."""
    row_mask, win_1, win_2, count_at, _ = fields
    won = (1 << win_1) | (1 << win_2)
    ways = np.uint64(tickets)
    for i in range(len(rows)):
        for _ in range(steps):
            streams[i] += GAMMA
            word = mix(streams[i])
            index = np.uint64(rows[i]) + ((word & HALF) * np.uint64(counts[i]) >> _32) * ways
            index += (word >> _32) * ways >> _32
            found = packed[index]
            rows[i] = found & row_mask
            counts[i] = found >> count_at
            clock[i] += found >> tick_at & 1
            if found & won:
                wins[i, 0] += found >> win_1 & 1
                wins[i, 1] += found >> win_2 & 1
                clock[i] = 0
            elif clock[i] >= limit:
                truncated[i] += 1
                clock[i] = 0
                rows[i] = 0
                counts[i] = start_count
