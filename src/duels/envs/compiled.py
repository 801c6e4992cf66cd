"""Steps and rollouts in compiled code: the same games as the NumPy ones, drawn from the same streams.

Needs the extra `fast`. Compiled once a machine; the functions hold no lock, so threads run side by side.
"""

from typing import Any

from duels.core.extras import extra
from duels.envs import bits, dice

with extra("fast"):
    import numpy as np
    from numba import njit

    from duels.envs.intrinsics import copy_four, fetch
    from duels.solving.compiling import compiled

GAMMA = np.uint64(dice.GAMMA)
_MIX_1 = np.uint64(dice.MIX_1)
_MIX_2 = np.uint64(dice.MIX_2)
HALF = np.uint64(dice.HALF)
_BEGIN = np.uint64(dice.BEGIN)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

# Games that are rolled out in turn: their loads from the tables overlap, and they stay in the first cache.
_IN_TURN = 256


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


@njit(inline="always")
def _begin(i: int, streams: Any, starts: Any) -> Any:
    """The packed word that leads game `i` to the start of its next game."""
    if len(starts) == 1:
        return starts[0]
    return starts[(mix(streams[i] ^ _BEGIN) >> _32) * np.uint64(len(starts)) >> _32]


@compiled(nogil=True)
def roll_wins(where: Any, fields: Any, steps: int, won: Any) -> None:
    """Random play of a game that always begins alike and is won by somebody, without a limit.

    `where` are the streams, rows and counts of the games, the packed words and their tickets; `fields` are
    where a packed word holds what (see `packed`).
    """
    streams, rows, counts, packed, tickets = where
    row, wins, _, _, win_1, win_2, _, count_at, longest = fields
    sums = np.empty(_IN_TURN, np.int64)
    ways = np.uint64(tickets)
    for low in range(0, len(rows), _IN_TURN):
        high = min(low + _IN_TURN, len(rows))
        for begun in range(0, steps, longest):
            sums[:] = 0
            for _ in range(begun, min(begun + longest, steps)):
                for i in range(low, high):
                    found = _move(i, streams, rows, counts, packed, ways)
                    rows[i] = found & row
                    counts[i] = found >> count_at
                    sums[i - low] += found & wins
            for i in range(low, high):
                won[i, 0] += sums[i - low] >> win_1 & longest
                won[i, 1] += sums[i - low] >> win_2 & longest


@compiled(nogil=True)
def roll_random(where: Any, fields: Any, steps: int, tally: Any, clocks: Any) -> None:
    """Random play of any game, under a limit or one that is never reached.

    `tally` counts wins, draws and games cut off; `clocks` are the games' clocks, the limit, and the words
    that lead to where a game begins.
    """
    streams, rows, counts, packed, tickets = where
    clock, limit, starts = clocks
    row, _, ends, draw_at, win_1, win_2, tick_at, count_at, _ = fields
    won, drawn, truncated = tally
    ways = np.uint64(tickets)
    for i in range(len(rows)):
        for _ in range(steps):
            found = _move(i, streams, rows, counts, packed, ways)
            rows[i] = found & row
            counts[i] = found >> count_at
            clock[i] += found >> tick_at & 1
            if found & ends:
                won[i, 0] += found >> win_1 & 1
                won[i, 1] += found >> win_2 & 1
                drawn[i] += found >> draw_at & 1
            elif clock[i] >= limit:
                truncated[i] += 1
            else:
                continue
            begun = _begin(i, streams, starts)
            clock[i] = 0
            rows[i] = begun & row
            counts[i] = begun >> count_at


@compiled(nogil=True)
def roll_policy(where: Any, bounds: Any, fields: Any, steps: int, tally: Any, clocks: Any) -> None:
    """Play by a policy; `bounds` are aligned with the packed words, the rest is as for `roll_random`."""
    streams, rows, _, packed, tickets = where
    clock, limit, starts = clocks
    row, _, ends, draw_at, win_1, win_2, tick_at, _, _ = fields
    won, drawn, truncated = tally
    ways = np.uint64(tickets)
    for low in range(0, len(rows), _IN_TURN):
        high = min(low + _IN_TURN, len(rows))
        for _ in range(steps):
            for i in range(low, high):
                found = _policy_move(i, streams, rows, bounds, packed, ways)
                rows[i] = found & row
                clock[i] += found >> tick_at & 1
                if found & ends:
                    won[i, 0] += found >> win_1 & 1
                    won[i, 1] += found >> win_2 & 1
                    drawn[i] += found >> draw_at & 1
                elif clock[i] >= limit:
                    truncated[i] += 1
                else:
                    continue
                clock[i] = 0
                rows[i] = _begin(i, streams, starts) & row


@compiled(nogil=True)
def look_up(streams: Any, states: Any, actions: Any, successor: Any, moves: Any) -> int:
    """Find where the actions lead, by the streams' next words; nothing changes but `moves`.

    Gives the first game whose action is not allowed; -1: all are.
    """
    width, tickets = successor.shape[1], np.uint64(successor.shape[2])
    flat = successor.reshape(-1)
    for i in range(len(states)):
        action = actions[i]
        if action < 0 or action >= width:
            return i
        index = np.uint64(states[i] * width + action)
        if tickets > 1:
            index = index * tickets + ((mix(streams[i] + GAMMA) >> _32) * tickets >> _32)
        moves[i] = flat[index]
        if moves[i] < 0:
            return i
    return -1


ABREAST = 64
"""Games that are stepped abreast: a set of them is one word, with a bit for each (see `first_of`)."""


@njit(inline="always")
def first_of(games: Any) -> Any:
    """The number of the first game of a set, which has a bit for each game and is not empty."""
    return bits.count(np.uint64((games & -games) - 1))


@njit(inline="always")
def _go_on(streams: Any, clock: Any, states: Any, moves: Any) -> None:
    """Make moves, several at once: this loop has neither branches nor lookups."""
    for j in range(len(states)):
        streams[j] += GAMMA
        clock[j] += moves[j] & 1
        states[j] = moves[j] >> 1


@compiled(nogil=True)
def step(
    begin: int,
    end: int,
    streams: Any,
    states: Any,
    moves: Any,
    result: Any,
    points: Any,
    clock: Any,
    limit: int,
    starts: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
    cut: Any,
    looks: Any,
    rows: Any,
) -> None:
    """Play the moves that `look_up` found, in the games from `begin` to `end`.

    `result` are the results of states and `points` those of results; `starts` are the states that a game
    begins with. Tells rewards, which games ended, and which the limit ended; and copies to `rows` what
    `looks` have for the state.
    """
    words, look, kept = np.uint64(looks.shape[1]), looks.reshape(-1), rows.reshape(-1)
    # Both seats' points as one number.
    reward, point = rewards.reshape(-1).view(np.int64), points.reshape(-1).view(np.int64)
    for low in range(begin, end, ABREAST):
        high = min(low + ABREAST, end)
        if words > 0:
            for number in range(low, high):
                fetch(look, np.uint64(moves[number] >> 1) * words)
        _go_on(streams[low:high], clock[low:high], states[low:high], moves[low:high])
        over: Any = 0
        for number in range(low, high):
            i = np.uint64(number)
            won = np.uint64(result[np.uint64(states[i])] + 1)
            reward[i] = point[won]
            ended[i] = won != 0
            cut[i] = (won == 0) & (clock[i] >= limit)
            over |= np.int64(ended[i] | cut[i]) << number - low
        while over and autoreset:
            i, over = np.uint64(low) + first_of(over), over & over - 1
            ticket = np.uint64(0)
            if len(starts) > 1:
                ticket = (mix(streams[i] ^ _BEGIN) >> _32) * np.uint64(len(starts)) >> _32
            states[i] = starts[ticket]
            clock[i] = 0
        for number in range(low, high):
            at, there = np.uint64(number) * words, np.uint64(states[number]) * words
            for word in range(0, words, 4):
                copy_four(kept, at + np.uint64(word), look, there + np.uint64(word))


@compiled(nogil=True)
def sample(streams: Any, states: Any, counts: Any, choices: Any, chosen: Any) -> None:
    """A random legal action everywhere."""
    width, flat = np.uint64(choices.shape[1]), choices.reshape(-1)
    for i in range(len(states)):
        state = np.uint64(states[i])
        bits = mix(streams[i] + GAMMA) & HALF
        chosen[i] = flat[state * width + (bits * np.uint64(counts[state]) >> _32)]
