"""Whole rollouts of Quantum Flip in compiled code, by the same tables and streams.

Needs the extra `fast`.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small
from duels.solving.compiling import compiled

_32 = np.uint64(32)
_FIRST_WON = form.WON[0]

# Games that are rolled out in turn. Each step is first chosen for all of them, then taken where a tile is
# taken, and so on: no loop has to guess what comes next, and what one game waits for, the next need not
# wait for.
_IN_TURN = 64


def roll(
    tables: FlipTables, state: Ints, tiles: Small, streams: NDArray[np.uint64], steps: int, wins: Ints
) -> None:
    """Random play of every game, `steps` ticks of its stream; a game that ends starts again."""
    board, choices, draws, start = _parts(tables)
    _roll(board, choices, draws, tables.standing, start, tuple(state), tiles, streams, steps, wins)


def _parts(tables: FlipTables) -> tuple[Any, ...]:
    """The tables as compiled code takes them: of boards, of choices, of draws, and how a game begins."""
    board = (
        tables.upper,
        tables.lower_shift,
        tables.half_mask,
        tables.half_shift,
        tables.pair_columns,
    )
    choices = (*tables.pairs_in, *tables.pair_at, *tables.tile_at, *tables.pair_tiles, tables.pair_sets)
    draws = (
        tables.drawn,
        tables.two_ways,
        tables.two_drawn,
        tables.two_codes,
        tables.taken,
        tables.two_taken,
    )
    return board, choices, draws, (tables.full, tables.bag, tables.start)


@njit(inline="always")
def _at(table: Any, place: Any) -> Any:
    """An entry of a table; a place that cannot be negative needs no check of that."""
    return table[np.uint64(place)]


@compiled(nogil=True)
def _roll(
    board: Any,
    choices: Any,
    draws: Any,
    after: Any,
    start: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    steps: int,
    wins: Any,
) -> None:
    upper_mask, lower_shift, half_mask, half_shift, columns = board
    pairs_up, pairs_low, pair_up, pair_low, tile_low, tile_up, firsts, seconds, pair_sets = choices
    drawn, two_ways, two_drawn, codes, taken, two_taken = draws
    full, full_bag, start_standing = start
    downs, rests, bags, standings = state
    ks, chances, takes, lifts, ended = np.empty((5, _IN_TURN), np.int64)
    for low in range(0, len(streams), _IN_TURN):
        high = min(low + _IN_TURN, len(streams))
        for _ in range(steps):
            n_takes = n_lifts = n_ended = 0
            for number in range(low, high):
                i = np.uint64(number)
                streams[i] += GAMMA
                word = mix(streams[i])
                down = downs[i]
                singles = down & form.CODE
                pairs = np.int64(_at(pairs_up, down >> form.ROW_BITS & upper_mask)) + _at(
                    pairs_low, down >> lower_shift
                )
                ways = singles + (pairs & standings[i] >> 63)
                k = np.int64(word & HALF) * ways >> 32
                ks[number - low], chances[number - low] = k, np.int64(word >> _32)
                takes[n_takes] = lifts[n_lifts] = number
                n_takes += k < singles
                n_lifts += k >= singles
            for i in takes[:n_takes].view(np.uint64):
                j = i - np.uint64(low)
                down, bag = downs[i], bags[i]
                tile = _at(
                    tile_up, (down >> half_shift & -form.ROW) + _at(tile_low, (down & half_mask) + ks[j])
                )
                # The ticket draws a tile, unless the tile is known: that is more than any ticket.
                ticket = (bag >> form.LEFT_AT) * chances[j] >> 32
                turned = _at(drawn, (bag & form.BAG) + max(ticket, np.int64(tiles[i, tile])))
                tiles[i, tile] = turned
                bags[i] = bag - taken[turned]
                downs[i] = down + rests[i] - (form.ROW << np.int64(tile)) - 1
                rests[i] = 0
                standings[i] = _at(after, (standings[i] & form.STANDING) + (turned & form.CODE))
                ended[n_ended] = i
                n_ended += standings[i] >= _FIRST_WON
            for i in lifts[:n_lifts].view(np.uint64):
                j = i - np.uint64(low)
                down, bag = downs[i], bags[i]
                rank = (down >> form.ROW_BITS & upper_mask) * columns + ks[j] - (down & form.CODE)
                pair = _at(pair_low, (down >> lower_shift) * columns + _at(pair_up, rank))
                first, second = firsts[pair], seconds[pair]
                unknown = np.int64(tiles[i, first] == 0) + np.int64(tiles[i, second] == 0)
                way = _at(two_ways, ((bag & form.BAG) >> form.WAYS_SHIFT) + unknown)
                values = _at(two_drawn, (way >> form.BEGIN_AT) + ((way & form.WAYS) * chances[j] >> 32))
                tiles[i, first] = tiles[i, first] or codes[0, values]
                tiles[i, second] = tiles[i, second] or codes[1, values]
                bags[i] = bag - two_taken[values]
                downs[i] = pair_sets[pair]
                rests[i] = down - pair_sets[pair]
                standings[i] = after[(standings[i] & form.STANDING) + form.PAIRED]
            for i in ended[:n_ended]:
                wins[i, standings[i] >> form.WINNER_AT] += 1
                downs[i], bags[i], standings[i] = full, full_bag, start_standing
                tiles[i, : full & form.CODE] = 0
