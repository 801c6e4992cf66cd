"""A few games of Quantum Flip by the tables for many: one after the other they are quicker than as arrays."""

import numpy as np

from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small

_FIRST_WON = form.WON[0]


def roll(tables: FlipTables, state: Ints, tiles: Small, chance: Ints, bits: Ints, wins: Ints) -> None:
    """Random play, a row of `chance` and `bits` a step; games that end start again."""
    for i, board in enumerate(tiles):
        state[:, i] = _roll_one(
            tables, state[:, i].tolist(), board.data, chance[:, i].tolist(), bits[:, i].tolist(), wins[i]
        )


def _roll_one(
    tables: FlipTables, game: list[int], board: memoryview, chance: list[int], bits: list[int], wins: Ints
) -> tuple[int, int, int, int]:
    down, rest, bag, standing = game
    (pairs_up, pairs_low), (tile_low, tile_up) = _views(tables.pairs_in), _views(tables.tile_at)
    drawn, taken, after = _views((tables.drawn, tables.taken, tables.standing))
    upper, lower_shift = tables.upper, tables.lower_shift
    half_mask, half_shift = tables.half_mask, tables.half_shift
    for fallen, player_bits in zip(chance, bits, strict=True):
        singles = ways = down & form.CODE
        if standing < 0:
            ways += pairs_up[down >> form.ROW_BITS & upper] + pairs_low[down >> lower_shift]
        k = player_bits * ways >> 32
        if k < singles:
            tile = tile_up[(down >> half_shift & -form.ROW) + tile_low[(down & half_mask) + k]]
            # A known tile is itself; another one is drawn by the ticket.
            turned = drawn[(bag & form.BAG) + (board[tile] or (bag >> form.LEFT_AT) * fallen >> 32)]
            board[tile] = turned
            bag -= taken[turned]
            down += rest - (form.ROW << tile) - 1
            rest = 0
            standing = after[(standing & form.STANDING) + (turned & form.CODE)]
            if standing >= _FIRST_WON:
                wins[standing >> form.WINNER_AT] += 1
                down, bag, standing = tables.full, tables.bag, tables.start
                board[: tables.tiles] = bytes(tables.tiles)
        else:
            both, bag = _lift(tables, down, k - singles, bag, board, fallen)
            down, rest = both, down - both
            standing = after[(standing & form.STANDING) + form.PAIRED]
    return down, rest, bag, standing


def _lift(tables: FlipTables, down: int, k: int, bag: int, board: memoryview, fallen: int) -> tuple[int, int]:
    """Turn up the k-th pair; give it as a set, and the bag after that."""
    upper, lower = down >> form.ROW_BITS & tables.upper, down >> tables.lower_shift
    pair_up, pair_low = _views(tables.pair_at)
    pair = pair_low[lower * tables.pair_columns + pair_up[upper * tables.pair_columns + k]]
    first, second = (int(tile[pair]) for tile in tables.pair_tiles)
    both = int(tables.pair_sets[pair])
    unknown = (board[first] == 0) + (board[second] == 0)
    ways = int(tables.two_ways[((bag & form.BAG) >> form.WAYS_SHIFT) + unknown])
    drawn = tables.two_drawn[(ways >> form.BEGIN_AT) + ((ways & form.WAYS) * fallen >> 32)]
    for tile, code in zip((first, second), tables.two_codes[:, drawn], strict=True):
        board[tile] = board[tile] or code
    return both, bag - int(tables.two_taken[drawn])


def _views(tables: tuple[np.ndarray, ...]) -> tuple[memoryview, ...]:
    """Arrays as what Python looks up quickest."""
    return tuple(table.data for table in tables)
