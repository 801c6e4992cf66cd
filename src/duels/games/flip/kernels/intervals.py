"""Proven intervals for flip's positions and actions: `bounds` once more, compiled.

`tables` are those of `BoundTables`. Positions that no match leads to are given back as not known, and more
than one step of the rules ahead is left to `bounds`.
"""

from typing import Any

import numpy as np

from duels.games.flip.abstraction import MOST_NEAR
from duels.games.flip.bounds import AFFORDABLE, ENOUGH
from duels.games.flip.kernels.tables import (
    FLIP,
    HEAD,
    MINE,
    MOST_FLIPS,
    PARTS,
    REMEMBERED,
    ROW,
    SEEN,
    TAKE,
    THEIRS,
    WITHOUT,
)
from duels.games.flip.table import ROUNDING
from duels.solving.compiling import compiled, inner

Shape = tuple[int, int, int, int, int]
"""As `bounds.Shape`: pairs, spare, near, far pairs, far spare."""

# NumPy's numbers: of Python's own, every single one makes a function of its own in compiled code.
_SIDE, _VALUES, _COPIES, _TARGET, _TILES, _PAIRS, _TOP, _HIGH, _LOW, _PLACES = map(np.int64, range(len(HEAD)))
_NUMBER, _START, _POINTS, _FLIPPED, _UNIT, _NONE, _MINE, _THEIRS, _NEAR, _PAIR, _ROWS, _ASKED = map(
    np.int64, range(len(HEAD), len(HEAD) + 12)
)
_VALUE, _WAYS, _CHANCE, _FOUND, _UPPER, _LOWER, _TURNS = map(
    np.int64, range(len(HEAD) + 12, len(HEAD) + len(PARTS))
)
_ZERO, _NOWHERE = np.int64(0), np.int64(-1)
_YES, _NO = np.bool_(True), np.bool_(False)

_NO_SHAPE = (_ZERO, _ZERO, _ZERO, _ZERO, _ZERO)
_MOST_KINDS = 64
_DEEPEST = 2 * AFFORDABLE  # turns of both until a Quantum Flip is lost that lasts fewer of its holder's
_SPREAD = np.int64(0x5851F42D4C957F2D)  # spreads keys over a memory


@inner
def _whole(tables: Any, part: int, place: int) -> Any:
    """A number of one of the parts."""
    return tables[0][tables[0][part] + place]


@inner
def _value(tables: Any, row: int, place: int) -> Any:
    """The value of an abstract state."""
    return tables[1][tables[0][_VALUE] + row * tables[0][_PLACES] + place]


@inner
def _small(tables: Any, part: int, place: int) -> Any:
    return np.int64(tables[2][tables[0][part] + place])


@inner
def _none_row(tables: Any, one: int, two: int) -> Any:
    return _whole(tables, _NONE, one * (tables[0][_VALUES] + 1) + two)


@inner
def _flipped_too(tables: Any, code: int, value: int) -> Any:
    """The number of what is flipped, with one more tile."""
    values, raw = tables[0][_VALUES], _whole(tables, _UNIT, value - 1)
    for v in range(values):
        raw += _whole(tables, _UNIT, v) * _whole(tables, _FLIPPED, code * values + v)
    return _whole(tables, _NUMBER, raw)


@inner
def _count(tiles: int) -> Any:
    found = 0
    while tiles:
        tiles &= tiles - 1
        found += 1
    return found


@inner
def _matching(tables: Any, tiles: int) -> Any:
    """The most disjoint pairs of neighbours among `tiles`: some join the board's two parts."""
    side, top = tables[0][_SIDE], tables[0][_TOP]
    above, below = tiles & ((1 << top) - 1), tiles >> top
    joints = (above >> (top - side)) & below & ((1 << side) - 1)
    best = _small(tables, _UPPER, above) + _small(tables, _LOWER, below)
    most = _count(tiles) // 2
    joined = joints
    while joined and best < most:
        apart = _small(tables, _UPPER, above & ~(joined << (top - side))) + _small(
            tables, _LOWER, below & ~joined
        )
        best = max(best, apart + _count(joined))
        joined = (joined - 1) & joints
    return best


@inner
def _kind_of(shapes: Any, kinds: int, shape: Any) -> int:
    """The number of this shape among the first `kinds`; `kinds` where it is new."""
    for kind in range(kinds):
        if (
            shapes[kind, 0] == shape[0]
            and shapes[kind, 1] == shape[1]
            and shapes[kind, 2] == shape[2]
            and shapes[kind, 3] == shape[3]
            and shapes[kind, 4] == shape[4]
        ):
            return kind
    return kinds


@inner
def _shape(tables: Any, unknown: int, seen: int) -> Shape:
    """The shape of a board whose seen tile is `seen`; -1: none."""
    count, pairs = _count(unknown), _matching(tables, unknown)
    if seen < 0:
        return pairs, int(2 * pairs < count), 0, 0, 0
    near = _whole(tables, _NEAR, seen) & unknown
    beside = _count(near)
    far = _matching(tables, unknown & ~near) if near else pairs
    return pairs, int(2 * pairs < count), beside, far, int(2 * far < count - beside)


@inner
def _turns(tables: Any, code: int, score: int, mover: bool) -> Any:
    """`bounds.most_turns`; `code` is the number of what is flipped."""
    head, place = tables[0], _whole(tables, _START, code) + score
    known = head[_TURNS] + int(mover) * head[_PLACES] + place
    if tables[2][known]:
        return np.int64(tables[2][known]) - 1
    values, copies, target = head[_VALUES], head[_COPIES], head[_TARGET]
    left, rest = target - 1 - score, target - 1 - (_whole(tables, _POINTS, code) - score)
    sums = np.zeros(values * copies + 1, np.int64)
    tiles = 0
    for value in range(1, values + 1):
        for _ in range(copies - _whole(tables, _FLIPPED, code * values + value - 1)):
            sums[tiles + 1] = sums[tiles] + value
            tiles += 1
    turns = int(mover)
    while True:
        one, two = turns + int(not mover), turns
        if one + two > tiles or sums[one + two] > left + rest or sums[one] > left or sums[two] > rest:
            break
        turns += 1
    tables[2][known] = turns + 1
    return turns


@inner
def _ways(tables: Any, bag: Any, seen: int, shown: int, wanted: int, room: int) -> Any:
    """`ways` of `bounds.chance_to_last`, value by value; a recursion could not be kept for the next time."""
    values, total, depth = len(bag), 0.0, 0
    counts = np.full(values + 1, -1, np.int64)
    left = np.empty((values + 1, 3), np.int64)
    left[0, 0], left[0, 1], left[0, 2] = shown, wanted, room
    weights = np.ones(values + 1)
    while depth >= 0:
        value, shown, wanted, room = depth + 1, left[depth, 0], left[depth, 1], left[depth, 2]
        if counts[depth] < 0 and (wanted * value > room or shown == 0 or value > values):
            if shown == 0 and wanted == 0:
                total += weights[depth]
            depth -= 1
            continue
        counts[depth] += 1
        count = counts[depth]
        if count > min(shown, bag[value - 1]):
            depth -= 1
            continue
        used = min(wanted, count + int(seen == value))
        depth += 1
        counts[depth] = -1
        left[depth, 0], left[depth, 1], left[depth, 2] = shown - count, wanted - used, room - used * value
        weights[depth] = (
            weights[depth - 1] * tables[1][tables[0][_WAYS] + bag[value - 1] * MOST_FLIPS + count]
        )
    return total


@inner
def _chance(tables: Any, code: int, seen: int, flips: int, spared: int) -> Any:
    """`bounds.chance_to_last`; `seen` is the value of the seen tile, 0: none."""
    head = tables[0]
    values, copies, target = head[_VALUES], head[_COPIES], head[_TARGET]
    column = values + 1 if spared else seen
    known = head[_CHANCE] + (code * (values + 2) + column) * MOST_FLIPS + flips
    if tables[1][known]:
        return tables[1][known] - 1.0
    bag = np.empty(values, np.int64)
    tiles = 0
    for value in range(1, values + 1):
        bag[value - 1] = copies - _whole(tables, _FLIPPED, code * values + value - 1) - int(seen == value)
        tiles += bag[value - 1]
    shown = min(flips + spared, tiles)
    room = 2 * (target - 1) - _whole(tables, _POINTS, code)
    all_ways = tables[1][head[_WAYS] + tiles * MOST_FLIPS + shown]
    chance = _ways(tables, bag, seen, shown, flips, room) / all_ways
    tables[1][known] = chance + 1.0
    return chance


@inner
def _sure(pairs: int, spare: int, moves: bool, rival: bool) -> Any:
    """`Shape.sure`."""
    if not moves:
        return max(0, pairs - 1 - int(rival))
    return max(min(pairs, 1), pairs - (1 - spare) - int(rival))


@inner
def _leaf(tables: Any, row: int, bag: Any, leaf: int) -> Any:
    """What a turn in `row` can score, and the row that it leaves; 0 if it cannot.

    In this order: a flip by its value, the seen tile, a Quantum Flip of two unknown tiles by the value that
    is kept and the one that is left, one with the seen tile that keeps the other, one that keeps it.
    """
    values = tables[0][_VALUES]
    at = row * (ROW + 2 * values)
    seen = _whole(tables, _ROWS, at + SEEN)
    double, mixed = at + ROW, at + ROW + values
    if leaf < values:
        return (leaf + 1 if bag[leaf] > 0 else _ZERO), _whole(tables, _ROWS, at + FLIP)
    leaf -= values
    if leaf == 0:
        return seen, _whole(tables, _ROWS, at + TAKE)
    leaf -= 1
    if leaf < values * values:
        kept, left = leaf // values, leaf % values
        possible = bag[kept] > 0 and bag[left] > int(kept == left) and _whole(tables, _ROWS, double) >= 0
        return (kept + 1 if possible else _ZERO), _whole(tables, _ROWS, double + left)
    leaf -= values * values
    unknown = leaf % values
    if not bag[unknown] or _whole(tables, _ROWS, mixed) < 0:
        return _ZERO, _ZERO
    if leaf < values:
        return unknown + 1, _whole(tables, _ROWS, mixed + seen - 1)
    return seen, _whole(tables, _ROWS, mixed + unknown)


@inner
def _best_leaf(tables: Any, row: int, bag: Any, worth: Any) -> Any:
    """`Abstraction.worth`, once every leaf is known."""
    values = tables[0][_VALUES]
    at = row * (ROW + 2 * values)
    tiles = bag.sum()
    some, best = max(tiles, 1), 0.0
    for v in range(values):
        if bag[v]:
            best += bag[v] * worth[v]
    best /= some
    if _whole(tables, _ROWS, at + SEEN):
        best = max(best, worth[values])
    double, mixed = values + 1, values * (values + 1) + 1
    if _whole(tables, _ROWS, at + ROW) >= 0:
        total = 0.0
        for a in range(values):
            if bag[a] > 1:
                total += bag[a] * (bag[a] - 1) * worth[double + a * values + a]
            for b in range(a + 1, values):
                if bag[a] and bag[b]:
                    kept = max(worth[double + a * values + b], worth[double + b * values + a])
                    total += 2 * bag[a] * bag[b] * kept
        best = max(best, total / (some * max(tiles - 1, 1)))
    if _whole(tables, _ROWS, at + ROW + values) >= 0:
        total = 0.0
        for v in range(values):
            if bag[v]:
                total += bag[v] * max(worth[mixed + v], worth[mixed + values + v])
        best = max(best, total / some)
    return best


@inner
def _until(tables: Any, row: int, code: int, score: int, turns: int, mover: bool) -> Any:
    """`Table.value_until`, turn by turn as in `_ways`; `code` is the number of what is flipped."""
    head = tables[0]
    values, target = head[_VALUES], head[_TARGET]
    leaves = values * (values + 3) + 1
    frames = np.empty((_DEEPEST, 6), np.int64)
    bags, worths = np.empty((_DEEPEST, values), np.int64), np.empty((_DEEPEST, leaves), np.float64)
    frames[0, 0], frames[0, 1], frames[0, 2] = row, code, score
    frames[0, 3], frames[0, 4], frames[0, 5] = turns, int(mover), -1
    depth, found = 0, 0.0
    while depth >= 0:
        row, code, score = frames[depth, 0], frames[depth, 1], frames[depth, 2]
        turns, moves, leaf = frames[depth, 3], frames[depth, 4], frames[depth, 5]
        bag, worth = bags[depth], worths[depth]
        at, place = row * (ROW + 2 * values), _whole(tables, _START, code) + score
        key = ((row * head[_PLACES] + place) * _DEEPEST + turns) * 2 + moves + 1
        slot = key * _SPREAD >> 20 & (REMEMBERED - 1)
        if leaf < 0:
            if moves and not turns:
                found = _value(tables, _whole(tables, _ROWS, at + WITHOUT), place)
                depth -= 1
                continue
            if _whole(tables, _ASKED, slot) == key:
                found = tables[1][head[_FOUND] + slot]
                depth -= 1
                continue
            seen = _whole(tables, _ROWS, at + SEEN)
            for v in range(values):
                bag[v] = head[_COPIES] - _whole(tables, _FLIPPED, code * values + v) - int(seen == v + 1)
        else:
            worth[leaf] = 1 - found  # that of the turn that was looked into
        leaf += 1
        while leaf < leaves:
            value, left = _leaf(tables, row, bag, leaf)
            if value and score + value >= target:
                worth[leaf] = 1.0 if score + value == target else 0.0
            elif value:
                after = _flipped_too(tables, code, value)
                other = _whole(tables, _POINTS, code) - score
                if _whole(tables, _ROWS, left * (ROW + 2 * values) + (THEIRS if moves else MINE)):
                    frames[depth, 5] = leaf
                    depth += 1
                    frames[depth, 0], frames[depth, 1], frames[depth, 2] = left, after, other
                    frames[depth, 3], frames[depth, 4], frames[depth, 5] = turns - moves, 1 - moves, -1
                    break
                worth[leaf] = 1 - _value(tables, left, _whole(tables, _START, after) + other)
            leaf += 1
        if leaf == leaves:
            found = _best_leaf(tables, row, bag, worth)
            tables[0][head[_ASKED] + slot], tables[1][head[_FOUND] + slot] = key, found
            depth -= 1
    return found


@inner
def _secured(
    tables: Any,
    rows: tuple[int, int],
    code: int,
    score: int,
    seen: int,
    kept: tuple[int, int],
    mover: bool,
    rival: bool,
    patient: bool,
) -> Any:
    """The value when a holder relies on what is sure.

    `rows` are the row and that without the Quantum Flip; `kept` are the pairs and the spare tile counted on.
    """
    place = _whole(tables, _START, code) + score
    full = _value(tables, rows[0], place)
    sure, turns = _sure(kept[0], kept[1], mover, rival), _turns(tables, code, score, mover)
    if sure >= turns:
        return full
    if patient and turns <= AFFORDABLE:
        return _until(tables, rows[0], code, score, sure, mover)
    lost = _value(tables, rows[1], place)
    chance = _chance(tables, code, seen, 2 * sure + int(not mover), int(rival))
    return max(lost, full - chance) if mover else min(lost, full + chance)


@inner
def _interval(
    tables: Any, code: int, score: int, seen: tuple[int, int], mine: bool, theirs: bool, shape: Shape
) -> Any:
    """The interval of a position to its mover, and whether it is known; `seen` are values, 0: none."""
    if not mine and not theirs:
        place = _whole(tables, _START, code) + score
        low = high = _value(tables, _none_row(tables, seen[0], seen[1]), place)
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True
    if shape[2] > MOST_NEAR:
        return 0.0, 1.0, False
    s = seen[0] if seen[0] else seen[1]
    low, high = _estimate(tables, code, score, s, mine, theirs, shape, _NO)
    if high - low > ENOUGH:
        low, high = _estimate(tables, code, score, s, mine, theirs, shape, _YES)
    return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True


@inner
def _estimate(
    tables: Any, code: int, score: int, s: int, mine: bool, theirs: bool, shape: Shape, patient: bool
) -> Any:
    """`Bounds._estimate` with a Quantum Flip left; `s` is the value of the seen tile, 0: none."""
    pairs, spare, near, far_pairs, far_spare = shape
    place, both = _whole(tables, _START, code) + score, mine and theirs
    part, none = _MINE if mine else _THEIRS, _none_row(tables, _ZERO, s)
    beside = _whole(tables, part, s * (MOST_NEAR + 1) + near)
    least, other = 0.0, 0.0
    # Both holders in turn; or the one holder, who can count on the seen tile's neighbours or not.
    for way in range(2):
        if both:
            row = tables[0][_HIGH] if way else tables[0][_LOW]
            without = _whole(tables, _MINE, _ZERO) if way else _whole(tables, _THEIRS, _ZERO)
            mover, kept = way == 0, (pairs, spare)
        else:
            row, without = beside if way else _whole(tables, part, s * (MOST_NEAR + 1)), none
            mover, kept = mine, (far_pairs, far_spare) if way else (pairs, spare)
        if both or way == 0 or near:
            found = _secured(tables, (row, without), code, score, s, kept, mover, both, patient)
        else:
            found = least
        if way == 0:
            least = found
        else:
            other = found
    if both:
        return least, other
    if mine:
        return max(least, other), _value(tables, beside, place)
    return _value(tables, beside, place), min(least, other)


@inner
def _scored(
    tables: Any,
    code: int,
    score: int,
    value: int,
    seen: tuple[int, int],
    mine: bool,
    theirs: bool,
    shape: Shape,
) -> Any:
    """The interval after the mover scores `value`, once the rest is left so; `code` is the code itself."""
    target, points = tables[0][_TARGET], _whole(tables, _POINTS, _whole(tables, _NUMBER, code))
    if score + value >= target:
        won = 1.0 if score + value == target else 0.0
        return won, won, True
    after = _whole(tables, _NUMBER, code + _whole(tables, _UNIT, value - 1))
    low, high, known = _interval(tables, after, points - score, seen, theirs, mine, shape)
    return 1 - high, 1 - low, known


@inner
def _flip(
    tables: Any,
    code: int,
    score: int,
    bag: Any,
    seen: tuple[int, int],
    mine: bool,
    theirs: bool,
    shape: Shape,
) -> Any:
    """The interval of flipping an unknown tile, which leaves a board of that shape."""
    low = high = 0.0
    total, all_known = 0, True
    for value in range(1, len(bag) + 1):
        if bag[value - 1] > 0:
            a, b, known = _scored(tables, code, score, value, seen, mine, theirs, shape)
            low += bag[value - 1] * a
            high += bag[value - 1] * b
            total += bag[value - 1]
            all_known = all_known and known
    return low / total, high / total, all_known


@inner
def _scored_last(tables: Any, code: int, score: int, value: int, seen: tuple[int, int]) -> Any:
    """The same where no Quantum Flip is left."""
    target = tables[0][_TARGET]
    if score + value >= target:
        won = 1.0 if score + value == target else 0.0
        return won, won
    after = _whole(tables, _NUMBER, code + _whole(tables, _UNIT, value - 1))
    place = _whole(tables, _START, after) + _whole(tables, _POINTS, _whole(tables, _NUMBER, code)) - score
    worth = _value(tables, _none_row(tables, seen[0], seen[1]), place)
    return 1 - min(1.0, worth + ROUNDING), 1 - max(0.0, worth - ROUNDING)


@inner
def _last_quantum(tables: Any, code: int, score: int, bag: Any, beside: int, known: tuple[int, int]) -> Any:
    """The interval of a Quantum Flip after which none is left.

    `beside` is the value of a seen tile outside the pair, `known` are those in it; 0 where there is none.
    """
    low = high = 0.0
    total, values = 0, len(bag)
    for a in range(known[0], known[0] + 1) if known[0] else range(1, values + 1):
        for b in range(known[1], known[1] + 1) if known[1] else range(1, values + 1):
            weight = 1 if known[0] else bag[a - 1]
            if not known[1]:
                weight *= bag[b - 1] - int(a == b and not known[0])
            if weight > 0:
                one = _scored_last(tables, code, score, a, (beside, b))
                two = _scored_last(tables, code, score, b, (beside, a))
                low += weight * max(one[0], two[0])
                high += weight * max(one[1], two[1])
                total += weight
    return low / total, high / total


@inner
def _first_quantums(
    tables: Any, unknown: int, code: int, score: int, bag: Any, lows: Any, highs: Any
) -> bool:
    """The intervals of all Quantum Flips where both are left and no tile is seen; whether all are known."""
    pairs, tiles, values = tables[0][_PAIRS], tables[0][_TILES], len(bag)
    shapes = np.empty((_MOST_KINDS, 5), np.int64)
    kept = np.empty((2, _MOST_KINDS, values, values), np.float64)
    found = np.full((_MOST_KINDS, _MOST_KINDS), -1, np.int64)
    kinds, all_known = 0, True
    for number in range(pairs):
        ends = _whole(tables, _PAIR, 2 * number), _whole(tables, _PAIR, 2 * number + 1)
        if not unknown >> ends[0] & unknown >> ends[1] & 1:
            continue
        rest = unknown & ~(1 << ends[0]) & ~(1 << ends[1])
        one = two = 0
        for side in range(2):
            shape = _shape(tables, rest, ends[side])
            kind = _kind_of(shapes, kinds, shape)
            if kind == _MOST_KINDS:
                return False
            if kind == kinds:
                kinds += 1
                for k in range(5):
                    shapes[kind, k] = shape[k]
                for v in range(1, values + 1):
                    for left in range(1, values + 1):
                        if bag[v - 1] > 0 and bag[left - 1] - int(v == left) > 0:
                            low, high, known = _scored(
                                tables, code, score, v, (_ZERO, left), _NO, _YES, shape
                            )
                            kept[0, kind, v - 1, left - 1] = low
                            kept[1, kind, v - 1, left - 1] = high
                            all_known = all_known and known
            one, two = two, kind
        alike = found[one, two]
        if alike < 0:
            alike = found[one, two] = number
            low = high = 0.0
            total = 0
            for a in range(values):
                for b in range(values):
                    weight = bag[a] * (bag[b] - int(a == b))
                    if weight > 0:
                        low += weight * max(kept[0, two, a, b], kept[0, one, b, a])
                        high += weight * max(kept[1, two, a, b], kept[1, one, b, a])
                        total += weight
            lows[tiles + number], highs[tiles + number] = low / total, high / total
        lows[tiles + number], highs[tiles + number] = lows[tiles + alike], highs[tiles + alike]
    return all_known


@inner
def _bound(
    tables: Any,
    unknown: int,
    code: int,
    score: int,
    mine: bool,
    theirs: bool,
    count: int,
    seen: int,
    values: tuple[int, int],
) -> Any:
    """The interval of a position before a turn, and whether it is known; `seen` is one of `count` tiles."""
    if count > 2 or (count > 1 and (mine or theirs)) or (count and mine and theirs):
        return 0.0, 1.0, False
    shape = _shape(tables, unknown, seen) if mine or theirs else _NO_SHAPE
    return _interval(tables, _whole(tables, _NUMBER, code), score, values, mine, theirs, shape)


@inner
def _judge(
    tables: Any,
    faces: Any,
    score: int,
    mine: bool,
    theirs: bool,
    lifted: tuple[int, int],
    lows: Any,
    highs: Any,
) -> Any:
    """The intervals of all actions, -1 where one is not legal; bounds of the position, whether all are known.

    `faces` are the tiles: 0 unknown, a value, or a value plus all values if it was seen and is face down.
    `score` and who has a Quantum Flip are the mover's; `lifted` are two tiles to choose from, or -1.
    """
    values = tables[0][_VALUES]
    lows[:] = -1.0
    highs[:] = -1.0
    unknown = code = count = _ZERO
    seen, shown = np.full(3, -1, np.int64), np.zeros(3, np.int64)
    for tile in range(tables[0][_TILES]):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
        elif face <= values:
            code += _whole(tables, _UNIT, face - 1)
        elif count < 3:
            seen[count], shown[count] = tile, face - values
            count += 1
    if lifted[0] >= 0:
        return _judge_choice(tables, unknown, code, score, theirs, lifted, seen, shown, lows, highs)
    return _judge_turn(tables, unknown, code, score, mine, theirs, count, seen, shown, lows, highs)


@inner
def _judge_turn(
    tables: Any,
    unknown: int,
    code: int,
    score: int,
    mine: bool,
    theirs: bool,
    count: int,
    seen: Any,
    shown: Any,
    lows: Any,
    highs: Any,
) -> Any:
    """`_judge` before a turn; `count` tiles are `seen`, and the values on them are `shown`."""
    values, copies, tiles, pairs = (
        tables[0][_VALUES],
        tables[0][_COPIES],
        tables[0][_TILES],
        tables[0][_PAIRS],
    )
    known_values = (min(shown[0], shown[1]), max(shown[0], shown[1]))
    least, most, known = _bound(tables, unknown, code, score, mine, theirs, count, seen[0], known_values)
    if not known:
        return least, most, known
    held = mine or theirs
    number = _whole(tables, _NUMBER, code)
    bag = np.empty(values, np.int64)
    for value in range(1, values + 1):
        flipped = _whole(tables, _FLIPPED, number * values + value - 1)
        bag[value - 1] = copies - flipped - int(shown[0] == value) - int(shown[1] == value)
    for k in range(count):
        rest = (_ZERO, shown[1 - k])
        shape = _shape(tables, unknown, seen[1 - k]) if held else _NO_SHAPE
        low, high, fine = _scored(tables, code, score, shown[k], rest, mine, theirs, shape)
        lows[seen[k]], highs[seen[k]] = low, high
        known = known and fine
    shapes, at = np.empty((tiles, 5), np.int64), np.empty(tiles, np.int64)
    kinds = 0
    for tile in range(tiles):
        if not unknown >> tile & 1:
            continue
        shape = _shape(tables, unknown & ~(1 << tile), seen[0]) if held else _NO_SHAPE
        kind = _kind_of(shapes, kinds, shape)
        if kind == kinds:
            kinds += 1
            for k in range(5):
                shapes[kind, k] = shape[k]
            at[kind] = tile
            low, high, fine = _flip(tables, code, score, bag, known_values, mine, theirs, shape)
            lows[tile], highs[tile] = low, high
            known = known and fine
        lows[tile], highs[tile] = lows[at[kind]], highs[at[kind]]
    if mine and theirs:
        known = _first_quantums(tables, unknown, code, score, bag, lows, highs) and known
    elif mine:
        # The pair has no seen tile, or it has it first, or second.
        found = np.full(3, -1, np.int64)
        for number in range(pairs):
            a, b = _whole(tables, _PAIR, 2 * number), _whole(tables, _PAIR, 2 * number + 1)
            if (unknown >> a & 1 or a == seen[0]) and (unknown >> b & 1 or b == seen[0]):
                kind = 1 if a == seen[0] else 2 if b == seen[0] else 0
                place = tiles + number
                if found[kind] < 0:
                    found[kind] = place
                    inside = (shown[0] if kind == 1 else _ZERO, shown[0] if kind == 2 else _ZERO)
                    beside = shown[0] if kind == 0 else _ZERO
                    lows[place], highs[place] = _last_quantum(tables, code, score, bag, beside, inside)
                lows[place], highs[place] = lows[found[kind]], highs[found[kind]]
    return least, most, known


@inner
def _judge_choice(
    tables: Any,
    unknown: int,
    code: int,
    score: int,
    theirs: bool,
    lifted: tuple[int, int],
    seen: Any,
    shown: Any,
    lows: Any,
    highs: Any,
) -> Any:
    """`_judge` where one of two lifted tiles is to be kept."""
    keep = tables[0][_TILES] + tables[0][_PAIRS]
    known = True
    for kept in lifted:
        value, first, rest = _ZERO, _NOWHERE, np.zeros(2, np.int64)
        for k in range(3):
            if seen[k] == kept:
                value = shown[k]
            elif seen[k] >= 0:
                first = seen[k] if first < 0 else first
                if rest[1]:
                    rest[0] = shown[k]
                else:
                    rest[1] = shown[k]
        if theirs and rest[0]:
            return 0.0, 1.0, False
        shape = _shape(tables, unknown, first) if theirs else _NO_SHAPE
        low, high, fine = _scored(tables, code, score, value, (rest[0], rest[1]), _NO, theirs, shape)
        lows[keep + kept], highs[keep + kept] = low, high
        known = known and fine
    return 0.0, 1.0, known


@compiled(error_model="numpy")
def judge(
    tables: Any, faces: Any, scores: Any, held: Any, lifted: Any, lows: Any, highs: Any, bounds: Any
) -> None:
    """The intervals of all actions in positions, a row each.

    `held` is who has a Quantum Flip, the mover and the other. `bounds` are those of the positions by
    themselves, and whether all is known.
    """
    for i in range(len(faces)):
        mine, theirs = held[i, 0] != 0, held[i, 1] != 0
        pair = lifted[i, 0], lifted[i, 1]
        low, high, known = _judge(tables, faces[i], scores[i], mine, theirs, pair, lows[i], highs[i])
        bounds[i, 0], bounds[i, 1], bounds[i, 2] = low, high, known


@compiled(error_model="numpy")
def bound(
    tables: Any,
    unknown: int,
    code: int,
    score: int,
    mine: bool,
    theirs: bool,
    seen: Any,
    shown: Any,
    steps: int,
) -> Any:
    """The interval of a position before a turn after no or one step of the rules, and whether it is known.

    `seen` are the two tiles that are, -1: none; `shown` are the values on them, 0: none.
    """
    count = int(seen[0] >= 0) + int(seen[1] >= 0)
    values = (min(shown), max(shown))
    least, most, known = _bound(tables, unknown, code, score, mine, theirs, count, seen[0], values)
    if not known or not steps:
        return least, most, known
    lows, highs = np.full((2, tables[0][_TILES] + tables[0][_PAIRS]), -1.0)
    _, _, known = _judge_turn(
        tables, unknown, code, score, mine, theirs, count, np.array(seen), np.array(shown), lows, highs
    )
    return max(least, lows.max()), min(most, highs.max()), known
