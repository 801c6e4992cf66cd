"""Many games of Quantum Flip as arrays, played by lookups: all of them at once, with buffers of their own."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small
from duels.solving.tables import ONGOING

Places = NDArray[np.intp]


def _constant(number: int) -> Any:
    """NumPy takes an array of one number quicker than the number: it has nothing to find out about it."""
    return np.array(number, np.int64)


_BAG, _CODE, _STANDING, _WHOLE_ROWS, _WON = map(
    _constant, (form.BAG, form.CODE, form.STANDING, -form.ROW, form.WON[0])
)
_ROW_BITS, _HALF, _SIGN, _LEFT_AT, _BEGIN_AT = map(
    _constant, (form.ROW_BITS, 32, 63, form.LEFT_AT, form.BEGIN_AT)
)
_WAYS, _WAYS_SHIFT, _WINNER_AT = map(_constant, (form.WAYS, form.WAYS_SHIFT, form.WINNER_AT))
_UNKNOWN = np.array(0, np.uint8)
_FIRST_WON_AT = np.array(form.WINNER_AT - 1, np.uint64)

# [highest three bits of a standing] who has won, or ONGOING.
_RESULTS = np.array([ONGOING, 0, 1, *[ONGOING] * 5], np.int8)


class Games:
    """Games under way, a column of `state` and a row of `tiles` each; see `tables` for what they hold."""

    def __init__(self, tables: FlipTables, state: Ints, tiles: Small) -> None:
        self.tables = tables
        self.down, self.rest, self.bag, self.standing = state
        count = state.shape[1]
        self._tiles = tiles.reshape(-1)
        self._boards = tiles.view(f"V{form.ROW}").reshape(-1)  # a game's tiles as one item: quicker to set
        self._rows = np.arange(0, count * form.ROW, form.ROW)
        self._upper, self._columns, self._no_tile = map(
            _constant, (tables.upper, tables.pair_columns, tables.tiles)
        )
        self._lower_shift, self._half_mask, self._half_shift = map(
            _constant, (tables.lower_shift, tables.half_mask, tables.half_shift)
        )
        self._pair_tiles = np.stack(tables.pair_tiles)
        no_tiles = np.zeros(form.ROW, np.uint8)
        no_tiles[tables.tiles] = form.PAIRED
        self._no_tiles = no_tiles.view(f"V{form.ROW}")[0]

    @cached_property
    def _buffers(self) -> tuple[Ints, ...]:
        return tuple(np.empty((6, len(self.down)), np.int64))

    @cached_property
    def _small(self) -> tuple[Small, ...]:
        return tuple(np.empty((2, len(self.down)), np.uint8))

    def start(self, which: Any) -> None:
        """Put games at the start."""
        tables = self.tables
        self.down[which] = tables.full
        self.rest[which] = 0
        self.bag[which] = tables.bag
        self.standing[which] = tables.start
        self._boards[which] = self._no_tiles

    def legal_counts(self) -> Ints:
        """[game] how many actions are legal, in a buffer that the next play writes over."""
        tables, down = self.tables, self.down
        upper, lower, counts, _, _, _ = self._buffers
        found, more = self._small
        np.right_shift(down, _ROW_BITS, upper)
        np.bitwise_and(upper, self._upper, upper)
        np.right_shift(down, self._lower_shift, lower)
        tables.pairs_in[0].take(upper, None, found, "clip")
        tables.pairs_in[1].take(lower, None, more, "clip")
        np.add(found, more, found)
        np.right_shift(self.standing, _SIGN, counts)
        np.bitwise_and(counts, found, counts)
        np.bitwise_and(down, _CODE, upper)
        return np.add(counts, upper, counts)

    def choose(self, bits: Ints, counts: Ints) -> tuple[Ints, Places, Ints]:
        """A random legal action for every game: the tile to take, or no tile where it is a pair.

        Then the places of those games, and the pairs. `counts` is how many actions are legal.
        """
        tables, down = self.tables, self.down
        singles, _, _, k, index, tile = self._buffers
        found, _ = self._small
        np.multiply(bits, counts, k)
        np.right_shift(k, _HALF, k)
        # The k-th tile of the set; nonsense where a pair is chosen.
        np.bitwise_and(down, self._half_mask, index)
        np.add(index, k, index)
        tables.tile_at[0].take(index, None, found, "clip")
        np.right_shift(down, self._half_shift, index)
        np.bitwise_and(index, _WHOLE_ROWS, index)
        np.add(index, found, index)
        tables.tile_at[1].take(index, None, found, "clip")
        np.copyto(tile, found)
        np.bitwise_and(down, _CODE, singles)
        (places,) = (k >= singles).nonzero()
        down = down.take(places)
        rank = down >> _ROW_BITS
        rank &= self._upper
        rank *= self._columns
        rank += k.take(places)
        rank -= singles.take(places)
        after = down >> self._lower_shift
        after *= self._columns
        after += tables.pair_at[0].take(rank)
        tile[places] = self._no_tile
        return tile, places, tables.pair_at[1].take(after).astype(np.int64)

    def play(self, tile: Ints, places: Places, pairs: Ints, chance: Ints) -> tuple[Ints, Small]:
        """Take a tile in every game but those at `places`, which lift a pair and have no tile.

        Gives the codes of the tiles taken, in a buffer of its own, and of those lifted, as `_lift` does.
        """
        tables, down, bag, standing = self.tables, self.down, self.bag, self.standing
        index, ticket, at, wide, _, _ = self._buffers
        seen, _ = self._small
        kept, lifted = self._lift(places, pairs, chance)
        tables.tile_sets.take(tile, None, index, "clip")
        np.add(down, self.rest, down)
        np.subtract(down, index, down)
        self.rest.fill(0)
        self.rest[places] = kept
        # The ticket draws a tile, unless the tile is known: that is more than any ticket.
        np.right_shift(bag, _LEFT_AT, ticket)
        np.multiply(ticket, chance, ticket)
        np.right_shift(ticket, _HALF, ticket)
        np.add(self._rows, tile, at)
        self._tiles.take(at, None, seen, "clip")
        np.copyto(wide, seen)
        np.maximum(ticket, wide, out=ticket)
        np.bitwise_and(bag, _BAG, index)
        np.add(index, ticket, index)
        tables.drawn.take(index, None, seen, "clip")
        self._tiles[at] = seen
        np.copyto(wide, seen)
        tables.taken.take(wide, None, index, "clip")
        np.subtract(bag, index, bag)
        np.bitwise_and(wide, _CODE, wide)
        np.bitwise_and(standing, _STANDING, index)
        np.add(index, wide, index)
        tables.standing.take(index, None, standing, "clip")
        return wide, lifted

    def ended(self) -> Places:
        """Where a game has been won by the last play."""
        places: Places = (self.standing >= _WON).nonzero()[0]
        return places

    def results(self) -> NDArray[np.int8]:
        """[game] who has won by the last play, or ONGOING."""
        highest = (self.standing.view(np.uint64) >> _FIRST_WON_AT).view(np.int64)
        results: NDArray[np.int8] = _RESULTS.take(highest, None, None, "clip")
        return results

    def winners(self, places: Places) -> Ints:
        """Who has won there."""
        won: Ints = self.standing.take(places) >> _WINNER_AT
        return won

    def roll(self, chance: Ints, bits: Ints, wins: Ints) -> None:
        """Random play, a row of `chance` and `bits` a step; games that end start again."""
        for fallen, drawn in zip(chance, bits, strict=True):
            self.play(*self.choose(drawn, self.legal_counts()), fallen)
            ended = self.ended()
            wins[ended, self.winners(ended)] += 1
            self.start(ended)

    def _lift(self, places: Places, pairs: Ints, chance: Ints) -> tuple[Ints, Small]:
        """Turn up two tiles there, which then are the set to choose from.

        Gives the rest of the sets, and the codes [first or second, place] of the tiles.
        """
        tables = self.tables
        bag, down, both = self.bag.take(places), self.down.take(places), tables.pair_sets.take(pairs)
        at = self._pair_tiles.take(pairs, 1)
        at += self._rows.take(places)
        codes = self._tiles.take(at)
        unknown = codes == _UNKNOWN
        # By how many of the two are unknown.
        ways = bag & _BAG
        ways >>= _WAYS_SHIFT
        ways += unknown[0]
        ways += unknown[1]
        begin = tables.two_ways.take(ways)
        ticket = begin & _WAYS
        ticket *= chance.take(places)
        ticket >>= _HALF
        begin >>= _BEGIN_AT
        ticket += begin
        drawn = tables.two_drawn.take(ticket)
        np.copyto(codes, tables.two_codes.take(drawn, 1), where=unknown)
        self._tiles[at] = codes
        bag -= tables.two_taken.take(drawn)
        self.bag[places] = bag
        self.down[places] = both
        down -= both
        return down, codes
