"""How long a holder can count on the Quantum Flip, compiled: what `bounds` has by the same names."""

from typing import Any

import numpy as np

from duels.games.flip.kernels.lookup import (
    CHANCE,
    COPIES,
    FLIPPED,
    PLACES,
    POINTS,
    START,
    TARGET,
    TURNS,
    VALUES,
    WAYS,
    integer_at,
)
from duels.games.flip.kernels.tables import MOST_FLIPS
from duels.solving.compiling import inner


@inner
def sure_turns(pairs: int, spare: int, moves: bool, rival: bool) -> Any:
    """`Shape.sure`."""
    if not moves:
        return max(0, pairs - 1 - int(rival))
    return max(min(pairs, 1), pairs - (1 - spare) - int(rival))


@inner
def most_turns(tables: Any, code: int, score: int, mover: bool) -> Any:
    """`bounds.most_turns`; `code` is the number of what is flipped."""
    head, place = tables[0], integer_at(tables, START, code) + score
    known = head[TURNS] + int(mover) * head[PLACES] + place
    if tables[2][known]:
        return np.int64(tables[2][known]) - 1
    values, copies, target = head[VALUES], head[COPIES], head[TARGET]
    left, rest = target - 1 - score, target - 1 - (integer_at(tables, POINTS, code) - score)
    sums = np.zeros(values * copies + 1, np.int64)
    tiles = 0
    for value in range(1, values + 1):
        for _ in range(copies - integer_at(tables, FLIPPED, code * values + value - 1)):
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
def chance_to_last(tables: Any, code: int, seen: int, flips: int, spared: int) -> Any:
    """`bounds.chance_to_last`; `seen` is the value of the seen tile, 0: none."""
    head = tables[0]
    values, copies, target = head[VALUES], head[COPIES], head[TARGET]
    column = values + 1 if spared else seen
    known = head[CHANCE] + (code * (values + 2) + column) * MOST_FLIPS + flips
    if tables[1][known]:
        return tables[1][known] - 1.0
    bag = np.empty(values, np.int64)
    tiles = 0
    for value in range(1, values + 1):
        bag[value - 1] = copies - integer_at(tables, FLIPPED, code * values + value - 1) - int(seen == value)
        tiles += bag[value - 1]
    shown = min(flips + spared, tiles)
    room = 2 * (target - 1) - integer_at(tables, POINTS, code)
    all_ways = tables[1][head[WAYS] + tiles * MOST_FLIPS + shown]
    chance = _ways(tables, bag, seen, shown, flips, room) / all_ways
    tables[1][known] = chance + 1.0
    return chance


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
        weights[depth] = weights[depth - 1] * tables[1][tables[0][WAYS] + bag[value - 1] * MOST_FLIPS + count]
    return total
