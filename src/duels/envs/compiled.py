"""Rollouts in compiled code: the same games as the NumPy ones, drawn from the same streams.

Needs the extra `fast`. Compiled once a machine; the functions hold no lock, so threads run side by side.
"""

from typing import Any

from duels.core.extras import extra
from duels.envs import dice

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


@njit(inline="always")
def _move(i: int, streams: Any, rows: Any, counts: Any, packed: Any, tickets: Any) -> Any:
    """The packed word of a random move in game `i`, drawn from its stream; `tickets` unsigned."""
    streams[i] += GAMMA
    word = mix(streams[i])
    index = np.uint64(rows[i]) + ((word & HALF) * np.uint64(counts[i]) >> _32) * tickets
    if tickets > 1:
        index += (word >> _32) * tickets >> _32
    return packed[index]


@njit(inline="always")
def _policy_move(i: int, streams: Any, rows: Any, bounds: Any, packed: Any, tickets: Any) -> Any:
    """The same of a move by a policy: the first whose bound is above the bits drawn."""
    streams[i] += GAMMA
    word = mix(streams[i])
    bits, index = np.int64(word & HALF), np.uint64(rows[i])
    while bits >= bounds[index]:
        index += tickets
    if tickets > 1:
        index += (word >> _32) * tickets >> _32
    return packed[index]


@njit(nogil=True, cache=True)
def roll_random(where: Any, fields: Any, steps: int, wins: Any) -> None:
    """Random play without a limit.

    `where` are the streams, rows and counts of the games, the packed table and its tickets; `fields` are
    where a packed word holds what (see `tabled`).
    """
    streams, rows, counts, packed, tickets = where
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
                    found = _move(i, streams, rows, counts, packed, ways)
                    rows[i] = found & row_mask
                    counts[i] = found >> count_at
                    sums[i - low] += found & won
            for i in range(low, high):
                wins[i, 0] += sums[i - low] >> win_1 & longest
                wins[i, 1] += sums[i - low] >> win_2 & longest


@njit(nogil=True, cache=True)
def roll_random_limited(where: Any, fields: Any, steps: int, wins: Any, clocks: Any, truncated: Any) -> None:
    """Random play under a limit.

    `clocks` are the games' clocks, where a word ticks, the limit, and the count of a game that starts.
    """
    streams, rows, counts, packed, tickets = where
    row_mask, win_1, win_2, count_at, _ = fields
    clock, tick_at, limit, start_count = clocks
    won = (1 << win_1) | (1 << win_2)
    ways = np.uint64(tickets)
    for i in range(len(rows)):
        for _ in range(steps):
            found = _move(i, streams, rows, counts, packed, ways)
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


@njit(nogil=True, cache=True)
def roll_policy(
    where: Any, bounds: Any, fields: Any, steps: int, wins: Any, clocks: Any, truncated: Any
) -> None:
    """Play by a policy, under a limit or one that is never reached; `bounds` are aligned with the table."""
    streams, rows, _, packed, tickets = where
    row_mask, win_1, win_2, _, _ = fields
    clock, tick_at, limit, _ = clocks
    won = (1 << win_1) | (1 << win_2)
    ways = np.uint64(tickets)
    for low in range(0, len(rows), _ABREAST):
        high = min(low + _ABREAST, len(rows))
        for _ in range(steps):
            for i in range(low, high):
                found = _policy_move(i, streams, rows, bounds, packed, ways)
                rows[i] = found & row_mask
                clock[i] += found >> tick_at & 1
                if found & won:
                    wins[i, 0] += found >> win_1 & 1
                    wins[i, 1] += found >> win_2 & 1
                    clock[i] = 0
                elif clock[i] >= limit:
                    truncated[i] += 1
                    clock[i] = 0
                    rows[i] = 0
