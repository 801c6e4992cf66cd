"""Abstract values with the Quantum Flip lost after some turns, compiled: `Table.value_until` once more."""

from typing import Any

import numpy as np

from duels.games.flip.bounds import AFFORDABLE
from duels.games.flip.kernels.lookup import (
    ASKED,
    COPIES,
    FLIPPED,
    FOUND,
    PLACES,
    POINTS,
    ROWS,
    START,
    TARGET,
    VALUES,
    ZERO,
    flipped_too,
    integer_at,
    value_at,
)
from duels.games.flip.kernels.tables import FLIP, MINE, REMEMBERED, ROW, SEEN, TAKE, THEIRS, WITHOUT
from duels.solving.compiling import inner

_DEEPEST = 2 * AFFORDABLE  # turns of both until a Quantum Flip is lost that lasts fewer of its holder's
_SPREAD = np.int64(0x5851F42D4C957F2D)  # spreads keys over a memory


@inner
def value_until(tables: Any, row: int, code: int, score: int, turns: int, mover: bool) -> Any:
    """`Table.value_until`, without recursion as `chance_to_last`; `code` is the number of what is flipped."""
    head = tables[0]
    values, target = head[VALUES], head[TARGET]
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
        at, place = row * (ROW + 2 * values), integer_at(tables, START, code) + score
        key = ((row * head[PLACES] + place) * _DEEPEST + turns) * 2 + moves + 1
        slot = key * _SPREAD >> 20 & (REMEMBERED - 1)
        if leaf < 0:
            if moves and not turns:
                found = value_at(tables, integer_at(tables, ROWS, at + WITHOUT), place)
                depth -= 1
                continue
            if integer_at(tables, ASKED, slot) == key:
                found = tables[1][head[FOUND] + slot]
                depth -= 1
                continue
            seen = integer_at(tables, ROWS, at + SEEN)
            for v in range(values):
                bag[v] = head[COPIES] - integer_at(tables, FLIPPED, code * values + v) - int(seen == v + 1)
        else:
            worth[leaf] = 1 - found  # that of the turn that was looked into
        leaf += 1
        while leaf < leaves:
            value, left = _leaf(tables, row, bag, leaf)
            if value and score + value >= target:
                worth[leaf] = 1.0 if score + value == target else 0.0
            elif value:
                after = flipped_too(tables, code, value)
                other = integer_at(tables, POINTS, code) - score
                if integer_at(tables, ROWS, left * (ROW + 2 * values) + (THEIRS if moves else MINE)):
                    frames[depth, 5] = leaf
                    depth += 1
                    frames[depth, 0], frames[depth, 1], frames[depth, 2] = left, after, other
                    frames[depth, 3], frames[depth, 4], frames[depth, 5] = turns - moves, 1 - moves, -1
                    break
                worth[leaf] = 1 - value_at(tables, left, integer_at(tables, START, after) + other)
            leaf += 1
        if leaf == leaves:
            found = _best_leaf(tables, row, bag, worth)
            tables[0][head[ASKED] + slot], tables[1][head[FOUND] + slot] = key, found
            depth -= 1
    return found


@inner
def _leaf(tables: Any, row: int, bag: Any, leaf: int) -> Any:
    """What a turn in `row` can score, and the row that it leaves; 0 if it cannot.

    In this order: a flip by its value, the seen tile, a Quantum Flip of two unknown tiles by the value that
    is kept and the one that is left, one with the seen tile that keeps the other, one that keeps it.
    """
    values = tables[0][VALUES]
    at = row * (ROW + 2 * values)
    seen = integer_at(tables, ROWS, at + SEEN)
    double, mixed = at + ROW, at + ROW + values
    if leaf < values:
        return (leaf + 1 if bag[leaf] > 0 else ZERO), integer_at(tables, ROWS, at + FLIP)
    leaf -= values
    if leaf == 0:
        return seen, integer_at(tables, ROWS, at + TAKE)
    leaf -= 1
    if leaf < values * values:
        kept, left = leaf // values, leaf % values
        possible = bag[kept] > 0 and bag[left] > int(kept == left) and integer_at(tables, ROWS, double) >= 0
        return (kept + 1 if possible else ZERO), integer_at(tables, ROWS, double + left)
    leaf -= values * values
    unknown = leaf % values
    if not bag[unknown] or integer_at(tables, ROWS, mixed) < 0:
        return ZERO, ZERO
    if leaf < values:
        return unknown + 1, integer_at(tables, ROWS, mixed + seen - 1)
    return seen, integer_at(tables, ROWS, mixed + unknown)


@inner
def _best_leaf(tables: Any, row: int, bag: Any, worth: Any) -> Any:
    """`Abstraction.worth`, once every leaf is known."""
    values = tables[0][VALUES]
    at = row * (ROW + 2 * values)
    tiles = bag.sum()
    some, best = max(tiles, 1), 0.0
    for v in range(values):
        if bag[v]:
            best += bag[v] * worth[v]
    best /= some
    if integer_at(tables, ROWS, at + SEEN):
        best = max(best, worth[values])
    double, mixed = values + 1, values * (values + 1) + 1
    if integer_at(tables, ROWS, at + ROW) >= 0:
        total = 0.0
        for a in range(values):
            if bag[a] > 1:
                total += bag[a] * (bag[a] - 1) * worth[double + a * values + a]
            for b in range(a + 1, values):
                if bag[a] and bag[b]:
                    kept = max(worth[double + a * values + b], worth[double + b * values + a])
                    total += 2 * bag[a] * bag[b] * kept
        best = max(best, total / (some * max(tiles - 1, 1)))
    if integer_at(tables, ROWS, at + ROW + values) >= 0:
        total = 0.0
        for v in range(values):
            if bag[v]:
                total += bag[v] * max(worth[mixed + v], worth[mixed + values + v])
        best = max(best, total / some)
    return best
