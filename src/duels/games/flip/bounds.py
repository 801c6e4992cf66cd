"""Proven lower and upper bounds on the value of any board of flip.

The abstraction (`abstraction.py`) assumes that a holder (a player with an unused Quantum Flip) always finds
two unknown neighbours. On the board, the opponent can flip tiles to separate them. Four facts turn abstract
values into bounds.

1. A board never offers a holder more than the abstract game: the abstract value is an upper bound.
2. A holder may play as if the Quantum Flip were lost, now or after some turns. The value of the abstract game
   with this loss is a lower bound.
3. Pairing shows for how long a holder is sure of a Quantum Flip. Let m be the maximum number of disjoint
   pairs of neighbours among the unknown tiles, and call the other unknown tiles spare. The holder flips a
   spare tile. If there is none, the holder breaks a pair by flipping one of its tiles, and the other becomes
   spare. A flip of the opponent breaks at most one pair and leaves a spare tile. So the flip and the holder's
   reply together break at most one pair. (The opponent's Quantum Flip affects two tiles, so it can break one
   more pair.) Before the holder's j-th turn from now, at most
       j  (+ 1 if the holder moves now and has no spare tile)  (+ 1 if the opponent is a holder too)
   pairs are broken. While m is larger, the holder finds a pair against any play. Points bound j, because both
   scores must stay below the target. If m is larger for every possible j, the abstract value is exact.
   To preserve the seen tile's unknown neighbours too, the holder pairs only the other unknown tiles.
4. A holder may play as in the abstract game until no pair is left. That cannot happen during the turns that
   fact 3 guarantees. So the holder loses at most the probability that the match lasts longer than that.
   `bound_lasting_chance` bounds this probability by the values that must be drawn.

On the book's empty board, m is 12 and no match is longer than 18 flips, so j is at most 8 for Player 1 and 9
for Player 2. Both are sure of their Quantum Flip to the end, and the abstract bounds hold unchanged.

If an interval is too wide, look-ahead narrows it: `narrow` applies the real rules for some steps and bounds
the resulting positions.

As in `values.py`, everything but `narrow` uses the subset of Python that Numba compiles.
"""

from typing import Any, NamedTuple

from duels.games.flip.abstraction import ROUNDING
from duels.games.flip.grid import (
    Shape,
    count_max_pairs,
    count_sure_turns,
    find_shape,
    find_smallest_symmetric,
    list_tiles,
    pack_shape,
)
from duels.games.flip.values import (
    BOUND_KEY,
    POINTS,
    SLOTS,
    WITHOUT_MY_QUANTUM,
    WITHOUT_THEIR_QUANTUM,
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
MAX_WIDTH = 0.0018  # an interval this narrow (an error of half its width) needs no look-ahead
MAX_PATIENT_TURNS = 4  # with more turns to the end, fact 2 is used only with an immediate loss
NO_SHAPE = Shape(0, 0)
NO_TILE, NO_VALUE = -1, 0


class Position(NamedTuple):
    """A board before a turn, from the mover's point of view."""

    unknown: int
    """The unknown tiles, as a bit mask."""
    code: int
    """The code of the flipped tiles."""
    score: int
    tiles: tuple[int, int]
    """The seen tiles, or NO_TILE. There are at most two, and at most one while a Quantum Flip is left."""
    values: tuple[int, int]
    """The values of the seen tiles, or NO_VALUE."""
    my_quantum: bool
    their_quantum: bool
    """Whether the mover and the opponent have a Quantum Flip."""
    shape: Shape
    """The shape of the board, or NO_SHAPE if nobody has a Quantum Flip."""


def make_position(
    t: Tables,
    unknown: int,
    code: int,
    score: int,
    tiles: tuple[int, int],
    values: tuple[int, int],
    my_quantum: bool,
    their_quantum: bool,
) -> Position:
    """Return a position with its shape, which matters only while a Quantum Flip is left."""
    shape = NO_SHAPE
    if my_quantum or their_quantum:
        shape = find_shape(t.grid, unknown, count_max_pairs(t.grid, unknown), tiles[0])
    return Position(unknown, code, score, tiles, values, my_quantum, their_quantum, shape)


def read_position(
    t: Tables, faces: Any, score: int, my_quantum: bool, their_quantum: bool, kept_tile: int
) -> Position:
    """Return the position of a mover with `score` on a board.

    A face is 0 for an unknown tile, the value of a flipped tile, or the value plus the highest value for a
    seen tile that is face down. `kept_tile` is a seen tile to leave out, or NO_TILE.
    """
    unknown = code = count = 0
    tiles, values = [NO_TILE] * 3, [NO_VALUE] * 3
    for tile in range(len(faces)):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
        elif face <= t.values:
            code = flip_value(t, code, face)
        elif tile != kept_tile:
            tiles[count], values[count] = tile, face - t.values
            count += 1
    return make_position(
        t, unknown, code, score, (tiles[0], tiles[1]), (values[0], values[1]), my_quantum, their_quantum
    )


def bound(t: Tables, pos: Position) -> Interval:
    """Return the interval that the four facts prove, without look-ahead."""
    code, score, seen = pos.code, pos.score, pos.values[0]
    low, high = 0.0, 1.0
    if not pos.my_quantum and not pos.their_quantum:
        low = high = get_value(t, t.nobody_rows[seen][pos.values[1]], code, score)
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)
    key = ((code * 256 + score) * 16 + seen) * 4 + int(pos.my_quantum) * 2 + int(pos.their_quantum)
    key = (key * (1 << 17) + pack_shape(pos.shape)) * 4 + BOUND_KEY
    entry = t.memo[key % SLOTS]
    if entry[0] == key:
        return entry[1], entry[2]
    for patient in (False, True):
        if high - low > MAX_WIDTH:
            low, high = estimate(t, pos, patient)
    low, high = max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)
    remember(t, key, low, high)
    return low, high


def estimate(t: Tables, pos: Position, patient: bool) -> Interval:
    """Return the interval before the allowance for rounding. `patient` takes longer for a narrower one."""
    shape = pos.shape
    if pos.my_quantum and pos.their_quantum:
        ends = [
            bound_holder(t, pos, t.low_row if mover else t.high_row, shape.pairs, shape.spare, mover, patient)
            for mover in (True, False)
        ]
        return ends[0], ends[1]
    rows = t.holder_rows[int(pos.my_quantum)][pos.values[0]]
    abstract_value = get_value(t, rows[shape.near], pos.code, pos.score)
    safe_value = bound_holder(t, pos, rows[0], shape.pairs, shape.spare, pos.my_quantum, patient)
    if shape.near:
        row = rows[shape.near]
        far = bound_holder(t, pos, row, shape.far_pairs, shape.far_spare, pos.my_quantum, patient)
        safe_value = max(safe_value, far) if pos.my_quantum else min(safe_value, far)
    return (safe_value, abstract_value) if pos.my_quantum else (abstract_value, safe_value)


def bound_holder(
    t: Tables, pos: Position, row: int, pairs: int, spare: int, mover: bool, patient: bool
) -> float:
    """Return a bound on the mover's value that the holder can ensure. `mover`: whether the holder moves."""
    has_rival = pos.my_quantum and pos.their_quantum
    sure_turns = count_sure_turns(pairs, spare, mover, has_rival)
    turns = count_max_turns(t, pos.code, pos.score, mover)
    abstract_value = get_value(t, row, pos.code, pos.score)
    if sure_turns >= turns:
        return abstract_value
    if patient and turns <= MAX_PATIENT_TURNS:
        return get_value_until(t, row, pos.code, pos.score, sure_turns, int(mover))
    lost_row = t.rows[row][WITHOUT_MY_QUANTUM if mover else WITHOUT_THEIR_QUANTUM]
    lost_value = get_value(t, lost_row, pos.code, pos.score)
    chance = bound_lasting_chance(t, pos.code, pos.values[0], 2 * sure_turns + int(not mover), int(has_rival))
    return max(lost_value, abstract_value - chance) if mover else min(lost_value, abstract_value + chance)


def score_value(t: Tables, board: Position, value: int, steps: int) -> Interval:
    """Return the mover's interval after scoring `value`, which leaves `board` to the opponent."""
    score = board.score + value
    if score >= t.target:
        won = 1.0 if score == t.target else 0.0
        return won, won
    successor = Position(
        board.unknown,
        flip_value(t, board.code, value),
        t.codes[board.code][POINTS] - board.score,
        board.tiles,
        board.values,
        board.their_quantum,
        board.my_quantum,
        board.shape,
    )
    low, high = bound(t, successor)
    if steps and high - low > MAX_WIDTH:
        low, high = narrow(t, successor, steps)
    return 1 - high, 1 - low


def take_tile(t: Tables, pos: Position, seen_index: int, steps: int) -> Interval:
    """Return the interval of flipping the first or the second seen tile."""
    tiles, values = (pos.tiles[1 - seen_index], NO_TILE), (pos.values[1 - seen_index], NO_VALUE)
    return score_value(t, change_board(t, pos, pos.unknown, tiles, values), pos.values[seen_index], steps)


def change_board(
    t: Tables, pos: Position, unknown: int, tiles: tuple[int, int], values: tuple[int, int]
) -> Position:
    """Return the position with other unknown and seen tiles."""
    return make_position(t, unknown, pos.code, pos.score, tiles, values, pos.my_quantum, pos.their_quantum)


def remove_tile(t: Tables, pos: Position, tile: int) -> Position:
    """Return the position without an unknown tile."""
    return change_board(t, pos, pos.unknown & ~(1 << tile), pos.tiles, pos.values)


def flip_tile(t: Tables, board: Position, steps: int) -> Interval:
    """Return the interval of flipping an unknown tile, which leaves `board`."""
    low = high = 0.0
    total = 0
    bag = count_bag(t, board.code, board.values[0], board.values[1])
    for value in range(1, t.values + 1):
        weight = bag[value - 1]
        if weight > 0:
            value_low, value_high = score_value(t, board, value, steps)
            low += weight * value_low
            high += weight * value_high
            total += weight
    return low / total, high / total


def use_quantum(t: Tables, pos: Position, one: int, two: int, steps: int) -> Interval:
    """Return the interval of a Quantum Flip on two face-down neighbours."""
    unknown, code, score = pos.unknown & ~(1 << one) & ~(1 << two), pos.code, pos.score
    seen_values = (get_seen_value(pos, one), get_seen_value(pos, two))
    uses_seen = seen_values[0] or seen_values[1]
    other_value, tile = (NO_VALUE, NO_TILE) if uses_seen else (pos.values[0], pos.tiles[0])
    shapes = find_shapes_after(t, pos, one, two)
    bag = count_bag(t, code, pos.values[0], NO_VALUE)
    low = high = 0.0
    total = 0
    for a in range(seen_values[0], seen_values[0] + 1) if seen_values[0] else range(1, t.values + 1):
        for b in range(seen_values[1], seen_values[1] + 1) if seen_values[1] else range(1, t.values + 1):
            weight = 1 if seen_values[0] else bag[a - 1]
            if not seen_values[1]:
                weight *= bag[b - 1] - int(a == b and not seen_values[0])
            if weight > 0:
                tiles, values = (two, tile), (b, other_value)
                board = Position(unknown, code, score, tiles, values, False, pos.their_quantum, shapes[1])
                keep_one = score_value(t, board, a, steps)
                tiles, values = (one, tile), (a, other_value)
                board = Position(unknown, code, score, tiles, values, False, pos.their_quantum, shapes[0])
                keep_two = score_value(t, board, b, steps)
                low += weight * max(keep_one[0], keep_two[0])
                high += weight * max(keep_one[1], keep_two[1])
                total += weight
    return low / total, high / total


def get_seen_value(pos: Position, tile: int) -> int:
    """Return the value of `tile` if it is the first seen tile, else NO_VALUE."""
    return pos.values[0] if tile == pos.tiles[0] else NO_VALUE


def find_shapes_after(t: Tables, pos: Position, one: int, two: int) -> tuple[Shape, Shape]:
    """Return the shapes after a Quantum Flip: if tile `one` is turned back, and if tile `two` is."""
    if not pos.their_quantum:
        return NO_SHAPE, NO_SHAPE
    unknown = pos.unknown & ~(1 << one) & ~(1 << two)
    pairs = count_max_pairs(t.grid, unknown)
    return find_shape(t.grid, unknown, pairs, one), find_shape(t.grid, unknown, pairs, two)


def judge(
    t: Tables,
    faces: Any,
    score: int,
    my_quantum: bool,
    their_quantum: bool,
    lifted: tuple[int, int],
    lows: Any,
    highs: Any,
) -> Interval:
    """Write each legal action's interval to `lows` and `highs`. Return the position's interval.

    There is no look-ahead. `lows` and `highs` have the order of the rules' `all_actions`. `faces` are as in
    `read_position`. `lifted` are two tiles to choose from (then the result is (0, 1)), or NO_TILE.
    """
    if lifted[0] < 0:
        pos = read_position(t, faces, score, my_quantum, their_quantum, NO_TILE)
        judge_turn(t, pos, lows, highs)
        return bound(t, pos)
    first_keep = len(t.grid.neighbours) + len(t.grid.pairs)
    for tile in lifted:
        board = read_position(t, faces, score, False, their_quantum, tile)
        lows[first_keep + tile], highs[first_keep + tile] = score_value(t, board, faces[tile] - t.values, 0)
    return 0.0, 1.0


def judge_turn(t: Tables, pos: Position, lows: Any, highs: Any) -> None:
    """Write the intervals of the actions before a turn to `lows` and `highs`, without look-ahead."""
    for seen_index in range(2):
        if pos.values[seen_index]:
            tile = pos.tiles[seen_index]
            lows[tile], highs[tile] = take_tile(t, pos, seen_index, 0)
    # Without look-ahead, actions of the same kind have the same interval.
    action_kinds, intervals = [-1], [(0.0, 0.0)]
    for tile in range(len(t.grid.neighbours)):
        if pos.unknown >> tile & 1:
            board = remove_tile(t, pos, tile)
            kind = pack_shape(board.shape)
            if kind not in action_kinds:
                action_kinds.append(kind)
                intervals.append(flip_tile(t, board, 0))
            lows[tile], highs[tile] = intervals[action_kinds.index(kind)]
    action_kinds, intervals = [-1], [(0.0, 0.0)]
    action_index = len(t.grid.neighbours)
    for pair in t.grid.pairs:
        one, two = pair[0], pair[1]
        if pos.my_quantum and is_face_down(pos, one) and is_face_down(pos, two):
            kind = classify_quantum_flip(t, pos, one, two)
            if kind not in action_kinds:
                action_kinds.append(kind)
                intervals.append(use_quantum(t, pos, one, two, 0))
            lows[action_index], highs[action_index] = intervals[action_kinds.index(kind)]
        action_index += 1


def is_face_down(pos: Position, tile: int) -> bool:
    """Return whether a tile can be part of a Quantum Flip."""
    return pos.unknown >> tile & 1 == 1 or tile == pos.tiles[0]


def classify_quantum_flip(t: Tables, pos: Position, one: int, two: int) -> int:
    """Return the kind of a Quantum Flip: equal kinds have equal intervals."""
    if pos.their_quantum:
        shapes = find_shapes_after(t, pos, one, two)
        sides = (pack_shape(shapes[0]), pack_shape(shapes[1]))
    else:  # no Quantum Flip is left after it: only the values matter
        sides = (get_seen_value(pos, one), get_seen_value(pos, two))
    return min(sides) * (1 << 17) + max(sides)


def narrow(t: Tables, pos: Position, steps: int) -> Interval:
    """Return the interval with `steps` steps of look-ahead, at least one. Compiled code does not call it."""
    # Look-ahead is only for boards with a Quantum Flip, so at most one tile is seen.
    unknown, seen = find_smallest_symmetric(t.grid.side, pos.unknown, pos.tiles[0])
    pos = pos._replace(unknown=unknown, tiles=(seen, NO_TILE))
    cached: Interval | None = t.look_ahead_cache.get((pos, steps))
    if cached:
        return cached
    tiles = len(t.grid.neighbours)
    lows, highs = ([-1.0] * (tiles + len(t.grid.pairs)) for _ in range(2))
    judge_turn(t, pos, lows, highs)
    if steps > 1:
        for seen_index in range(2):
            if pos.values[seen_index]:
                tile = pos.tiles[seen_index]
                lows[tile], highs[tile] = take_tile(t, pos, seen_index, steps - 1)
        for action_index, pair in enumerate(t.grid.pairs, tiles):
            if highs[action_index] - lows[action_index] > MAX_WIDTH:
                lows[action_index], highs[action_index] = use_quantum(t, pos, pair[0], pair[1], steps - 1)
        best_low = max(lows)
        for tile in list_tiles(pos.unknown):
            if highs[tile] > best_low and highs[tile] - lows[tile] > MAX_WIDTH:
                lows[tile], highs[tile] = flip_tile(t, remove_tile(t, pos, tile), steps - 1)
    low, high = bound(t, pos)
    if len(t.look_ahead_cache) > SLOTS:
        t.look_ahead_cache.clear()
    t.look_ahead_cache[pos, steps] = max(low, max(lows)), min(high, max(highs))
    return max(low, max(lows)), min(high, max(highs))
