"""Proven intervals for flip's positions and actions: `bounds` once more, compiled.

`tables` are those of `BoundTables`. Positions that no match leads to are given back as not known, and more
than one step of the rules ahead is left to `bounds`.
"""

from typing import Any

import numpy as np

from duels.games.flip.kernels.lookup import (
    COPIES,
    FLIPPED,
    NO,
    NOWHERE,
    NUMBER,
    PAIR,
    PAIRS,
    TILES,
    UNIT,
    VALUES,
    YES,
    ZERO,
    integer_at,
)
from duels.games.flip.kernels.positions import before_turn, scored, scored_last
from duels.games.flip.kernels.shapes import NO_SHAPE, Shape, find_shape, kind_of
from duels.solving.compiling import compiled, inner

_MOST_KINDS = 64


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
    least, most, known = before_turn(tables, unknown, code, score, mine, theirs, count, seen[0], values)
    if not known or not steps:
        return least, most, known
    lows, highs = np.full((2, tables[0][TILES] + tables[0][PAIRS]), -1.0)
    _, _, known = _judge_turn(
        tables, unknown, code, score, mine, theirs, count, np.array(seen), np.array(shown), lows, highs
    )
    return max(least, lows.max()), min(most, highs.max()), known


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
    values = tables[0][VALUES]
    lows[:] = -1.0
    highs[:] = -1.0
    unknown = code = count = ZERO
    seen, shown = np.full(3, -1, np.int64), np.zeros(3, np.int64)
    for tile in range(tables[0][TILES]):
        face = faces[tile]
        if face == 0:
            unknown |= 1 << tile
        elif face <= values:
            code += integer_at(tables, UNIT, face - 1)
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
        tables[0][VALUES],
        tables[0][COPIES],
        tables[0][TILES],
        tables[0][PAIRS],
    )
    known_values = (min(shown[0], shown[1]), max(shown[0], shown[1]))
    least, most, known = before_turn(tables, unknown, code, score, mine, theirs, count, seen[0], known_values)
    if not known:
        return least, most, known
    held = mine or theirs
    number = integer_at(tables, NUMBER, code)
    bag = np.empty(values, np.int64)
    for value in range(1, values + 1):
        flipped = integer_at(tables, FLIPPED, number * values + value - 1)
        bag[value - 1] = copies - flipped - int(shown[0] == value) - int(shown[1] == value)
    for k in range(count):
        rest = (ZERO, shown[1 - k])
        shape = find_shape(tables, unknown, seen[1 - k]) if held else NO_SHAPE
        low, high, fine = scored(tables, code, score, shown[k], rest, mine, theirs, shape)
        lows[seen[k]], highs[seen[k]] = low, high
        known = known and fine
    shapes, at = np.empty((tiles, 5), np.int64), np.empty(tiles, np.int64)
    kinds = 0
    for tile in range(tiles):
        if not unknown >> tile & 1:
            continue
        shape = find_shape(tables, unknown & ~(1 << tile), seen[0]) if held else NO_SHAPE
        kind = kind_of(shapes, kinds, shape)
        if kind == kinds:
            kinds += 1
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
            a, b = integer_at(tables, PAIR, 2 * number), integer_at(tables, PAIR, 2 * number + 1)
            if (unknown >> a & 1 or a == seen[0]) and (unknown >> b & 1 or b == seen[0]):
                kind = 1 if a == seen[0] else 2 if b == seen[0] else 0
                place = tiles + number
                if found[kind] < 0:
                    found[kind] = place
                    inside = (shown[0] if kind == 1 else ZERO, shown[0] if kind == 2 else ZERO)
                    beside = shown[0] if kind == 0 else ZERO
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
    keep = tables[0][TILES] + tables[0][PAIRS]
    known = True
    for kept in lifted:
        value, first, rest = ZERO, NOWHERE, np.zeros(2, np.int64)
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
        shape = find_shape(tables, unknown, first) if theirs else NO_SHAPE
        low, high, fine = scored(tables, code, score, value, (rest[0], rest[1]), NO, theirs, shape)
        lows[keep + kept], highs[keep + kept] = low, high
        known = known and fine
    return 0.0, 1.0, known


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
            a, b, known = scored(tables, code, score, value, seen, mine, theirs, shape)
            low += bag[value - 1] * a
            high += bag[value - 1] * b
            total += bag[value - 1]
            all_known = all_known and known
    return low / total, high / total, all_known


@inner
def _first_quantums(
    tables: Any, unknown: int, code: int, score: int, bag: Any, lows: Any, highs: Any
) -> bool:
    """The intervals of all Quantum Flips where both are left and no tile is seen; whether all are known."""
    pairs, tiles, values = tables[0][PAIRS], tables[0][TILES], len(bag)
    shapes = np.empty((_MOST_KINDS, 5), np.int64)
    kept = np.empty((2, _MOST_KINDS, values, values), np.float64)
    found = np.full((_MOST_KINDS, _MOST_KINDS), -1, np.int64)
    kinds, all_known = 0, True
    for number in range(pairs):
        ends = integer_at(tables, PAIR, 2 * number), integer_at(tables, PAIR, 2 * number + 1)
        if not unknown >> ends[0] & unknown >> ends[1] & 1:
            continue
        rest = unknown & ~(1 << ends[0]) & ~(1 << ends[1])
        one = two = 0
        for side in range(2):
            shape = find_shape(tables, rest, ends[side])
            kind = kind_of(shapes, kinds, shape)
            if kind == _MOST_KINDS:
                return False
            if kind == kinds:
                kinds += 1
                for v in range(1, values + 1):
                    for left in range(1, values + 1):
                        if bag[v - 1] > 0 and bag[left - 1] - int(v == left) > 0:
                            low, high, known = scored(tables, code, score, v, (ZERO, left), NO, YES, shape)
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
                one = scored_last(tables, code, score, a, (beside, b))
                two = scored_last(tables, code, score, b, (beside, a))
                low += weight * max(one[0], two[0])
                high += weight * max(one[1], two[1])
                total += weight
    return low / total, high / total
