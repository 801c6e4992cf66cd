"""Single steps of many games of Quantum Flip in compiled code: what is played, shown and allowed.

By the same numbers as the arrays, and into the same rows. Where the arrays look up what is chosen, drawn or
allowed in large tables, this works it out from bits: the tables would not fit the processor's cache beside
the rows. Needs the extra `fast`.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.intrinsics import fetch_to_write, write_bits
from duels.envs.kernels.flip import bits
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.looks import Layout, Looks, layout_of
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small, present
from duels.games.flip.rules import QuantumTiles, neighbours
from duels.solving.compiling import compiled

_32 = np.uint64(32)
_U = np.uint64

# Games that are stepped abreast, kind of move by kind of move: no loop has to guess what comes next.
_ABREAST = 64

# How many tiles of a value or a lower one a bag holds: six bits a value, the last of them to compare by.
_FIELD = 6
_FIELD_MASK = (1 << _FIELD) - 1

# Divided by multiplying with what is 2**16 times the reciprocal: exact for all tickets of two tiles.
_SHARE_AT = 16


class _Packed:
    """The tables of one set of options in two arrays: to hand over twenty takes longer than a small step."""

    def __init__(self, rules: QuantumTiles) -> None:
        layout = layout_of(rules)
        tables, points = layout.tables, np.arange(layout.tables.scores**2)
        numbers = (
            *(tables.tiles, layout.actions - tables.tiles, tables.full, tables.bag, tables.start),
            *(tables.first_code, rules.values, layout.size, layout.status.start, layout.other_score),
            *(layout.my_quantum, layout.other_quantum, layout.lifted.start, rules.side, tables.scores),
            *(_field_of_each(rules.values), _not_last_in_row(rules.side)),
        )
        wide = (
            *tables.pair_tiles,
            tables.pair_sets,
            _needed(tables),
            np.concatenate([np.arange(tables.tiles), tables.pair_tiles[0], np.arange(tables.tiles)]),
            _pairs_of_rows(rules.side),
            _held_up_to(rules),
            tables.taken,
            np.array([0, *((1 << _SHARE_AT) // of + 1 for of in range(1, form.ROW))]),
            _endings(tables, rules.values),
            _first_row(layout).view(np.int64),
        )
        small = (
            (points // tables.scores).astype(np.uint8),
            (points % tables.scores).astype(np.uint8),
            bits.CHOSEN.reshape(-1),
            layout.statuses[0].reshape(-1).view(np.uint8),
        )
        assert (len(numbers), len(wide), len(small)) == (_NUMBERS, _WIDE, _SMALL)
        begin = _NUMBERS + _WIDE + 1 + _SMALL + 1
        ends = (np.cumsum([begin, *map(len, wide)]), np.cumsum([0, *map(len, small)]))
        self.wide: Ints = np.concatenate([np.array(numbers, np.int64), *ends, *wide])
        self.small: Small = np.concatenate(small)


def _field_of_each(values: int) -> int:
    return sum(1 << _FIELD * value for value in range(values))


def _not_last_in_row(side: int) -> int:
    """The set of tiles that have a neighbour to the right."""
    return sum(1 << tile for tile in range(side**2) if (tile + 1) % side)


def _needed(tables: FlipTables) -> Ints:
    """[action] the tiles that it needs, as bits."""
    sets = (tables.tile_sets[:-1], tables.pair_sets, tables.tile_sets[:-1])
    return np.concatenate(sets) >> form.ROW_BITS


def _pairs_of_rows(side: int) -> Ints:
    """[tiles of a row and of the one below it] the pairs that begin in the row, as bits in their order.

    Then the same for the last row, which has none below it.
    """
    pairs, last = neighbours(side), side * (side - 1)
    rows = (
        present([(a, b) for a, b in pairs if a < side], 2 * side),
        present([(a - last, b - last) for a, b in pairs if a >= last], side),
    )
    return np.concatenate([row @ (1 << np.arange(row.shape[1])) for row in rows])


def _held_up_to(rules: QuantumTiles) -> Ints:
    """[bag] how many tiles of each value or a lower one it holds, a field each."""
    each = rules.copies + 1
    held = np.arange(each**rules.values)[:, None] // each ** np.arange(rules.values) % each
    fields: Ints = (held.cumsum(axis=1) << _FIELD * np.arange(rules.values)).sum(axis=1)
    return fields


def _endings(tables: FlipTables, values: int) -> Ints:
    """[mover, score that it reaches] who has won by that, as a standing says it; 0: nobody."""
    reached = np.tile(np.arange(tables.scores), 2)
    mover = np.repeat([0, 1], tables.scores)
    value = np.clip(reached, 1, values)
    score = np.maximum(reached - value, 0) * np.where(mover == 0, tables.scores, 1)
    row = ((score << 3) + (mover << form.MOVER_AT)) << form.ROW_BITS
    endings: Ints = tables.standing[row + tables.first_code + value] & ~form.STANDING
    return endings


def _first_row(layout: Layout) -> Small:
    """The row of a game that begins: what is shown, and then the mask."""
    row = np.zeros(layout.row_width, np.int8)
    row[: layout.size] = layout.start
    row[layout.size : layout.size + layout.actions] = layout.allowed[1, layout.mask]
    return row.view(np.uint8)


_packed = lru_cache(maxsize=16)(_Packed)


class Stepper:
    """Games under way; `state`, `tiles` and `looks` are those of the batch, and are changed here."""

    def __init__(self, rules: QuantumTiles, state: Ints, tiles: Small, looks: Looks) -> None:
        packed = _packed(rules)
        self._tables = (packed.wide, packed.small)
        self._state, self._tiles, self._looks = state, tiles, looks

    def first_illegal(self, actions: Ints) -> int:
        """The first game whose action is not allowed; -1: all are."""
        return int(_first_illegal(actions, self._tables[0], self._state))

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
        looks = self._looks
        looks.look()
        games = (self._state, self._tiles, streams)
        _play(part.start, part.stop, actions, *self._tables, *games, autoreset, rewards, ended, looks.rows)
        looks.stepped()

    def sample(self, streams: NDArray[np.uint64], chosen: Ints) -> None:
        """A random legal action everywhere."""
        _sample(*self._tables, self._state, streams, chosen)


# What `wide` holds: numbers, where the tables of `wide` and of `small` begin and end, and its tables.
_NUMBERS, _WIDE, _SMALL = 17, 11, 4
_FIRSTS, _SECONDS, _SETS, _NEEDED, _TILE_OF, _PAIRS_OF_ROWS = range(6)
_HELD, _TAKEN, _SHARES, _ENDINGS, _ROW = range(6, _WIDE)
_ONE_OF, _TWO_OF, _CHOSEN, _STATUSES = range(_SMALL)


@njit(inline="always")
def _table(wide: Any, which: int) -> Any:
    return wide[wide[_NUMBERS + which] : wide[_NUMBERS + which + 1]]


@njit(inline="always")
def _small_table(wide: Any, small: Any, which: int) -> Any:
    return small[wide[_NUMBERS + _WIDE + 1 + which] : wide[_NUMBERS + _WIDE + 2 + which]]


@njit(inline="always")
def _pairs(down: Any, side: int, of_rows: Any) -> Any:
    """The pairs of neighbours among tiles, both as bits."""
    both, each = 1 << 2 * side, 2 * side - 1
    found = of_rows[_U(both + (down >> side * (side - 1)))] << each * (side - 1)
    for row in range(side - 1):
        found |= of_rows[_U(down >> side * row & both - 1)] << each * row
    return found


@njit(inline="always")
def _drawn(ticket: Any, held: Any, each: Any, top: Any) -> Any:
    """The value that a ticket draws, less 1: of how many values the tiles come before it.

    `held` are the fields of a bag, `each` is a 1 in each field, and `top` where the last one begins.
    """
    above = each << _FIELD - 1
    return ((((ticket * each | above) - held) & above) >> _FIELD - 1) * each >> top & _FIELD_MASK


@compiled(nogil=True)
def _first_illegal(actions: Any, wide: Any, state: Any) -> int:
    tiles, keep = wide[:2]
    needed = _table(wide, _NEEDED)
    downs, standings = state[0], state[3]
    for i in range(len(actions)):
        action, standing = actions[i], standings[i]
        if action < 0 or action >= keep + tiles:
            return i
        need = needed[_U(action)]
        wrong = (downs[i] >> form.ROW_BITS & need) != need
        wrong |= ((standing & form.LIFTED) != 0) != (action >= keep)
        wrong |= (action >= tiles) & (action < keep) & (standing >= 0)
        if wrong:
            return i
    return -1


@compiled(nogil=True)
def _play(
    begin: int,
    end: int,
    actions: Any,
    wide: Any,
    small: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
    rows: Any,
) -> None:
    """Play in the games from `begin` to `end`. Rows are what is shown, and then the mask."""
    count, keep, full, full_bag, start, first_code, values, size, my_score, other_score = wide[:10]
    my_quantum, other_quantum, lifted_at, side, scores, each = wide[10:16]
    firsts, seconds, sets = _table(wide, _FIRSTS), _table(wide, _SECONDS), _table(wide, _SETS)
    tile_of, of_rows = _table(wide, _TILE_OF), _table(wide, _PAIRS_OF_ROWS)
    helds, taken = _table(wide, _HELD), _table(wide, _TAKEN)
    shares, endings, first_row = _table(wide, _SHARES), _table(wide, _ENDINGS), _table(wide, _ROW)
    one_of, two_of = _small_table(wide, small, _ONE_OF), _small_table(wide, small, _TWO_OF)
    statuses = _small_table(wide, small, _STATUSES)
    downs, rests, bags, standings = state[0], state[1], state[2], state[3]
    known, flat = tiles.reshape(-1), rows.reshape(-1)
    words, width = flat.view(np.int64), _U(rows.shape[1])
    faces, top, pairs_at = 2 * values + 1, _FIELD * (values - 1), size + count
    chances = np.empty(_ABREAST, np.uint64)
    takes, lifts, kept, changed, over = np.empty((5, _ABREAST), np.int64)
    for low in range(begin, end, _ABREAST):
        high = min(low + _ABREAST, end)
        n_takes = n_lifts = n_kept = n_changed = n_over = 0
        stream = streams[low:high]
        for j in range(len(stream)):  # several at once: nothing else is in this loop
            stream[j] += GAMMA
            chances[j] = mix(stream[j]) >> _32
        rewards[low:high] = 0.0
        ended[low:high] = False
        for i in range(low, high):
            action, row = actions[i], _U(i) * width
            lift = (action >= count) & (action < keep)
            fetch_to_write(flat, row + _U(tile_of[_U(action)] * faces))
            fetch_to_write(flat, row + _U(my_score))
            fetch_to_write(flat, row + _U(size))
            fetch_to_write(flat, row + _U(size + keep))
            takes[n_takes] = lifts[n_lifts] = i
            n_takes += not lift
            n_lifts += lift
        for i in takes[:n_takes].view(_U):
            tile, bag, standing = actions[i] - keep * np.int64(actions[i] >= keep), bags[i], standings[i]
            ticket = (bag >> form.LEFT_AT) * np.int64(chances[i - _U(low)]) >> 32
            value = 1 + _drawn(ticket, helds[_U((bag & form.BAG) >> form.ROW_BITS)], each, top)
            at = i * _U(form.ROW) + _U(tile)
            code = np.int64(known[at])
            turned = code if code else form.DRAWN + first_code + value
            known[at] = turned
            bags[i] = bag - taken[_U(turned)]
            value = (turned & form.CODE) - first_code
            downs[i] += rests[i] - (form.ROW << tile) - 1
            rests[i] = 0
            number = (standing & form.STANDING) >> form.ROW_BITS
            points, mover = number >> 3, number >> form.MOVER_AT & 1
            one, two = np.int64(one_of[_U(points)]), np.int64(two_of[_U(points)])
            mine = two if mover else one
            other = one + two - mine
            reached = mine + value
            # Who is to move now is the other one.
            may_pair = number >> 1 - mover & 1
            points += value * (1 if mover else scores)
            after = (points << 3) + ((1 - mover) << form.MOVER_AT) + (number & 3)
            ending = endings[_U(mover * scores + reached)]
            standings[i] = (after << form.ROW_BITS) + (ending | may_pair << 63 & (ending != 0) - 1)
            row = i * width
            face = row + _U(tile * faces)
            flat[face] = 0
            flat[face + _U(values + value)] = 0
            flat[face + _U(value)] = 1
            flat[row + _U(my_score + mine)] = 0
            flat[row + _U(other_score + other)] = 0
            flat[row + _U(my_score + other)] = 1
            flat[row + _U(other_score + reached)] = 1
            flat[row + _U(my_quantum)] = may_pair
            flat[row + _U(other_quantum)] = number >> mover & 1
            flat[row + _U(size + tile)] = 0
            kept[n_kept] = changed[n_changed] = over[n_over] = i
            n_kept += actions[i] >= keep
            n_changed += (actions[i] < keep) & ((standing < 0) | (may_pair != 0))
            n_over += ending != 0
        for i in lifts[:n_lifts].view(_U):
            pair, chance = _U(actions[i] - count), np.int64(chances[i - _U(low)])
            first, second, bag = firsts[pair], seconds[pair], bags[i]
            at = i * _U(form.ROW)
            code_1, code_2 = np.int64(known[at + _U(first)]), np.int64(known[at + _U(second)])
            left, held = bag >> form.LEFT_AT, helds[_U((bag & form.BAG) >> form.ROW_BITS)]
            if code_1 == 0 and code_2 == 0:
                # Of the tickets that draw a value first, as many go to each second one as tiles are left.
                ticket = left * (left - 1) * chance >> 32
                one = _drawn(ticket * shares[_U(left - 1)] >> _SHARE_AT, held, each, top)
                before = held << _FIELD >> _FIELD * one & _FIELD_MASK
                equal = (held >> _FIELD * one & _FIELD_MASK) - before
                ticket = (ticket - before * (left - 1)) * shares[_U(equal)] >> _SHARE_AT
                two = _drawn(ticket, held - (each << _FIELD * one), each, top)
                code_1, code_2 = first_code + 1 + one, first_code + 1 + two
                bags[i] = bag - taken[_U(form.DRAWN + code_1)] - taken[_U(form.DRAWN + code_2)]
            elif code_1 == 0 or code_2 == 0:
                drawn = first_code + 1 + _drawn(left * chance >> 32, held, each, top)
                code_1, code_2 = code_1 or drawn, code_2 or drawn
                bags[i] = bag - taken[_U(form.DRAWN + drawn)]
            known[at + _U(first)], known[at + _U(second)] = code_1, code_2
            rests[i] = downs[i] - sets[pair]
            downs[i] = sets[pair]
            number = (standings[i] & form.STANDING) >> form.ROW_BITS
            number &= ~(1 << (number >> form.MOVER_AT & 1))
            standings[i] = (number << form.ROW_BITS) + form.LIFTED
            row = i * width
            flat[row + _U(first * faces)] = flat[row + _U(second * faces)] = 0
            flat[row + _U(first * faces + values + code_1 - first_code)] = 1
            flat[row + _U(second * faces + values + code_2 - first_code)] = 1
            # Lifted, choosing, and nothing to flip; no pair to lift; and two tiles to choose from.
            write_bits(flat, row + _U(lifted_at), _U(sets[pair] >> form.ROW_BITS | 1 << count))
            write_bits(flat, row + _U(pairs_at), _U(0))
            flat[row + _U(size + keep + first)] = 1
            flat[row + _U(size + keep + second)] = 1
        for i in kept[:n_kept].view(_U):
            down, row = downs[i] >> form.ROW_BITS, i * width
            write_bits(flat, row + _U(lifted_at), _U(down << count + 1))
            write_bits(flat, row + _U(pairs_at), _U(_pairs(down, side, of_rows) & standings[i] >> 63))
            flat[row + _U(size + keep + count - 1)] = 0  # the only number to keep that is further than that
        for i in changed[:n_changed].view(_U):
            pairs = _pairs(downs[i] >> form.ROW_BITS, side, of_rows) & standings[i] >> 63
            write_bits(flat, i * width + _U(pairs_at), _U(pairs))
        for i in over[:n_over].view(_U):
            winner = standings[i] >> form.WINNER_AT
            rewards[i, winner] = 1.0
            rewards[i, 1 - winner] = -1.0
            ended[i] = True
            if autoreset:
                downs[i], bags[i], standings[i] = full, full_bag, start
                for tile in range(count):
                    known[i * _U(form.ROW) + _U(tile)] = 0
                row = i * width >> _U(3)
                for k in range(len(first_row)):
                    words[row + _U(k)] = first_row[_U(k)]
            else:
                number = (standings[i] & form.STANDING) >> form.ROW_BITS
                for k in range(my_score, size):
                    rows[i, k] = statuses[number * (size - my_score) + k - my_score]


@compiled(nogil=True)
def _sample(wide: Any, small: Any, state: Any, streams: Any, chosen: Any) -> None:
    tiles, keep, side, not_last = wide[0], wide[1], wide[13], wide[16]
    of_rows, kth = _table(wide, _PAIRS_OF_ROWS), _small_table(wide, small, _CHOSEN)
    lifts, beyond = np.empty((2, _ABREAST), np.int64)
    for low in range(0, len(chosen), _ABREAST):
        high = min(low + _ABREAST, len(chosen))
        downs, standings = state[0, low:high], state[3, low:high]
        stream, actions = streams[low:high], chosen[low:high]
        # Several at once: this loop looks nothing up, and has no branches.
        for j in range(len(downs)):
            singles, down = downs[j] & form.CODE, downs[j] >> form.ROW_BITS
            pairs = np.int64(bits.count(_U(down & down >> 1 & not_last | (down & down >> side) << 32)))
            k = np.int64(mix(stream[j] + GAMMA) & HALF) * (singles + (pairs & standings[j] >> 63)) >> 32
            beyond[j] = k - singles
            # The k-th tile, by halves; nonsense where a pair is chosen.
            tile: Any = 0
            for half in (16, 8, 4, 2, 1):
                before = np.int64(bits.count(_U(down & (1 << half) - 1)))
                after = -np.int64(k >= before)
                k -= before & after
                tile += half & after
                down >>= half & after
            actions[j] = tile + keep * np.int64((standings[j] & form.LIFTED) != 0)
        n_lifts = 0
        for j in range(len(downs)):
            lifts[n_lifts] = j
            n_lifts += beyond[j] >= 0
        for j in lifts[:n_lifts].view(_U):
            pairs = _pairs(downs[j] >> form.ROW_BITS, side, of_rows)
            actions[j] = tiles + np.int64(bits.kth(_U(pairs), _U(beyond[j]), kth))
