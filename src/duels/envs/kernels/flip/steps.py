"""Compiled functions that play, check and choose single moves in many games of Quantum Flip.

They work by the same numbers as the arrays, and on the same rows. Where the arrays look up what is chosen,
drawn or allowed in large tables, these work it out from bits: the tables would not fit the processor's cache
beside the rows. What needs no lookup is done for several games at once, and a row is written in as few
pieces as can be. Needs the extra `fast`.
"""

from typing import Any

import numpy as np
from numba import njit

from duels.envs import bits
from duels.envs.compiled import ABREAST, GAMMA, HALF, first_of, mix
from duels.envs.intrinsics import write_bits
from duels.envs.kernels.flip import tables as form
from duels.solving.compiling import compiled

_32 = np.uint64(32)
_U = np.uint64

# How many tiles of a value or a lower one a bag holds: six bits a value, the last of them to compare by.
FIELD = 6
_FIELD_MASK = (1 << FIELD) - 1

# Divided by multiplying with what is 2**16 times the reciprocal: exact for all tickets of two tiles.
SHARE_AT = 16

# The rows of the largest board that is played as bits.
_MOST_ROWS = 5

# As many numbers as `write_bits` writes.
_WRITTEN = 64

# Four places in a row as one word: a 1 in each.
_EACH_PLACE = 0x0001000100010001

# What `packed` holds: numbers, where its tables begin and end, and the tables.
NUMBERS, TABLES = 16, 8
_FIRSTS, _SECONDS, _SETS, _PAIRS_OF_ROWS, _HELD, _TAKEN, _SHARES, _ROW = range(TABLES)


@njit(inline="always")
def _table(packed: Any, which: int) -> Any:
    return packed[packed[NUMBERS + which] : packed[NUMBERS + which + 1]]


@njit(inline="always")
def _pairs(down: Any, side: int, of_rows: Any) -> Any:
    """The pairs of neighbours among tiles, both as bits."""
    both, each = 1 << 2 * side, 2 * side - 1
    found = of_rows[_U(both + (down >> side * (side - 1)))] << each * (side - 1)
    for row in range(_MOST_ROWS - 1):  # as many in every game: this loop is unrolled
        tiles = (down >> side * row & both - 1) * np.int64(row < side - 1)
        found |= of_rows[_U(tiles)] << each * row
    return found


@njit(inline="always")
def _drawn(ticket: Any, held: Any, each: Any, top: Any) -> Any:
    """The value that a ticket draws, less 1: of how many values the tiles come before it.

    `held` are the fields of a bag, `each` is a 1 in each field, and `top` where the last one begins.
    """
    above = each << FIELD - 1
    return ((((ticket * each | above) - held) & above) >> FIELD - 1) * each >> top & _FIELD_MASK


# -- what is done for several games at once: loops without branches and lookups ---------------------


@njit(inline="always")
def _check(actions: Any, count: int, keep: int, downs: Any, standings: Any) -> Any:
    """Where an action is wrong, if it is not a pair; and the games where it is one."""
    wrong: Any = 0
    lifted: Any = 0
    for j in range(len(actions)):
        keeps = np.int64(actions[j] >= keep)
        tile = actions[j] - keep * keeps
        lift = np.int64(tile >= count) & (1 - keeps)
        fits = (
            np.int64(actions[j] >= 0)
            & np.int64(tile < count)
            & downs[j] >> form.ROW_BITS + (tile & form.CODE)
        )
        fits &= 1 - (keeps ^ np.int64((standings[j] & form.LIFTED) != 0))
        wrong |= (1 - (fits & 1 | lift)) << j
        lifted |= lift << j
    return wrong, lifted


@njit(inline="always")
def _fall(streams: Any, chances: Any) -> None:
    """Let the streams go on, and give what falls."""
    for j in range(len(streams)):
        streams[j] += GAMMA
        chances[j] = mix(streams[j]) >> _32


@njit(inline="always")
def _find_tiles(actions: Any, count: int, keep: int, chosen: Any) -> None:
    """The tiles that are taken; no tile where a pair is lifted."""
    for j in range(len(actions)):
        tile = actions[j] - keep * np.int64(actions[j] >= keep)
        chosen[j] = min(tile, count)


@njit(inline="always")
def _turn(chances: Any, bags: Any, held: Any, first_code: int, values: int, each: int, turned: Any) -> None:
    """Draw a tile where the one that is taken is unknown."""
    top, first = FIELD * (values - 1), form.DRAWN + first_code + 1
    for j in range(len(bags)):
        ticket = (bags[j] >> form.LEFT_AT) * chances[j] >> 32
        drawn = first + _drawn(ticket, held[j], each, top)
        turned[j] = drawn if turned[j] == 0 else turned[j]


@njit(inline="always")
def _take(chosen: Any, count: int, downs: Any, rests: Any) -> None:
    """Take the tiles away from what is face down."""
    for j in range(len(downs)):
        lift = -np.int64(chosen[j] == count)
        downs[j] += (rests[j] - (form.ROW << chosen[j]) - 1) & ~lift
        rests[j] &= lift


@njit(inline="always")
def _score(
    chosen: Any,
    turned: Any,
    count: int,
    first_code: int,
    target: int,
    score_bits: int,
    scores: int,
    always: bool,
    standings: Any,
    mine: Any,
    others: Any,
) -> Any:
    """Count the values taken, and say what the seat to move then is shown of its score, and of all the rest.

    Gives the games where a pair is lifted; the others where a pair was lifted, or where other pairs may be
    lifted than before (or all others, always); and those that are over.
    """
    lifted: Any = 0
    changed: Any = 0
    over: Any = 0
    for j in range(len(standings)):
        standing, value = standings[j], (turned[j] & form.CODE) - first_code
        number = (standing & form.STANDING) >> form.ROW_BITS
        mover = number >> form.MOVER_AT & 1
        one, two = number >> 3 + score_bits, number >> 3 & (1 << score_bits) - 1
        before = one + (two - one) * mover
        other, reached = one + two - before, before + value
        held, other_held = number >> mover & 1, number >> 1 - mover & 1
        won = np.int64(reached >= target)
        winner = mover ^ np.int64(reached > target)
        after = (number + (value << 3 << score_bits * (1 - mover)) ^ 1 << form.MOVER_AT) << form.ROW_BITS
        after += (won << form.WINNER_AT - 1 + winner) + ((other_held & ~won) << 63)
        lift = np.int64(chosen[j] == count)
        if lift:
            mine[j] = 1 << before
            others[j] = 1 << other | 1 << scores | other_held << scores + 1 | 1 << scores + 2
        else:
            mine[j] = 1 << other
            others[j] = 1 << reached | other_held << scores | held << scores + 1 | 1 << scores + 2
        standings[j] = standing if lift else after
        lifted |= lift << j
        new_pairs = other_held | np.int64(standing < 0) | np.int64((standing & form.LIFTED) != 0)
        changed |= ((new_pairs | np.int64(always)) & ~lift) << j
        over |= (won & ~lift) << j
    return lifted, changed, over


@njit(inline="always")
def _find_faces(
    chosen: Any,
    turned: Any,
    count: int,
    first_code: int,
    values: int,
    size: int,
    pad: int,
    places: Any,
) -> None:
    """Four places in the row: a tile's face as it may have been, twice, as it is, and where it was allowed.

    Where a pair is lifted they are all in the padding at the end.
    """
    faces = 2 * values + 1
    for j in range(len(chosen)):
        value, face = (turned[j] & form.CODE) - first_code, chosen[j] * faces
        found = face * _EACH_PLACE + (values + value << 16) + (value << 32) + (size + chosen[j] - face << 48)
        places[j] = pad * _EACH_PLACE if chosen[j] == count else found


@njit(inline="always")
def _look(
    code_1: Any,
    code_2: Any,
    bag: Any,
    held: Any,
    chance: Any,
    first_code: int,
    values: int,
    each: int,
    taken: Any,
    shares: Any,
) -> Any:
    """The codes of two tiles that are lifted, known before or drawn now, and the bag after that."""
    top, first, left = FIELD * (values - 1), first_code + 1, bag >> form.LEFT_AT
    if code_1 == 0 and code_2 == 0:
        # Of the tickets that draw a value first, as many go to each second one as tiles are left.
        ticket = left * (left - 1) * chance >> 32
        one = _drawn(ticket * shares[_U(left - 1)] >> SHARE_AT, held, each, top)
        before = held << FIELD >> FIELD * one & _FIELD_MASK
        equal = (held >> FIELD * one & _FIELD_MASK) - before
        ticket = (ticket - before * (left - 1)) * shares[_U(equal)] >> SHARE_AT
        two = _drawn(ticket, held - (each << FIELD * one), each, top)
        bag -= taken[_U(form.DRAWN + first + one)] + taken[_U(form.DRAWN + first + two)]
        return first + one, first + two, bag
    if code_1 == 0 or code_2 == 0:
        drawn = first + _drawn(left * chance >> 32, held, each, top)
        bag -= taken[_U(form.DRAWN + drawn)]
        return code_1 or drawn, code_2 or drawn, bag
    return code_1, code_2, bag


# -- a step ----------------------------------------------------------------------------------------


@compiled(nogil=True)
def first_illegal(actions: Any, packed: Any, state: Any) -> int:
    """The first game whose action is not allowed; -1: all are."""
    count, keep = packed[:2]
    sets = _table(packed, _SETS)
    downs, standings = state[0], state[3]
    for low in range(0, len(actions), ABREAST):
        high = min(low + ABREAST, len(actions))
        wrong, lifted = _check(actions[low:high], count, keep, downs[low:high], standings[low:high])
        while lifted:
            j = first_of(lifted)
            i, lifted = _U(low) + j, lifted & lifted - 1
            missing = sets[_U(actions[i] - count)] & ~downs[i] & -form.ROW
            wrong |= np.int64((missing != 0) | (standings[i] >= 0)) << np.int64(j)
        if wrong:
            return int(low + first_of(wrong))
    return -1


@compiled(nogil=True)
def play(
    begin: int,
    end: int,
    actions: Any,
    packed: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
    rows: Any,
) -> None:
    """Play in the games from `begin` to `end`. Rows are what is shown, and then the mask."""
    count, keep, full, full_bag, start, first_code, values, size, my_score, other_score = packed[:10]
    lifted_at, side, target, score_bits, each = packed[10:15]
    firsts, seconds, sets = _table(packed, _FIRSTS), _table(packed, _SECONDS), _table(packed, _SETS)
    of_rows, helds, taken = _table(packed, _PAIRS_OF_ROWS), _table(packed, _HELD), _table(packed, _TAKEN)
    shares, first_row = _table(packed, _SHARES), _table(packed, _ROW)
    downs, rests, bags, standings = state[0], state[1], state[2], state[3]
    known, flat = tiles.reshape(-1), rows.reshape(-1)
    words, width, pad = flat.view(np.int64), _U(rows.shape[1]), rows.shape[1] - 1
    faces, pairs_at = 2 * values + 1, size + count
    scores = other_score - my_score
    # Both scores and what else is known of the seats are written together if they are not too many. What
    # is written beyond that is not lifted; but where a game is small, it reaches into the mask.
    together = lifted_at - my_score <= _WRITTEN
    reaches = (my_score if together else other_score) + _WRITTEN > size
    # An array of its own: in one with the others, the compiler would do these loops game by game.
    chances = np.empty(ABREAST, np.int64)
    chosen, turned, held, mine, others, places = np.empty((6, ABREAST), np.int64)
    place = places.view(np.uint16)
    for low in range(begin, end, ABREAST):
        high = min(low + ABREAST, end)
        # All games of this turn, from 0 on.
        action, stream, bag, standing = (
            actions[low:high],
            streams[low:high],
            bags[low:high],
            standings[low:high],
        )
        rewards[low:high] = 0.0
        ended[low:high] = False
        _fall(stream, chances)
        _find_tiles(action, count, keep, chosen)
        for number in range(high - low):
            turned[number] = known[_U(low + number) * _U(form.ROW) + _U(chosen[number])]
            held[number] = helds[_U((bag[number] & form.BAG) >> form.ROW_BITS)]
        _turn(chances, bag, held, first_code, values, each, turned)
        _take(chosen, count, downs[low:high], rests[low:high])
        lifted, changed, over = _score(
            chosen, turned, count, first_code, target, score_bits, scores, reaches, standing, mine, others
        )
        _find_faces(chosen[: high - low], turned, count, first_code, values, size, pad, places)
        for number in range(high - low):
            j: Any = _U(number)
            i: Any = _U(low) + j
            row, code, k = i * width, turned[j], j << _U(2)
            known[i * _U(form.ROW) + _U(chosen[j])] = code
            bags[i] -= taken[_U(code)]
            flat[row + _U(place[k])] = 0
            flat[row + _U(place[k + _U(1)])] = 0
            flat[row + _U(place[k + _U(2)])] = 1
            flat[row + _U(place[k + _U(3)])] = 0
            if together:
                write_bits(flat, row + _U(my_score), _U(mine[j] | others[j] << scores))
            else:
                write_bits(flat, row + _U(my_score), _U(mine[j]))
                write_bits(flat, row + _U(other_score), _U(others[j]))
        while lifted:
            j = first_of(lifted)
            i, lifted = _U(low) + j, lifted & lifted - 1
            pair, at, row = _U(action[j] - count), i * _U(form.ROW), i * width
            one, two = firsts[pair], seconds[pair]
            code_1, code_2, bags[i] = _look(
                np.int64(known[at + _U(one)]),
                np.int64(known[at + _U(two)]),
                bags[i],
                held[j],
                chances[j],
                first_code,
                values,
                each,
                taken,
                shares,
            )
            known[at + _U(one)], known[at + _U(two)] = code_1, code_2
            rests[i] = downs[i] - sets[pair]
            downs[i] = sets[pair]
            number = (standings[i] & form.STANDING) >> form.ROW_BITS
            number &= ~(1 << (number >> form.MOVER_AT & 1))
            standings[i] = (number << form.ROW_BITS) + form.LIFTED
            flat[row + _U(one * faces)] = flat[row + _U(two * faces)] = 0
            flat[row + _U(one * faces + values + code_1 - first_code)] = 1
            flat[row + _U(two * faces + values + code_2 - first_code)] = 1
            # Lifted, choosing, and nothing to flip; no pair to lift; and two tiles to choose from.
            write_bits(flat, row + _U(lifted_at), _U(sets[pair] >> form.ROW_BITS | 1 << count))
            write_bits(flat, row + _U(pairs_at), _U(0))
            flat[row + _U(size + keep + one)] = 1
            flat[row + _U(size + keep + two)] = 1
        while changed:
            i, changed = _U(low) + first_of(changed), changed & changed - 1
            down, row = downs[i] >> form.ROW_BITS, i * width
            write_bits(flat, row + _U(lifted_at), _U(down << count + 1))
            write_bits(flat, row + _U(pairs_at), _U(_pairs(down, side, of_rows) & standings[i] >> 63))
            flat[row + _U(size + keep + count - 1)] = 0  # the only number to keep that is further than that
        while over:
            i, over = _U(low) + first_of(over), over & over - 1
            winner = standings[i] >> form.WINNER_AT
            rewards[i, winner] = 1.0
            rewards[i, 1 - winner] = -1.0
            ended[i] = True
            if autoreset:
                downs[i], bags[i], standings[i] = full, full_bag, start
                for tile in range(count):
                    known[i * _U(form.ROW) + _U(tile)] = 0
                row = i * width >> _U(3)
                for word in range(len(first_row)):
                    words[row + _U(word)] = first_row[_U(word)]


@compiled(nogil=True)
def sample(packed: Any, in_bytes: Any, state: Any, streams: Any, chosen: Any) -> None:
    """A random legal action everywhere; `in_bytes` is `bits.CHOSEN`."""
    tiles, keep, side, not_last = packed[0], packed[1], packed[11], packed[15]
    of_rows, kth = _table(packed, _PAIRS_OF_ROWS), in_bytes.reshape(-1)
    beyond = np.empty(ABREAST, np.int64)
    for low in range(0, len(chosen), ABREAST):
        high = min(low + ABREAST, len(chosen))
        downs, standings = state[0, low:high], state[3, low:high]
        stream, actions = streams[low:high], chosen[low:high]
        lifted: Any = 0
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
            lifted |= np.int64(beyond[j] >= 0) << j
        while lifted:
            j, lifted = first_of(lifted), lifted & lifted - 1
            pairs = _pairs(downs[j] >> form.ROW_BITS, side, of_rows)
            actions[j] = tiles + np.int64(bits.kth(_U(pairs), _U(beyond[j]), kth))
