"""A few games of Quantum Flip by the tables for many: one after the other they are quicker than as arrays."""

import numpy as np

from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.looks import Looks, packed
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small

_FIRST_WON = form.WON[0]


class Few:
    """Games under way; `state`, `tiles` and `looks` are those of the batch, and are changed here."""

    def __init__(self, tables: FlipTables, state: Ints, tiles: Small, looks: Looks) -> None:
        self._tables = _Views(tables)
        self._columns, self._boards = [column.data for column in state], [board.data for board in tiles]
        self._layout = layout = looks.layout
        self._rows = [row.view(np.uint8).data for row in looks.rows]
        self._open, self._allowed = ([words.data for words in masks] for masks in (looks.open, looks.allowed))
        self._statuses = [status.tobytes() for status in layout.statuses[0]]
        self._lifting = [lifting.tobytes() for lifting in layout.lifting]
        self._nothing_lifted = bytes(layout.lifting.shape[1])
        self._allowing, self._still_open, self._keeping = (
            packed(table).tolist() for table in (layout.allowed, layout.still_open, layout.keeping)
        )

    def choose(self, bits: Ints) -> Ints:
        """A random legal action everywhere, from 32 random bits each."""
        downs, _, _, standings = self._columns
        views, keep, chosen = self._tables, self._layout.actions - self._tables.tiles, []
        for i, drawn in enumerate(bits.tolist()):
            down, standing = downs[i], standings[i]
            k, singles = views.chosen(down, standing, drawn), down & form.CODE
            if k < singles:
                chosen.append(views.tile(down, k) + keep * (standing & form.LIFTED != 0))
            else:
                chosen.append(views.tiles + views.pair(down, k - singles))
        return np.array(chosen, np.int64)

    def play(self, actions: Ints, chance: Ints) -> None:
        """Play an action that is allowed everywhere."""
        tiles, keep = self._tables.tiles, self._layout.actions - self._tables.tiles
        for i, (action, fallen) in enumerate(zip(actions.tolist(), chance.tolist(), strict=True)):
            if tiles <= action < keep:
                self._lift(i, action - tiles, fallen)
            else:
                self._take(i, action if action < tiles else action - keep, fallen)

    def _take(self, i: int, tile: int, fallen: int) -> None:
        downs, rests, bags, standings = self._columns
        views, layout = self._tables, self._layout
        code, bags[i], standings[i] = views.take(self._boards[i], tile, bags[i], standings[i], fallen)
        downs[i] += rests[i] - (form.ROW << tile) - 1
        rests[i] = 0
        row, allowed, open_now = self._rows[i], self._allowed[i], self._open[i]
        face = tile * layout.faces
        value = code - views.first_code
        row[face] = row[face + layout.values + value] = 0
        row[face + value] = 1
        row[layout.status] = self._statuses[(standings[i] & form.STANDING) >> form.ROW_BITS]
        row[layout.lifted] = self._nothing_lifted
        first, second = self._still_open[tile]
        allow_first, allow_second = self._allowing[standings[i] < 0]
        open_now[0] = first = first & open_now[0]
        open_now[1] = second = second & open_now[1]
        allowed[0], allowed[1] = first & allow_first, second & allow_second

    def _lift(self, i: int, pair: int, fallen: int) -> None:
        downs, rests, bags, standings = self._columns
        views, layout, row, board = self._tables, self._layout, self._rows[i], self._boards[i]
        bags[i] = views.lift(board, pair, bags[i], fallen)
        rests[i], downs[i] = downs[i] - views.sets[pair], views.sets[pair]
        standings[i] = views.after[(standings[i] & form.STANDING) + form.PAIRED]
        for tile in (views.firsts[pair], views.seconds[pair]):
            face = tile * layout.faces
            row[face] = 0
            row[face + layout.values + board[tile] - views.first_code] = 1
        row[layout.lifted] = self._lifting[pair]
        self._allowed[i][0], self._allowed[i][1] = self._keeping[pair]


def roll(tables: FlipTables, state: Ints, tiles: Small, chance: Ints, bits: Ints, wins: Ints) -> None:
    """Random play, a row of `chance` and `bits` a step; games that end start again."""
    views = _Views(tables)
    for i, board in enumerate(tiles):
        state[:, i] = _roll_one(
            views,
            tables,
            state[:, i].tolist(),
            board.data,
            chance[:, i].tolist(),
            bits[:, i].tolist(),
            wins[i],
        )


def _roll_one(
    views: "_Views",
    tables: FlipTables,
    game: list[int],
    board: memoryview,
    chance: list[int],
    bits: list[int],
    wins: Ints,
) -> tuple[int, int, int, int]:
    down, rest, bag, standing = game
    for fallen, drawn in zip(chance, bits, strict=True):
        k, singles = views.chosen(down, standing, drawn), down & form.CODE
        if k < singles:
            tile = views.tile(down, k)
            _, bag, standing = views.take(board, tile, bag, standing, fallen)
            down += rest - (form.ROW << tile) - 1
            rest = 0
            if standing >= _FIRST_WON:
                wins[standing >> form.WINNER_AT] += 1
                down, bag, standing = tables.full, tables.bag, tables.start
                board[: tables.tiles] = bytes(tables.tiles)
        else:
            pair = views.pair(down, k - singles)
            bag = views.lift(board, pair, bag, fallen)
            down, rest = views.sets[pair], down - views.sets[pair]
            standing = views.after[(standing & form.STANDING) + form.PAIRED]
    return down, rest, bag, standing


class _Views:
    """Tables as what Python looks up quickest."""

    def __init__(self, tables: FlipTables) -> None:
        self.tiles, self.first_code = tables.tiles, tables.first_code
        self._upper, self._lower_shift = tables.upper, tables.lower_shift
        self._half_mask, self._half_shift = tables.half_mask, tables.half_shift
        self._columns = tables.pair_columns
        self._pairs_up, self._pairs_low = _views(tables.pairs_in)
        self._tile_low, self._tile_up = _views(tables.tile_at)
        self._pair_up, self._pair_low = _views(tables.pair_at)
        self._drawn, self._taken, self.after = _views((tables.drawn, tables.taken, tables.standing))
        self._two_ways, self._two_drawn, self._two_taken = _views(
            (tables.two_ways, tables.two_drawn, tables.two_taken)
        )
        self._codes = _views(tuple(tables.two_codes))
        self.firsts, self.seconds, self.sets = _views((*tables.pair_tiles, tables.pair_sets))

    def chosen(self, down: int, standing: int, bits: int) -> int:
        """Which of the legal actions 32 random bits choose."""
        ways = down & form.CODE
        if standing < 0:
            ways += self._pairs_up[down >> form.ROW_BITS & self._upper]
            ways += self._pairs_low[down >> self._lower_shift]
        return bits * ways >> 32

    def tile(self, down: int, k: int) -> int:
        """The k-th tile."""
        begun = self._tile_low[(down & self._half_mask) + k]
        return self._tile_up[(down >> self._half_shift & -form.ROW) + begun]

    def pair(self, down: int, k: int) -> int:
        """The k-th pair."""
        begun = self._pair_up[(down >> form.ROW_BITS & self._upper) * self._columns + k]
        return self._pair_low[(down >> self._lower_shift) * self._columns + begun]

    def take(
        self, board: memoryview, tile: int, bag: int, standing: int, fallen: int
    ) -> tuple[int, int, int]:
        """Take a tile: its code, and the bag and the standing after that."""
        # A known tile is itself; another one is drawn by the ticket.
        turned = self._drawn[(bag & form.BAG) + (board[tile] or (bag >> form.LEFT_AT) * fallen >> 32)]
        board[tile] = turned
        code = turned & form.CODE
        return code, bag - self._taken[turned], self.after[(standing & form.STANDING) + code]

    def lift(self, board: memoryview, pair: int, bag: int, fallen: int) -> int:
        """Turn up a pair; give the bag after that."""
        first, second = self.firsts[pair], self.seconds[pair]
        unknown = (board[first] == 0) + (board[second] == 0)
        ways = self._two_ways[((bag & form.BAG) >> form.WAYS_SHIFT) + unknown]
        drawn = self._two_drawn[(ways >> form.BEGIN_AT) + ((ways & form.WAYS) * fallen >> 32)]
        for tile, codes in zip((first, second), self._codes, strict=True):
            board[tile] = board[tile] or codes[drawn]
        return bag - self._two_taken[drawn]


def _views(tables: tuple[np.ndarray, ...]) -> tuple[memoryview, ...]:
    return tuple(table.data for table in tables)
