"""Single steps of many games of Quantum Flip in compiled code: what is played, shown and allowed.

What the seats to move are shown and allowed is kept from step to step and changed where a move changes it: a
step touches a few of some hundred numbers. Needs the extra `fast`.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.tables import Ints, Small, flip_tables
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.compiling import compiled

Bytes = NDArray[np.int8]

_32 = np.uint64(32)
_FIRST_WON = form.WON[0]
_MOST_PAIRS = 4  # of one tile

# What a turn allows.
_FLIPPING, _PAIRING, _KEEPING = 1, 2, 4

# Games that are stepped abreast, kind of move by kind of move: no loop has to guess what comes next.
_ABREAST = 64

# Numbers that compiled code is handed, in this order; then where its tables begin.
_NUMBERS = (
    *("tiles", "pairs", "values", "least", "full", "bag", "start"),
    *("upper", "lower_shift", "half_mask", "half_shift", "pair_columns"),
    *("my_score", "other_score", "my_quantum", "other_quantum", "my_turn", "lifted", "choosing"),
)
_TABLES = len(_NUMBERS)


class _Packed:
    """The tables of one set of options in two arrays: handing over thirty takes longer than a small step."""

    def __init__(self, rules: QuantumTiles) -> None:
        tables, values = flip_tables(rules), rules.values
        encoding = Encoding(features(rules))
        places = {feature.name: encoding.place(feature.name).start for feature in encoding.features}
        pairs = len(tables.pair_sets)
        own = {"pairs": pairs, "values": values, "least": int(tables.scores == 2)} | places
        numbers = [own[name] if name in own else getattr(tables, name) for name in _NUMBERS]
        numbers[0] = tables.tiles
        value = np.maximum(np.arange(form.ROW) - tables.first_code, 0)
        value[form.PAIRED] = 0
        points = np.arange(tables.scores**2)
        wide = (
            *tables.pair_tiles,
            tables.pair_sets,
            _pairs_of(tables.pair_tiles, tables.tiles),
            tables.two_ways,
            tables.taken,
            tables.two_taken,
            tables.standing,
            np.concatenate([tables.tile_sets[:-1], tables.pair_sets, tables.tile_sets[:-1]]) & -form.ROW,
            np.repeat([_FLIPPING, _PAIRING, _KEEPING], [tables.tiles, pairs, tables.tiles]),
        )
        small = (
            tables.drawn,
            tables.two_drawn,
            *tables.two_codes,
            points // tables.scores,
            points % tables.scores,
            np.append(value, np.where(value > 0, value + values, 0)),
            *tables.pairs_in,
            *tables.pair_at,
            *tables.tile_at,
            np.frombuffer(encoding.encode(rules.initial(), Seat.ONE), np.uint8),
        )
        self.wide: Ints = np.concatenate(wide)
        self.small: Small = np.concatenate([table.astype(np.uint8) for table in small])
        ends = [np.cumsum([0, *map(len, kind)]) for kind in (wide, small)]
        self.numbers = np.concatenate([np.array(numbers, np.int64), *ends])


def _pairs_of(pair_tiles: tuple[Ints, Ints], tiles: int) -> Ints:
    """[tile, k] the pairs that a tile is in, over and over."""
    found = [np.flatnonzero((pair_tiles[0] == tile) | (pair_tiles[1] == tile)) for tile in range(tiles)]
    return np.concatenate([np.resize(mine, _MOST_PAIRS) for mine in found])


_packed = lru_cache(maxsize=16)(_Packed)


class Stepper:
    """Games under way; `state` and `tiles` are those of the batch, and are changed here."""

    def __init__(self, rules: QuantumTiles, state: Ints, tiles: Small, size: int, actions: int) -> None:
        packed = _packed(rules)
        self._tables = (packed.wide, packed.small, packed.numbers)
        self._state, self._tiles = state, tiles
        self._shape = size, actions
        self._nothing = np.empty((0, 0), np.int8)
        self.forget()

    def forget(self) -> None:
        """What is shown and allowed has changed elsewhere, and is to be worked out anew."""
        self._shown = self._masks = self._nothing

    def shown(self) -> Bytes:
        """[env, number] what the seats to move are shown; kept, and changed by the next step."""
        self._look()
        return self._shown

    def masks(self) -> Bytes:
        """[env, action] 1 where the action is allowed; kept in the same way."""
        self._look()
        return self._masks

    def _look(self) -> None:
        if not len(self._shown):
            movers = (self._state[3] >> (form.ROW_BITS + form.MOVER_AT) & 1).astype(np.int8)
            self._shown, self._masks = self.observe(movers), self.work_out_masks()

    def first_illegal(self, actions: Ints) -> int:
        """The first game whose action is not allowed; -1: all are."""
        return int(_first_illegal(actions, *self._tables, self._state))

    def play(
        self,
        part: slice,
        actions: Ints,
        streams: NDArray[np.uint64],
        autoreset: bool,
        rewards: NDArray[np.float32],
        ended: NDArray[np.bool_],
    ) -> None:
        """Play legal actions in a part of the games."""
        _play(
            actions[part],
            *self._tables,
            self._state[:, part],
            self._tiles[part],
            streams[part],
            autoreset,
            rewards[part],
            ended[part],
            self._shown[part],
            self._masks[part],
        )

    def sample(self, streams: NDArray[np.uint64], chosen: Ints) -> None:
        """A random legal action everywhere."""
        _sample(*self._tables, self._state, streams, chosen)

    def work_out_masks(self) -> Bytes:
        """[env, action] 1 where the action is allowed."""
        masks = np.empty((len(self._tiles), self._shape[1]), np.int8)
        _find_masks(*self._tables, self._state, masks)
        return masks

    def observe(self, seats: Bytes) -> Bytes:
        """[env, number] what the seats are shown."""
        shown = np.zeros((len(self._tiles), self._shape[0]), np.int8)
        _observe(*self._tables, self._state, self._tiles, seats, shown)
        return shown


@njit(inline="always")
def _table(tables: Any, numbers: Any, which: int) -> Any:
    """One of the tables in an array of them."""
    return tables[numbers[_TABLES + which] : numbers[_TABLES + which + 1]]


@njit(inline="always")
def _small_table(tables: Any, numbers: Any, which: int) -> Any:
    return _table(tables, numbers, _WIDE + 1 + which)


_WIDE = 10
_FIRSTS, _SECONDS, _SETS, _PAIRS_OF, _TWO_WAYS, _TAKEN, _TWO_TAKEN, _AFTER, _NEEDED, _TURNS = range(_WIDE)
_DRAWN, _TWO_DRAWN, _CODES_1, _CODES_2, _ONE_OF, _TWO_OF, _FACES, _PAIRS_UP, _PAIRS_LOW = range(9)
_PAIR_UP, _PAIR_LOW, _TILE_LOW, _TILE_UP, _SHOWN_FIRST = range(9, 14)


@compiled(nogil=True)
def _first_illegal(actions: Any, wide: Any, small: Any, numbers: Any, state: Any) -> int:
    needed, turns = _table(wide, numbers, _NEEDED), _table(wide, numbers, _TURNS)
    for i in range(len(actions)):
        action, down, standing = actions[i], state[0, i], state[3, i]
        if action < 0 or action >= len(needed):
            return i
        lifted = (standing & form.LIFTED) != 0
        turn = _KEEPING if lifted else _FLIPPING | _PAIRING * (standing < 0)
        if not turns[action] & turn or (down & needed[action]) != needed[action]:
            return i
    return -1


@compiled(nogil=True)
def _play(
    actions: Any,
    wide: Any,
    small: Any,
    numbers: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
    shown: Any,
    masks: Any,
) -> None:
    """What is shown and allowed has no rows where nobody looks at it."""
    count, pairs, values, least, full, full_bag, start = numbers[:7]
    my_score, other_score, my_quantum, other_quantum, _, lifted_at, choosing_at = numbers[12:19]
    firsts, seconds = _table(wide, numbers, _FIRSTS), _table(wide, numbers, _SECONDS)
    sets, pairs_of = _table(wide, numbers, _SETS), _table(wide, numbers, _PAIRS_OF)
    two_ways, taken = _table(wide, numbers, _TWO_WAYS), _table(wide, numbers, _TAKEN)
    two_taken, after = _table(wide, numbers, _TWO_TAKEN), _table(wide, numbers, _AFTER)
    drawn, two_drawn = _small_table(small, numbers, _DRAWN), _small_table(small, numbers, _TWO_DRAWN)
    codes_1, codes_2 = _small_table(small, numbers, _CODES_1), _small_table(small, numbers, _CODES_2)
    one_of, two_of = _small_table(small, numbers, _ONE_OF), _small_table(small, numbers, _TWO_OF)
    downs, rests, bags, standings = state[0], state[1], state[2], state[3]
    keep, faces, first_code = count + pairs, 2 * values + 1, form.PAIRED - 1 - values
    looking, shown_first = len(shown) > 0, _small_table(small, numbers, _SHOWN_FIRST)
    takes, lifts, on, over, before = np.empty((5, _ABREAST), np.int64)
    for low in range(0, len(actions), _ABREAST):
        high = min(low + _ABREAST, len(actions))
        n_takes = n_lifts = n_on = n_over = 0
        for i in range(low, high):
            takes[n_takes] = lifts[n_lifts] = i
            lift = count <= actions[i] < keep
            n_takes += not lift
            n_lifts += lift
            streams[i] += GAMMA
            rewards[i, 0] = 0.0
            rewards[i, 1] = 0.0
            ended[i] = False
        for i in takes[:n_takes].view(np.uint64):
            tile = actions[i] - keep * (actions[i] >= keep)
            chance = np.int64(mix(streams[i]) >> _32)
            down, bag, standing = downs[i], bags[i], standings[i]
            # The ticket draws a tile, unless the tile is known: that is more than any ticket.
            ticket = (bag >> form.LEFT_AT) * chance >> 32
            turned = drawn[np.uint64((bag & form.BAG) + max(ticket, np.int64(tiles[i, tile])))]
            tiles[i, tile] = turned
            bags[i] = bag - taken[turned]
            downs[i] = down + rests[i] - (form.ROW << tile) - 1
            rests[i] = 0
            now = after[np.uint64((standing & form.STANDING) + (turned & form.CODE))]
            standings[i] = now
            before[np.int64(i) - low] = standing
            on[n_on] = over[n_over] = i
            won = now >= _FIRST_WON
            n_on += not won
            n_over += won
        for i in lifts[:n_lifts].view(np.uint64):
            pair = actions[i] - count
            chance = np.int64(mix(streams[i]) >> _32)
            bag, row = bags[i], bags[i] & form.BAG
            first, second = firsts[pair], seconds[pair]
            known = np.int64(tiles[i, first]), np.int64(tiles[i, second])
            if known[0] | known[1]:
                ticket = (bag >> form.LEFT_AT) * chance >> 32
                one, two = drawn[row + max(ticket, known[0])], drawn[row + max(ticket, known[1])]
                tiles[i, first], tiles[i, second] = one & form.CODE, two & form.CODE
                bags[i] = bag - taken[one] - taken[two]
            else:
                two_way = two_ways[row >> form.ROW_BITS]
                both = two_drawn[(two_way >> form.BEGIN_AT) + ((two_way & form.WAYS) * chance >> 32)]
                tiles[i, first], tiles[i, second] = codes_1[both], codes_2[both]
                bags[i] = bag - two_taken[both]
            rests[i] = downs[i] - sets[pair]
            downs[i] = sets[pair]
            standings[i] = after[(standings[i] & form.STANDING) + form.PAIRED]
            if looking:
                for tile in (first, second):
                    shown[i, tile * faces] = 0
                    shown[i, tile * faces + values + np.int64(tiles[i, tile]) - first_code] = 1
                    shown[i, lifted_at + tile] = 1
                    masks[i, keep + tile] = 1
                shown[i, choosing_at] = 1
                for k in range(keep):  # quicker than a slice
                    masks[i, k] = 0
        for i in over[:n_over]:
            winner = standings[i] >> form.WINNER_AT
            rewards[i, winner] = 1.0
            rewards[i, 1 - winner] = -1.0
            ended[i] = True
            if autoreset:
                downs[i], bags[i], standings[i] = full, full_bag, start
                for k in range(count):
                    tiles[i, k] = 0
                if looking:
                    for k in range(shown.shape[1]):
                        shown[i, k] = shown_first[k]
                    for k in range(masks.shape[1]):
                        masks[i, k] = k < keep
        if not looking:
            continue
        for i in on[:n_on].view(np.uint64):
            action, left, now, standing = actions[i], downs[i], standings[i], before[np.int64(i) - low]
            tile = action - keep * (action >= keep)
            value = np.int64(tiles[i, tile] & form.CODE) - first_code
            shown[i, tile * faces] = 0
            shown[i, tile * faces + values + value] = 0
            shown[i, tile * faces + value] = 1
            number = (standing & form.STANDING) >> form.ROW_BITS
            one, two = np.int64(one_of[number >> 3]), np.int64(two_of[number >> 3])
            mover = number >> form.MOVER_AT & 1
            mine, other = (one, two) if mover == 0 else (two, one)
            # Who is to move now is the other one; of a feature with two values only the second is shown.
            if mine >= least:
                shown[i, my_score + mine - least] = 0
            if other >= least:
                shown[i, other_score + other - least] = 0
                shown[i, my_score + other - least] = 1
            if mine + value >= least:
                shown[i, other_score + mine + value - least] = 1
            number = (now & form.STANDING) >> form.ROW_BITS
            shown[i, my_quantum] = number >> (1 - mover) & 1
            shown[i, other_quantum] = number >> mover & 1
            if action >= keep:
                shown[i, choosing_at] = 0
                for k in range(count):
                    shown[i, lifted_at + k] = 0
                    masks[i, keep + k] = 0
                    masks[i, k] = left >> (form.ROW_BITS + k) & 1
            else:
                masks[i, tile] = 0
            if now >= 0:
                if standing < 0:
                    for k in range(count, keep):
                        masks[i, k] = 0
            elif standing >= 0:
                for pair in range(pairs):
                    both = sets[pair] & -form.ROW
                    masks[i, count + pair] = (left & both) == both
            elif pairs:
                for k in range(_MOST_PAIRS):
                    masks[i, count + pairs_of[tile * _MOST_PAIRS + k]] = 0


@compiled(nogil=True)
def _sample(wide: Any, small: Any, numbers: Any, state: Any, streams: Any, chosen: Any) -> None:
    tiles, pairs = numbers[0], numbers[1]
    upper_mask, lower_shift, half_mask, half_shift, columns = numbers[7:12]
    pairs_up, pairs_low = _small_table(small, numbers, _PAIRS_UP), _small_table(small, numbers, _PAIRS_LOW)
    pair_up, pair_low = _small_table(small, numbers, _PAIR_UP), _small_table(small, numbers, _PAIR_LOW)
    tile_low, tile_up = _small_table(small, numbers, _TILE_LOW), _small_table(small, numbers, _TILE_UP)
    downs, standings = state[0], state[3]
    for i in range(len(chosen)):
        down = downs[i]
        singles = down & form.CODE
        open_pairs = np.int64(pairs_up[down >> form.ROW_BITS & upper_mask]) + pairs_low[down >> lower_shift]
        k = np.int64(mix(streams[i] + GAMMA) & HALF) * (singles + (open_pairs & standings[i] >> 63)) >> 32
        # Both are looked up, one of them for nothing: to guess which it is takes longer.
        begun = tile_low[np.uint64((down & half_mask) + min(k, form.ROW - 1))]
        tile = np.int64(tile_up[np.uint64((down >> half_shift & -form.ROW) + begun)])
        rank = (down >> form.ROW_BITS & upper_mask) * columns + max(k - singles, 0)
        pair = np.int64(pair_low[np.uint64((down >> lower_shift) * columns + pair_up[np.uint64(rank)])])
        lifted = (standings[i] & form.LIFTED) != 0
        chosen[i] = tile + (tiles + pairs) * lifted if k < singles else tiles + pair


@compiled(nogil=True)
def _find_masks(wide: Any, small: Any, numbers: Any, state: Any, out: Any) -> None:
    tiles, pairs = numbers[0], numbers[1]
    sets = _table(wide, numbers, _SETS)
    keep = tiles + pairs
    for i in range(len(out)):
        down, standing = state[0, i], state[3, i]
        lifted = np.int8((standing & form.LIFTED) != 0)
        may_pair = standing < 0
        for tile in range(tiles):
            there = np.int8(down >> (form.ROW_BITS + tile) & 1)
            out[i, tile] = there & (1 - lifted)
            out[i, keep + tile] = there & lifted
        for pair in range(pairs):
            both = sets[pair] & -form.ROW
            out[i, tiles + pair] = may_pair and (down & both) == both


@compiled(nogil=True)
def _observe(wide: Any, small: Any, numbers: Any, state: Any, tiles: Any, seats: Any, shown: Any) -> None:
    """`shown` is all zeros."""
    count, _, values, least = numbers[:4]
    my_score, other_score, my_quantum, other_quantum, my_turn, lifted_at, choosing_at = numbers[12:19]
    one_of, two_of = _small_table(small, numbers, _ONE_OF), _small_table(small, numbers, _TWO_OF)
    face_of, faces = _small_table(small, numbers, _FACES), 2 * values + 1
    for i in range(len(seats)):
        down, standing, seat = state[0, i], state[3, i], np.int64(seats[i])
        number = (standing & form.STANDING) >> form.ROW_BITS
        one, two = np.int64(one_of[number >> 3]), np.int64(two_of[number >> 3])
        mine = (number >> form.MOVER_AT & 1) == seat
        lifted = (standing & form.LIFTED) != 0
        face_down = (down + state[1, i]) >> form.ROW_BITS
        for tile in range(count):
            code = np.int64(tiles[i, tile]) & form.CODE | (face_down >> tile & 1) << form.ROW_BITS
            shown[i, tile * faces + np.int64(face_of[code])] = 1
        mine_has, other_has = (one, two) if seat == 0 else (two, one)
        # Of a feature with two values only the second is shown.
        if mine_has >= least:
            shown[i, my_score + mine_has - least] = 1
        if other_has >= least:
            shown[i, other_score + other_has - least] = 1
        # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
        shown[i, my_quantum] = (number >> seat & 1) | (lifted and mine)
        shown[i, other_quantum] = (number >> (1 - seat) & 1) | (lifted and not mine)
        shown[i, my_turn] = mine
        shown[i, choosing_at] = lifted
        if lifted:
            for tile in range(count):
                shown[i, lifted_at + tile] = down >> (form.ROW_BITS + tile) & 1
