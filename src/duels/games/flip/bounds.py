"""Proven lower and upper bounds on the value of any board of flip.

The abstraction (`abstraction.py`) assumes that a holder of the Quantum Flip always finds two unknown
neighbours. On the board, the opponent can flip tiles to separate them. Four facts turn abstract values into
bounds.

1. A board never offers a holder more than the abstract game: the abstract value is an upper bound.
2. A holder may play as if the Quantum Flip were lost, now or after some turns: the value of the abstract
   game in which it is lost then is a lower bound.
3. Pairing shows for how long a holder is sure of a Quantum Flip. Let m be the maximum number of disjoint
   pairs of neighbours among the unknown tiles, and call the other unknown tiles spare. The holder flips spare
   tiles; without any, one tile of a pair, whose partner is then spare. A flip of the opponent breaks at most
   one pair and leaves a spare tile. So it and the holder's reply break at most one pair together. (A Quantum
   Flip of the opponent touches two tiles and breaks one more pair, once.) Before the holder's j-th turn from
   now, at most
       j  (+ 1 if the holder moves now and has no spare tile)  (+ 1 if the opponent is a holder too)
   pairs are broken. While m is larger, the holder finds a pair against any play. Points bound j, because both
   scores must stay below the target. If m is large enough until then, the abstract value is exact.
   To preserve the seen tile's unknown neighbours too, the holder pairs only the unknown tiles away from it.
4. A holder may play as in the abstract game until a pair is missing. That cannot happen before the first turn
   of which the holder is not sure. So the holder loses at most the chance that the match gets there.
   `bound_lasting_chance` bounds this chance by the values that must be drawn.

On the book's empty board, m is 12 and no match is longer than 18 flips, so j is at most 8 for Player 1 and 9
for Player 2. Both are sure of their Quantum Flip to the end, and the abstract bounds hold unchanged.

If an interval is too wide, look-ahead narrows it: `narrow` applies the real rules for some steps and bounds
the positions after them.

As in `values.py`, everything but `narrow` uses the subset of Python that Numba compiles.
"""

from typing import Any, NamedTuple

from duels.games.flip.grid import Shape, count_max_pairs, count_sure_turns, find_shape, list_tiles, pack_shape
from duels.games.flip.table import ROUNDING
from duels.games.flip.values import (
    BOUND_KEY,
    LOST,
    POINTS,
    SLOTS,
    WITHOUT,
    Tables,
    bound_lasting_chance,
    count_bag,
    count_max_turns,
    flip_value,
    get_value,
    get_value_until,
    remember,
)

Interval = tuple[float, float]
ENOUGH = 0.0018  # an interval this narrow (an error of half its width) needs no look-ahead
MAX_PATIENT_TURNS = 4  # fact 2 with a later loss is used only this close to the end
NO_SHAPE = Shape(0, 0)
NOWHERE, NOTHING = -1, 0


class Position(NamedTuple):
    """A board before a turn, from the mover's point of view."""

    unknown: int
    """The unknown tiles, as a bit mask."""
    code: int
    """The code of the flipped tiles."""
    score: int
    tiles: tuple[int, int]
    """The seen tiles, or NOWHERE. There are at most two, and at most one while a Quantum Flip is left."""
    values: tuple[int, int]
    """Their values, or NOTHING."""
    mine: bool
    theirs: bool
    """Whether the mover and the opponent hold a Quantum Flip."""
    shape: Shape
    """The shape while a Quantum Flip is left."""


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
        shape = find_shape(t.grid, unknown, count_max_pairs(t.grid, unknown), tiles[0])
    return Position(unknown, code, score, tiles, values, mine, theirs, shape)


def read_position(t: Tables, faces: Any, score: int, mine: bool, theirs: bool, kept_tile: int) -> Position:
    """Return the position of a mover with `score` on a board.

    A face is 0 for an unknown tile, the value of a flipped tile, or the value plus the highest value for a
    seen tile that is face down. `kept_tile` is a seen tile to leave out, or NOWHERE.
    """
    unknown = code = count = 0
    tiles, values = [NOWHERE] * 3, [NOTHING] * 3
    for tile in range(len(faces)):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
        elif face <= t.values:
            code = flip_value(t, code, face)
        elif tile != kept_tile:
            tiles[count], values[count] = tile, face - t.values
            count += 1
    return make_position(t, unknown, code, score, (tiles[0], tiles[1]), (values[0], values[1]), mine, theirs)


def bound(t: Tables, at: Position) -> Interval:
    """Return the interval from the four facts, without look-ahead."""
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
    """Return the interval without the rounding allowance. `patient` is slow and may find a narrower one."""
    shape = at.shape
    if at.mine and at.theirs:
        ends = [
            bound_holder(t, at, t.low if mover else t.high, shape.pairs, shape.spare, mover, patient)
            for mover in (True, False)
        ]
        return ends[0], ends[1]
    rows = t.one[int(at.mine)][at.values[0]]
    most = get_value(t, rows[shape.near], at.code, at.score)
    least = bound_holder(t, at, rows[0], shape.pairs, shape.spare, at.mine, patient)
    if shape.near:
        far = bound_holder(t, at, rows[shape.near], shape.far_pairs, shape.far_spare, at.mine, patient)
        least = max(least, far) if at.mine else min(least, far)
    return (least, most) if at.mine else (most, least)


def bound_holder(
    t: Tables, at: Position, row: int, pairs: int, spare: int, mover: bool, patient: bool
) -> float:
    """Return the mover's value if the holder (the mover or the opponent) relies on fact 3."""
    rival = at.mine and at.theirs
    sure, turns = count_sure_turns(pairs, spare, mover, rival), count_max_turns(t, at.code, at.score, mover)
    full = get_value(t, row, at.code, at.score)
    if sure >= turns:
        return full
    if patient and turns <= MAX_PATIENT_TURNS:
        return get_value_until(t, row, at.code, at.score, sure, int(mover))
    lost = get_value(t, t.rows[row][WITHOUT if mover else LOST], at.code, at.score)
    chance = bound_lasting_chance(t, at.code, at.values[0], 2 * sure + int(not mover), int(rival))
    return max(lost, full - chance) if mover else min(lost, full + chance)


def score_value(t: Tables, left: Position, value: int, steps: int) -> Interval:
    """Return the mover's interval after scoring `value`, with the board `left` to the opponent."""
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
    """Return the position without an unknown tile."""
    unknown = at.unknown & ~(1 << tile)
    return make_position(t, unknown, at.code, at.score, at.tiles, at.values, at.mine, at.theirs)


def flip_tile(t: Tables, left: Position, steps: int) -> Interval:
    """Return the interval of flipping an unknown tile, which leaves the board `left`."""
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
    seen_values = (get_seen_value(at, one), get_seen_value(at, two))
    beside, tile = (NOTHING, NOWHERE) if seen_values[0] or seen_values[1] else (at.values[0], at.tiles[0])
    shapes = find_shapes_after(t, at, one, two)
    bag = count_bag(t, at.code, at.values[0], NOTHING)
    low = high = 0.0
    total = 0
    for a in range(seen_values[0], seen_values[0] + 1) if seen_values[0] else range(1, t.values + 1):
        for b in range(seen_values[1], seen_values[1] + 1) if seen_values[1] else range(1, t.values + 1):
            weight = 1 if seen_values[0] else bag[a - 1]
            if not seen_values[1]:
                weight *= bag[b - 1] - int(a == b and not seen_values[0])
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


def get_seen_value(at: Position, tile: int) -> int:
    """Return the value of the first seen tile, or NOTHING for another tile."""
    return at.values[0] if tile == at.tiles[0] else NOTHING


def find_shapes_after(t: Tables, at: Position, one: int, two: int) -> tuple[Shape, Shape]:
    """Return the shapes of the board after a Quantum Flip that leaves tile `one`, and tile `two`."""
    if not at.theirs:
        return NO_SHAPE, NO_SHAPE
    unknown = at.unknown & ~(1 << one) & ~(1 << two)
    pairs = count_max_pairs(t.grid, unknown)
    return find_shape(t.grid, unknown, pairs, one), find_shape(t.grid, unknown, pairs, two)


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
    """Fill in the interval of each legal action, and return that of the position without look-ahead.

    `lows` and `highs` are in the order of the rules' `all_actions`. `faces` are as in `read_position`.
    `lifted` are two tiles to choose from, or NOWHERE. While the mover chooses, the result is (0, 1).
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
    """Fill in the intervals before a turn, without look-ahead."""
    for which in range(2):
        if at.values[which]:
            lows[at.tiles[which]], highs[at.tiles[which]] = take_tile(t, at, which, 0)
    # Without look-ahead, actions of the same kind have the same interval.
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
            kind = classify_quantum_flip(t, at, one, two)
            if kind not in kinds:
                kinds.append(kind)
                intervals.append(use_quantum(t, at, one, two, 0))
            lows[place], highs[place] = intervals[kinds.index(kind)]
        place += 1


def is_face_down(at: Position, tile: int) -> bool:
    """Return whether a tile can be part of a Quantum Flip."""
    return at.unknown >> tile & 1 == 1 or tile == at.tiles[0]


def classify_quantum_flip(t: Tables, at: Position, one: int, two: int) -> int:
    """Return the kind of a Quantum Flip: equal kinds have equal intervals."""
    if at.theirs:
        shapes = find_shapes_after(t, at, one, two)
        kinds = (pack_shape(shapes[0]), pack_shape(shapes[1]))
    else:  # no Quantum Flip is left after it: only the values matter
        kinds = (get_seen_value(at, one), get_seen_value(at, two))
    return min(kinds) * (1 << 17) + max(kinds)


def narrow(t: Tables, at: Position, steps: int) -> Interval:
    """Return the interval with `steps` steps of look-ahead, at least one. Compiled code does not call it."""
    cached: Interval | None = t.narrowed.get((at, steps))
    if cached:
        return cached
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
