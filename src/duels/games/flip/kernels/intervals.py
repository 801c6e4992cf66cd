"""Proven intervals for flip's positions and actions without looking ahead: `bounds` once more, compiled.

`tables` are those of `BoundTables`. What would need more than that, a second look (`value_until`) or a step
of the rules, is given back as not known; whoever asks then asks the oracle.
"""

from typing import Any

import numpy as np

from duels.games.flip.abstraction import MOST_NEAR
from duels.games.flip.bounds import AFFORDABLE, ENOUGH
from duels.games.flip.kernels.tables import HEAD, MOST_FLIPS, PARTS
from duels.games.flip.table import ROUNDING
from duels.solving.compiling import compiled, inner

Shape = tuple[int, int, int, int, int]
"""As `bounds.Shape`: pairs, spare, near, far pairs, far spare."""

# NumPy's numbers: of Python's own, every single one makes a function of its own in compiled code.
_SIDE, _VALUES, _COPIES, _TARGET, _TILES, _PAIRS, _TOP, _HIGH, _LOW, _PLACES = map(np.int64, range(len(HEAD)))
_NUMBER, _START, _POINTS, _FLIPPED, _UNIT, _NONE, _MINE, _THEIRS, _NEAR, _PAIR = map(
    np.int64, range(len(HEAD), len(HEAD) + 10)
)
_VALUE, _WAYS, _CHANCE, _UPPER, _LOWER, _TURNS = map(np.int64, range(len(HEAD) + 10, len(HEAD) + len(PARTS)))
_ZERO, _NOWHERE = np.int64(0), np.int64(-1)
_YES, _NO = np.bool_(True), np.bool_(False)

_NO_SHAPE = (_ZERO, _ZERO, _ZERO, _ZERO, _ZERO)
_MOST_KINDS = 64


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
def _secured(
    tables: Any,
    rows: tuple[int, int],
    code: int,
    score: int,
    seen: int,
    kept: tuple[int, int],
    mover: bool,
    rival: bool,
) -> tuple[float, bool]:
    """The value when a holder relies on what is sure; whether a second look could find more.

    `rows` are the row and that without the Quantum Flip; `kept` are the pairs and the spare tile counted on.
    """
    place = _whole(tables, _START, code) + score
    full = _value(tables, rows[0], place)
    sure, turns = _sure(kept[0], kept[1], mover, rival), _turns(tables, code, score, mover)
    if sure >= turns:
        return full, False
    lost = _value(tables, rows[1], place)
    chance = _chance(tables, code, seen, 2 * sure + int(not mover), int(rival))
    found = max(lost, full - chance) if mover else min(lost, full + chance)
    return found, turns <= AFFORDABLE


@inner
def _interval(
    tables: Any, code: int, score: int, seen: tuple[int, int], mine: bool, theirs: bool, shape: Shape
) -> Any:
    """The interval of a position to its mover, and whether it is known; `seen` are values, 0: none."""
    place = _whole(tables, _START, code) + score
    if not mine and not theirs:
        low = high = _value(tables, _none_row(tables, seen[0], seen[1]), place)
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True
    pairs, spare, near, far_pairs, far_spare = shape
    if near > MOST_NEAR:
        return 0.0, 1.0, False
    both, s = mine and theirs, seen[0] if seen[0] else seen[1]
    part, none = _MINE if mine else _THEIRS, _none_row(tables, _ZERO, s)
    beside = _whole(tables, part, s * (MOST_NEAR + 1) + near)
    again, least, other = False, 0.0, 0.0
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
            found, more = _secured(tables, (row, without), code, score, s, kept, mover, both)
            again = again or more
        else:
            found = least
        if way == 0:
            least = found
        else:
            other = found
    if both:
        low, high = least, other
    elif mine:
        low, high = max(least, other), _value(tables, beside, place)
    else:
        low, high = _value(tables, beside, place), min(least, other)
    if again and high - low > ENOUGH:
        return 0.0, 1.0, False
    return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), True


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
    values, copies, tiles, pairs = (
        tables[0][_VALUES],
        tables[0][_COPIES],
        tables[0][_TILES],
        tables[0][_PAIRS],
    )
    lows[:] = -1.0
    highs[:] = -1.0
    unknown = code = count = _ZERO
    seen, shown = np.full(3, -1, np.int64), np.zeros(3, np.int64)
    bag = np.full(values, copies, np.int64)
    for tile in range(tiles):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
            continue
        bag[(face - 1) % values] -= 1
        if face <= values:
            code += _whole(tables, _UNIT, face - 1)
        elif count < 3:
            seen[count], shown[count] = tile, face - values
            count += 1
    if lifted[0] >= 0:
        return _judge_choice(tables, unknown, code, score, theirs, lifted, seen, shown, lows, highs)
    if count > 2 or (count > 1 and (mine or theirs)) or (count and mine and theirs):
        return 0.0, 1.0, False
    held = mine or theirs
    shape = _shape(tables, unknown, seen[0]) if held else _NO_SHAPE
    known_values = (min(shown[0], shown[1]), max(shown[0], shown[1]))
    least, most, known = _interval(
        tables, _whole(tables, _NUMBER, code), score, known_values, mine, theirs, shape
    )
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
