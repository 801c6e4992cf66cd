"""What flip's board can change: for any board, a proven interval around its value.

The abstract game (`abstraction.py`) takes it for granted that a holder of the Quantum Flip finds two unknown
neighbours. On the board the opponent can flip tiles to part them. Four facts make abstract values bounds.

1. A board never offers a holder more than the abstract game does: the abstract value is the most it can be.
2. A holder may play on as if the Quantum Flip were lost, now or after some turns: the value of the abstract
   game with it lost then is the least it can be.
3. How long a holder is sure of it, by pairing. Let the unknown tiles hold m disjoint pairs of neighbours and
   call the rest spare. The holder flips spare tiles; if there is none, one of a pair, whose partner is spare
   from then on. A flip of the opponent breaks at most one pair and then leaves a spare tile, so it and the
   holder's answer break at most one pair between them (once, one more: if the opponent uses a Quantum Flip,
   which touches two tiles). Before the holder's j-th turn from now, then, at most
       j  (+ 1 if the holder moves now and has no spare tile)  (+ 1 if the opponent is a holder too)
   pairs are broken. While m is larger, the holder finds a pair whatever the opponent does. Points bound j:
   both scores must stay below the target. If m lasts as long, the abstract value itself is reached.
   To keep the seen tile's unknown neighbours too, the holder pairs only the unknown tiles away from it.
4. A holder may play as in the abstract game until a pair is missing, which cannot be before the first turn it
   is not sure of. So the abstract value is missed by no more than the chance that the match gets there,
   however both play: `chance_to_last` bounds it by the tiles that must come up for it.

On the book's empty board m is 12 and no match is longer than 18 flips, so j is at most 8 for player 1 and 9
for player 2: both are sure of their Quantum Flip to the end, and the abstract bounds hold as they are.

Where the interval is too wide, a step of the real rules narrows it: the pairs of the board are looked at,
and the positions after it are bounded instead. `narrow` repeats that a given number of times.

As in `values.py`, everything but `narrow` is in the subset of Python that Numba compiles.
"""

from typing import Any, NamedTuple

from duels.games.flip.grid import Shape, find_shape, list_tiles, most_pairs, pack_shape, sure_turns
from duels.games.flip.table import ROUNDING
from duels.games.flip.values import (
    BOUND_KEY,
    LOST,
    POINTS,
    SLOTS,
    WITHOUT,
    Tables,
    chance_to_last,
    count_bag,
    flip_value,
    get_value,
    get_value_until,
    most_turns,
    remember,
)

Interval = tuple[float, float]
ENOUGH = 0.0018  # an interval this narrow, an error of half of it, needs no further thought
AFFORDABLE = 4  # fact 2 with a Quantum Flip that lasts some turns is worked out this close to the end
NO_SHAPE = Shape(0, 0)
NOWHERE, NOTHING = -1, 0


class Position(NamedTuple):
    """A board before a turn, as its mover sees it."""

    unknown: int
    """The unknown tiles, as bits."""
    code: int
    """What is flipped."""
    score: int
    tiles: tuple[int, int]
    """The seen tiles. There are two at most, and one while anybody holds a Quantum Flip; NOWHERE: none."""
    values: tuple[int, int]
    """Their values; NOTHING: none."""
    mine: bool
    theirs: bool
    """Who holds a Quantum Flip."""
    shape: Shape
    """While anybody does."""


def make_position(
    t: Tables,
    unknown: int,
    code: int,
    score: int,
    tiles: tuple[int, int],
    values: tuple[int, int],
    mine: bool,
    theirs: bool,
) -> Position:
    """Return a position with its shape."""
    shape = NO_SHAPE
    if mine or theirs:
        shape = find_shape(t.grid, unknown, most_pairs(t.grid, unknown), tiles[0])
    return Position(unknown, code, score, tiles, values, mine, theirs, shape)


def read_position(t: Tables, faces: Any, score: int, mine: bool, theirs: bool, kept: int) -> Position:
    """Return the position of a mover with `score` on a board.

    A face is 0 for an unknown tile, the value of a flipped one, and that plus the highest value for one that
    was seen and is face down. `kept` is a seen tile that leaves the board, or NOWHERE.
    """
    unknown = code = count = 0
    tiles, values = [NOWHERE] * 3, [NOTHING] * 3
    for tile in range(len(faces)):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
        elif face <= t.values:
            code = flip_value(t, code, face)
        elif tile != kept:
            tiles[count], values[count] = tile, face - t.values
            count += 1
    return make_position(t, unknown, code, score, (tiles[0], tiles[1]), (values[0], values[1]), mine, theirs)


# -- without looking ahead -----------------------------------------------------------------------------


def bound(t: Tables, at: Position) -> Interval:
    """Return the interval that the facts give."""
    code, score, seen = at.code, at.score, at.values[0]
    low, high = 0.0, 1.0
    if not at.mine and not at.theirs:
        low = high = get_value(t, t.none[seen][at.values[1]], code, score)
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)
    key = ((code * 256 + score) * 16 + seen) * 4 + int(at.mine) * 2 + int(at.theirs)
    key = (key * (1 << 17) + pack_shape(at.shape)) * 4 + BOUND_KEY
    entry = t.memory[key % SLOTS]
    if entry[0] == key:
        return entry[1], entry[2]
    for patient in (False, True):
        if high - low > ENOUGH:
            low, high = estimate(t, at, patient)
    low, high = max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)
    remember(t, key, low, high)
    return low, high


def estimate(t: Tables, at: Position, patient: bool) -> Interval:
    """Return the interval but for rounding. Patience takes long and may find a narrower one."""
    shape = at.shape
    if at.mine and at.theirs:
        ends = [
            secure(t, at, t.low if mover else t.high, shape.pairs, shape.spare, mover, patient)
            for mover in (True, False)
        ]
        return ends[0], ends[1]
    rows = t.one[int(at.mine)][at.values[0]]
    most = get_value(t, rows[shape.near], at.code, at.score)
    least = secure(t, at, rows[0], shape.pairs, shape.spare, at.mine, patient)
    if shape.near:
        far = secure(t, at, rows[shape.near], shape.far_pairs, shape.far_spare, at.mine, patient)
        least = max(least, far) if at.mine else min(least, far)
    return (least, most) if at.mine else (most, least)


def secure(t: Tables, at: Position, row: int, pairs: int, spare: int, mover: bool, patient: bool) -> float:
    """Return the mover's value when a holder, the mover or the other, relies on fact 3 alone."""
    rival = at.mine and at.theirs
    sure, turns = sure_turns(pairs, spare, mover, rival), most_turns(t, at.code, at.score, mover)
    full = get_value(t, row, at.code, at.score)
    if sure >= turns:
        return full
    if patient and turns <= AFFORDABLE:
        return get_value_until(t, row, at.code, at.score, sure, int(mover))
    lost = get_value(t, t.rows[row][WITHOUT if mover else LOST], at.code, at.score)
    chance = chance_to_last(t, at.code, at.values[0], 2 * sure + int(not mover), int(rival))
    return max(lost, full - chance) if mover else min(lost, full + chance)


# -- actions, so many steps ahead ------------------------------------------------------------------------


def score_value(t: Tables, left: Position, value: int, steps: int) -> Interval:
    """Return the interval of a mover who scores `value` and leaves the rest of `left` to the other player."""
    score = left.score + value
    if score >= t.target:
        won = 1.0 if score == t.target else 0.0
        return won, won
    after = Position(
        left.unknown,
        flip_value(t, left.code, value),
        t.codes[left.code][POINTS] - left.score,
        left.tiles,
        left.values,
        left.theirs,
        left.mine,
        left.shape,
    )
    low, high = bound(t, after)
    if steps and high - low > ENOUGH:
        low, high = narrow(t, after, steps)
    return 1 - high, 1 - low


def take_tile(t: Tables, at: Position, which: int, steps: int) -> Interval:
    """Return the interval of flipping the first or the second seen tile."""
    tiles, values = (at.tiles[1 - which], NOWHERE), (at.values[1 - which], NOTHING)
    left = make_position(t, at.unknown, at.code, at.score, tiles, values, at.mine, at.theirs)
    return score_value(t, left, at.values[which], steps)


def remove_tile(t: Tables, at: Position, tile: int) -> Position:
    """Return what is left once an unknown tile is flipped."""
    unknown = at.unknown & ~(1 << tile)
    return make_position(t, unknown, at.code, at.score, at.tiles, at.values, at.mine, at.theirs)


def flip_tile(t: Tables, left: Position, steps: int) -> Interval:
    """Return the interval of flipping an unknown tile, which leaves the rest of the board so."""
    low = high = 0.0
    total = 0
    bag = count_bag(t, left.code, left.values[0], left.values[1])
    for value in range(1, t.values + 1):
        weight = bag[value - 1]
        if weight > 0:
            least, most = score_value(t, left, value, steps)
            low += weight * least
            high += weight * most
            total += weight
    return low / total, high / total


def use_quantum(t: Tables, at: Position, one: int, two: int, steps: int) -> Interval:
    """Return the interval of a Quantum Flip on two face-down neighbours."""
    unknown = at.unknown & ~(1 << one) & ~(1 << two)
    known = (find_value(at, one), find_value(at, two))
    beside, tile = (NOTHING, NOWHERE) if known[0] or known[1] else (at.values[0], at.tiles[0])
    shapes = find_rest(t, at, one, two)
    bag = count_bag(t, at.code, at.values[0], NOTHING)
    low = high = 0.0
    total = 0
    for a in range(known[0], known[0] + 1) if known[0] else range(1, t.values + 1):
        for b in range(known[1], known[1] + 1) if known[1] else range(1, t.values + 1):
            weight = 1 if known[0] else bag[a - 1]
            if not known[1]:
                weight *= bag[b - 1] - int(a == b and not known[0])
            if weight > 0:
                left = Position(
                    unknown, at.code, at.score, (two, tile), (b, beside), False, at.theirs, shapes[1]
                )
                keep_one = score_value(t, left, a, steps)
                left = Position(
                    unknown, at.code, at.score, (one, tile), (a, beside), False, at.theirs, shapes[0]
                )
                keep_two = score_value(t, left, b, steps)
                low += weight * max(keep_one[0], keep_two[0])
                high += weight * max(keep_one[1], keep_two[1])
                total += weight
    return low / total, high / total


def find_value(at: Position, tile: int) -> int:
    """Return the value of a tile that is the first seen one; NOTHING of another."""
    return at.values[0] if tile == at.tiles[0] else NOTHING


def find_rest(t: Tables, at: Position, one: int, two: int) -> tuple[Shape, Shape]:
    """Return the shapes of the board after a Quantum Flip that leaves the one tile, and the other."""
    if not at.theirs:
        return NO_SHAPE, NO_SHAPE
    unknown = at.unknown & ~(1 << one) & ~(1 << two)
    pairs = most_pairs(t.grid, unknown)
    return find_shape(t.grid, unknown, pairs, one), find_shape(t.grid, unknown, pairs, two)


# -- all actions ---------------------------------------------------------------------------------------


def judge(
    t: Tables,
    faces: Any,
    score: int,
    mine: bool,
    theirs: bool,
    lifted: tuple[int, int],
    lows: Any,
    highs: Any,
) -> Interval:
    """Write down the interval of each legal action, and return that of the position by itself.

    `lows` and `highs` are in the order of the rules' `all_actions`. `faces` are as in `read_position`, and
    `lifted` are two tiles to choose from, or NOWHERE. While a choice is open there is no such position.
    """
    if lifted[0] < 0:
        at = read_position(t, faces, score, mine, theirs, NOWHERE)
        judge_turn(t, at, lows, highs)
        return bound(t, at)
    first = len(t.grid.near) + len(t.grid.pairs)
    for tile in lifted:
        left = read_position(t, faces, score, False, theirs, tile)
        lows[first + tile], highs[first + tile] = score_value(t, left, faces[tile] - t.values, 0)
    return 0.0, 1.0


def judge_turn(t: Tables, at: Position, lows: Any, highs: Any) -> None:
    """Write down the intervals before a turn, without looking ahead."""
    for which in range(2):
        if at.values[which]:
            lows[at.tiles[which]], highs[at.tiles[which]] = take_tile(t, at, which, 0)
    # Actions of a kind are alike as far as nobody looks ahead.
    kinds, intervals = [-1], [(0.0, 0.0)]
    for tile in range(len(t.grid.near)):
        if at.unknown >> tile & 1:
            left = remove_tile(t, at, tile)
            kind = pack_shape(left.shape)
            if kind not in kinds:
                kinds.append(kind)
                intervals.append(flip_tile(t, left, 0))
            lows[tile], highs[tile] = intervals[kinds.index(kind)]
    kinds, intervals = [-1], [(0.0, 0.0)]
    place = len(t.grid.near)
    for pair in t.grid.pairs:
        one, two = pair[0], pair[1]
        if at.mine and is_face_down(at, one) and is_face_down(at, two):
            kind = find_player_kind(t, at, one, two)
            if kind not in kinds:
                kinds.append(kind)
                intervals.append(use_quantum(t, at, one, two, 0))
            lows[place], highs[place] = intervals[kinds.index(kind)]
        place += 1


def is_face_down(at: Position, tile: int) -> bool:
    """Whether a tile can be part of a Quantum Flip."""
    return at.unknown >> tile & 1 == 1 or tile == at.tiles[0]


def find_player_kind(t: Tables, at: Position, one: int, two: int) -> int:
    """Return a number for a Quantum Flip that those like it share."""
    if at.theirs:
        shapes = find_rest(t, at, one, two)
        kinds = (pack_shape(shapes[0]), pack_shape(shapes[1]))
    else:  # it is the last one: only the values matter
        kinds = (find_value(at, one), find_value(at, two))
    return min(kinds) * (1 << 17) + max(kinds)


def narrow(t: Tables, at: Position, steps: int) -> Interval:
    """Return the interval so many steps ahead, at least one. Compiled code leaves this to Python."""
    known: Interval | None = t.narrowed.get((at, steps))
    if known:
        return known
    tiles = len(t.grid.near)
    lows, highs = ([-1.0] * (tiles + len(t.grid.pairs)) for _ in range(2))
    judge_turn(t, at, lows, highs)
    if steps > 1:
        for which in range(2):
            if at.values[which]:
                tile = at.tiles[which]
                lows[tile], highs[tile] = take_tile(t, at, which, steps - 1)
        for place, pair in enumerate(t.grid.pairs, tiles):
            if highs[place] - lows[place] > ENOUGH:
                lows[place], highs[place] = use_quantum(t, at, pair[0], pair[1], steps - 1)
        least = max(lows)
        for tile in list_tiles(at.unknown):
            if highs[tile] > least and highs[tile] - lows[tile] > ENOUGH:
                lows[tile], highs[tile] = flip_tile(t, remove_tile(t, at, tile), steps - 1)
    low, high = bound(t, at)
    if len(t.narrowed) > SLOTS:
        t.narrowed.clear()
    t.narrowed[at, steps] = max(low, max(lows)), min(high, max(highs))
    return max(low, max(lows)), min(high, max(highs))
