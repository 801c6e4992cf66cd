"""Single steps of many games of Quantum Flip in compiled code: what is played, shown and allowed.

By the same tables as the arrays, and into the same rows. Needs the extra `fast`.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.looks import Looks, layout_of
from duels.envs.kernels.flip.tables import Ints, Small
from duels.games.flip.rules import QuantumTiles
from duels.solving.compiling import compiled

_32 = np.uint64(32)
_FIRST_WON = form.WON[0]

_MOST_PAIRS = 4  # of one tile

# Games that are stepped abreast, kind of move by kind of move: no loop has to guess what comes next.
_ABREAST = 64


class _Packed:
    """The tables of one set of options in four arrays: to hand over thirty takes longer than a small step."""

    def __init__(self, rules: QuantumTiles) -> None:
        layout = layout_of(rules)
        tables, points = layout.tables, np.arange(layout.tables.scores**2)
        numbers = (
            *(
                tables.tiles,
                layout.actions - tables.tiles,
                tables.full,
                tables.bag,
                tables.start,
                tables.first_code,
            ),
            *(rules.values, layout.size, layout.status.start, layout.other_score),
            *(layout.my_quantum, layout.other_quantum, layout.lifted.start),
            *(tables.upper, tables.lower_shift, tables.half_mask, tables.half_shift, tables.pair_columns),
        )
        assert len(numbers) == _TABLES
        wide = (
            *tables.pair_tiles,
            tables.pair_sets,
            _pairs_of(tables.pair_tiles, tables.tiles),
            tables.two_ways,
            tables.taken,
            tables.two_taken,
            tables.standing,
        )
        words = (layout.allowed, layout.still_open, layout.keeping)
        small = (
            tables.drawn,
            tables.two_drawn,
            *tables.two_codes,
            (points // tables.scores).astype(np.uint8),
            (points % tables.scores).astype(np.uint8),
            *tables.pairs_in,
            *tables.pair_at,
            *tables.tile_at,
            layout.start,
            layout.statuses[0].reshape(-1),
        )
        self.wide: Ints = np.concatenate(wide)
        self.small: Small = np.concatenate([table.view(np.uint8) for table in small])
        self.words = np.concatenate(words).view(np.uint64)
        ends = [np.cumsum([0, *map(len, kind)]) for kind in (wide, small, words)]
        self.numbers = np.concatenate([np.array(numbers, np.int64), *ends])


def _pairs_of(pair_tiles: tuple[Ints, Ints], tiles: int) -> Ints:
    """[tile, k] the pairs that a tile is in, over and over."""
    found = [np.flatnonzero((pair_tiles[0] == tile) | (pair_tiles[1] == tile)) for tile in range(tiles)]
    return np.concatenate([np.resize(mine, _MOST_PAIRS) for mine in found])


_packed = lru_cache(maxsize=16)(_Packed)


class Stepper:
    """Games under way; `state`, `tiles` and `looks` are those of the batch, and are changed here."""

    def __init__(self, rules: QuantumTiles, state: Ints, tiles: Small, looks: Looks) -> None:
        packed = _packed(rules)
        self._tables = (packed.wide, packed.small, packed.words, packed.numbers)
        self._state, self._tiles, self._looks = state, tiles, looks
        first = (looks.layout.size - looks.layout.lead) // 8
        self._masks = looks.rows.view(np.uint64)[:, first : first + packed.words.shape[1]]
        self._open = looks.open.view(np.uint64)

    def first_illegal(self, actions: Ints) -> int:
        """The first game whose action is not allowed; -1: all are."""
        return int(_first_illegal(actions, self._looks.allowed()))

    def play(
        self,
        part: slice,
        actions: Ints,
        streams: NDArray[np.uint64],
        autoreset: bool,
        rewards: NDArray[np.float32],
        ended: NDArray[np.bool_],
    ) -> None:
        """Play actions that `first_illegal` has seen, in a part of the games."""
        _play(
            actions[part],
            *self._tables,
            self._state[:, part],
            self._tiles[part],
            streams[part],
            autoreset,
            rewards[part],
            ended[part],
            self._looks.rows[part],
            self._masks[part],
            self._open[part],
        )
        self._looks.stepped()

    def sample(self, streams: NDArray[np.uint64], chosen: Ints) -> None:
        """A random legal action everywhere."""
        _sample(*self._tables, self._state, streams, chosen)


_TABLES = 18  # where the tables begin in `numbers`
_WIDE, _SMALL = 8, 14
_FIRSTS, _SECONDS, _SETS, _PAIRS_OF, _TWO_WAYS, _TAKEN, _TWO_TAKEN, _AFTER = range(_WIDE)
_DRAWN, _TWO_DRAWN, _CODES_1, _CODES_2, _ONE_OF, _TWO_OF, _PAIRS_UP, _PAIRS_LOW = range(8)
_PAIR_UP, _PAIR_LOW, _TILE_LOW, _TILE_UP, _SHOWN_FIRST, _STATUSES = range(8, _SMALL)
_ALLOWED, _OPEN_AFTER, _KEEPING = range(3)


@njit(inline="always")
def _table(tables: Any, numbers: Any, which: int) -> Any:
    """One of the tables in an array of them."""
    return tables[numbers[_TABLES + which] : numbers[_TABLES + which + 1]]


@njit(inline="always")
def _small_table(tables: Any, numbers: Any, which: int) -> Any:
    return _table(tables, numbers, _WIDE + 1 + which)


@njit(inline="always")
def _word_table(tables: Any, numbers: Any, which: int) -> Any:
    return _table(tables, numbers, _WIDE + _SMALL + 2 + which)


@compiled(nogil=True)
def _first_illegal(actions: Any, masks: Any) -> int:
    for i in range(len(actions)):
        if not 0 <= actions[i] < masks.shape[1] or not masks[i, actions[i]]:
            return i
    return -1


@compiled(nogil=True)
def _play(
    actions: Any,
    wide: Any,
    small: Any,
    words: Any,
    numbers: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
    rows: Any,
    masks: Any,
    still_open: Any,
) -> None:
    """Rows are what is shown, and then the mask; `masks` are the words that it lies in.

    `still_open` are the masks as if a pair could be lifted, and none was: only where that is not what they
    are, and either seat can lift a pair yet.
    """
    count, keep, full, full_bag, start, first_code, values, size, my_score, other_score = numbers[:10]
    my_quantum, other_quantum, lifted_at = numbers[10:13]
    firsts, seconds = _table(wide, numbers, _FIRSTS), _table(wide, numbers, _SECONDS)
    sets, pairs_of = _table(wide, numbers, _SETS), _table(wide, numbers, _PAIRS_OF)
    two_ways = _table(wide, numbers, _TWO_WAYS)
    taken, two_taken = _table(wide, numbers, _TAKEN), _table(wide, numbers, _TWO_TAKEN)
    after = _table(wide, numbers, _AFTER)
    drawn, two_drawn = _small_table(small, numbers, _DRAWN), _small_table(small, numbers, _TWO_DRAWN)
    codes_1, codes_2 = _small_table(small, numbers, _CODES_1), _small_table(small, numbers, _CODES_2)
    shown_first, statuses = (
        _small_table(small, numbers, _SHOWN_FIRST),
        _small_table(small, numbers, _STATUSES),
    )
    allowed, open_after = _word_table(words, numbers, _ALLOWED), _word_table(words, numbers, _OPEN_AFTER)
    keeping = _word_table(words, numbers, _KEEPING)
    downs, rests, bags, standings = state[0], state[1], state[2], state[3]
    one_of, two_of = _small_table(small, numbers, _ONE_OF), _small_table(small, numbers, _TWO_OF)
    faces, flips = 2 * values + 1, size
    takes, lifts, kept, over, before = np.empty((5, _ABREAST), np.int64)
    gained, lost, shrunk = np.empty((3, _ABREAST), np.int64)
    for low in range(0, len(actions), _ABREAST):
        high = min(low + _ABREAST, len(actions))
        n_takes = n_lifts = n_kept = n_over = n_gained = n_lost = n_shrunk = 0
        for i in range(low, high):
            takes[n_takes] = lifts[n_lifts] = kept[n_kept] = i
            lift = count <= actions[i] < keep
            n_takes += not lift
            n_lifts += lift
            n_kept += actions[i] >= keep
            streams[i] += GAMMA
            rewards[i, 0] = 0.0
            rewards[i, 1] = 0.0
            ended[i] = False
        for i in takes[:n_takes].view(np.uint64):
            tile = actions[i] - keep * (actions[i] >= keep)
            chance = np.int64(mix(streams[i]) >> _32)
            bag, standing = bags[i], standings[i]
            # The ticket draws a tile, unless the tile is known: that is more than any ticket.
            ticket = (bag >> form.LEFT_AT) * chance >> 32
            turned = drawn[np.uint64((bag & form.BAG) + max(ticket, np.int64(tiles[i, tile])))]
            tiles[i, tile] = turned
            bags[i] = bag - taken[turned]
            downs[i] += rests[i] - (form.ROW << tile) - 1
            rests[i] = 0
            now = after[np.uint64((standing & form.STANDING) + (turned & form.CODE))]
            standings[i] = now
            before[np.int64(i) - low] = standing
            over[n_over] = gained[n_gained] = lost[n_lost] = shrunk[n_shrunk] = i
            n_over += now >= _FIRST_WON
            # Whether the seat to move could lift a pair, and whether it now can.
            n_gained += actions[i] < keep and standing >= 0 and now < 0
            n_lost += standing < 0 and now >= 0
            n_shrunk += standing < 0 and now < 0
        for i in lifts[:n_lifts].view(np.uint64):
            pair = actions[i] - count
            chance = np.int64(mix(streams[i]) >> _32)
            bag, first, second = bags[i], firsts[pair], seconds[pair]
            unknown = np.int64(tiles[i, first] == 0) + np.int64(tiles[i, second] == 0)
            way = two_ways[((bag & form.BAG) >> form.WAYS_SHIFT) + unknown]
            both = two_drawn[(way >> form.BEGIN_AT) + ((way & form.WAYS) * chance >> 32)]
            tiles[i, first] = tiles[i, first] or codes_1[both]
            tiles[i, second] = tiles[i, second] or codes_2[both]
            bags[i] = bag - two_taken[both]
            rests[i] = downs[i] - sets[pair]
            downs[i] = sets[pair]
            standings[i] = after[(standings[i] & form.STANDING) + form.PAIRED]
            for k in range(masks.shape[1]):
                still_open[i, k] = masks[i, k]
                masks[i, k] = keeping[pair, k]
            for tile in (first, second):
                rows[i, tile * faces] = 0
                rows[i, tile * faces + values + np.int64(tiles[i, tile]) - first_code] = 1
                rows[i, lifted_at + tile] = 1
            rows[i, size - 1] = 1  # choosing
        for i in takes[:n_takes].view(np.uint64):
            standing, now = before[np.int64(i) - low], standings[i]
            tile = actions[i] - keep * (actions[i] >= keep)
            value = np.int64(tiles[i, tile] & form.CODE) - first_code
            rows[i, tile * faces] = 0
            rows[i, tile * faces + values + value] = 0
            rows[i, tile * faces + value] = 1
            number, next_number = standing & form.STANDING, now & form.STANDING
            points, mover = number >> (form.ROW_BITS + 3), number >> (form.ROW_BITS + form.MOVER_AT) & 1
            one, two = np.int64(one_of[points]), np.int64(two_of[points])
            mine, other = (one, two) if mover == 0 else (two, one)
            # Who is to move now is the other one.
            rows[i, my_score + mine] = 0
            rows[i, other_score + other] = 0
            rows[i, my_score + other] = 1
            rows[i, other_score + mine + value] = 1
            rows[i, my_quantum] = next_number >> (form.ROW_BITS + 1 - mover) & 1
            rows[i, other_quantum] = next_number >> (form.ROW_BITS + mover) & 1
            rows[i, flips + tile] = 0
        for i in kept[:n_kept].view(np.uint64):
            tile, may_pair = actions[i] - keep, np.int64(standings[i] < 0)
            for k in range(lifted_at, size):
                rows[i, k] = 0
            for k in range(masks.shape[1]):
                masks[i, k] = still_open[i, k] & open_after[tile, k] & allowed[may_pair, k]
        for i in gained[:n_gained].view(np.uint64):
            for k in range(masks.shape[1]):
                masks[i, k] = still_open[i, k] & open_after[actions[i], k]
        for i in lost[:n_lost].view(np.uint64):
            for k in range(masks.shape[1]):
                there = masks[i, k] & open_after[actions[i], k]
                still_open[i, k] = there
                masks[i, k] = there & allowed[0, k]
        for i in shrunk[:n_shrunk].view(np.uint64):
            tile = actions[i]
            for k in range(_MOST_PAIRS):
                rows[i, flips + count + pairs_of[tile * _MOST_PAIRS + k]] = 0
        for i in over[:n_over]:
            now = standings[i]
            winner = now >> form.WINNER_AT
            rewards[i, winner] = 1.0
            rewards[i, 1 - winner] = -1.0
            ended[i] = True
            if autoreset:
                downs[i], bags[i], standings[i] = full, full_bag, start
                for k in range(count):
                    tiles[i, k] = 0
                for k in range(size):
                    rows[i, k] = shown_first[k]
                for k in range(masks.shape[1]):
                    masks[i, k] = allowed[1, k]
            else:
                number = (now & form.STANDING) >> form.ROW_BITS
                for k in range(my_score, size):
                    rows[i, k] = statuses[number * (size - my_score) + k - my_score]


@compiled(nogil=True)
def _sample(wide: Any, small: Any, words: Any, numbers: Any, state: Any, streams: Any, chosen: Any) -> None:
    tiles, keep = numbers[:2]
    upper_mask, lower_shift, half_mask, half_shift, columns = numbers[_TABLES - 5 : _TABLES]
    pairs_up, pairs_low = _small_table(small, numbers, _PAIRS_UP), _small_table(small, numbers, _PAIRS_LOW)
    pair_up, pair_low = _small_table(small, numbers, _PAIR_UP), _small_table(small, numbers, _PAIR_LOW)
    tile_low, tile_up = _small_table(small, numbers, _TILE_LOW), _small_table(small, numbers, _TILE_UP)
    downs, standings = state[0], state[3]
    flips, lifts = np.empty((2, _ABREAST), np.int64)
    for low in range(0, len(chosen), _ABREAST):
        n_flips = n_lifts = 0
        for i in range(low, min(low + _ABREAST, len(chosen))):
            down = downs[i]
            singles = down & form.CODE
            pairs = np.int64(pairs_up[down >> form.ROW_BITS & upper_mask]) + pairs_low[down >> lower_shift]
            k = np.int64(mix(streams[i] + GAMMA) & HALF) * (singles + (pairs & standings[i] >> 63)) >> 32
            chosen[i] = k
            flips[n_flips] = lifts[n_lifts] = i
            n_flips += k < singles
            n_lifts += k >= singles
        for i in flips[:n_flips].view(np.uint64):
            down = downs[i]
            begun = tile_low[np.uint64((down & half_mask) + chosen[i])]
            tile = np.int64(tile_up[np.uint64((down >> half_shift & -form.ROW) + begun)])
            chosen[i] = tile + keep * ((standings[i] & form.LIFTED) != 0)
        for i in lifts[:n_lifts].view(np.uint64):
            down = downs[i]
            rank = (down >> form.ROW_BITS & upper_mask) * columns + chosen[i] - (down & form.CODE)
            begun = pair_up[np.uint64(rank)]
            chosen[i] = tiles + np.int64(pair_low[np.uint64((down >> lower_shift) * columns + begun)])
