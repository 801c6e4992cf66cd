"""What compiled code looks up to bound flip's positions, shared by all who play by the same rules."""

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.games.flip.abstraction import MOST_NEAR, Abstraction
from duels.games.flip.fill import SCALE, Columns
from duels.games.flip.rules import QuantumTiles, neighbours
from duels.games.flip.table import Table

Ints = NDArray[np.int64]

MOST_FLIPS = 26
"""More than can be asked for in `chance_to_last`."""

HEAD = (*("side", "values", "copies", "target", "tiles", "pairs", "top"), *("high", "low", "places"))
PARTS = (
    *("number", "start", "points", "flipped", "unit", "none", "mine", "theirs", "near", "pair"),
    *("rows", "asked"),
    *("value", "ways", "chance", "found"),
    *("upper", "lower", "turns"),
)

MINE, THEIRS, SEEN, WITHOUT, FLIP, TAKE, ROW = range(7)
"""What the part `rows` tells of each: whether the mover and the other have a Quantum Flip, the value of the
seen tile, the row without the mover's, and those that a flip and the seen tile leave. From ROW on, what a
Quantum Flip leaves: of two unknown tiles, by the value that is left, and of one with the seen tile.
"""
REMEMBERED = 1 << 16  # answers to `value_until` that are kept, the latest of those that share a place


class BoundTables:
    """Values of all abstract states, pairs of neighbours among all sets of tiles, and what was worked out."""

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        self.table = table
        abstraction, places = table.abstraction, table.places
        side, codes = rules.side, len(places.flipped)
        self.pairs = neighbours(side)
        top = min(side, side // 2 + 1) * side
        numbers = np.zeros(max(places.flipped) + places.unit[-1] + 1, np.int64)
        numbers[list(places.flipped)] = np.arange(codes)
        start, values = _dense(abstraction, table, numbers)
        none, mine, theirs = _rows(abstraction)
        parts: dict[str, NDArray[Any]] = {
            "number": numbers,
            "start": start,
            "points": np.array([places.points[code] for code in places.flipped]),
            "flipped": np.array([places.flipped[code] for code in places.flipped]),
            "unit": np.array(places.unit),
            "none": none,
            "mine": mine,
            "theirs": theirs,
            "near": _near(side),
            "pair": np.array(self.pairs, np.int64),
            "rows": _after_rows(abstraction),
            "asked": np.zeros(REMEMBERED, np.int64),
            "value": values,
            "ways": np.array([[comb(n, k) for k in range(MOST_FLIPS)] for n in range(MOST_FLIPS)], float),
            "chance": np.zeros((codes, rules.values + 2, MOST_FLIPS)),  # plus 1 once it has been worked out
            "found": np.zeros(REMEMBERED),
            "upper": _most_pairs(top, side),
            "lower": _most_pairs(side**2 - top, side),
            "turns": np.zeros((2, values.shape[1]), np.int8),  # likewise
        }
        high, low = abstraction.index["high", ()], abstraction.index["low", ()]
        head = [side, rules.values, rules.copies, rules.target, side**2, len(self.pairs), top, high, low]
        head += [values.shape[1], *(0 for _ in PARTS)]
        kinds: dict[Any, list[NDArray[Any]]] = {
            np.int64: [np.zeros(len(head), np.int64)],
            np.float64: [],
            np.int8: [],
        }
        for place, name in enumerate(PARTS):
            part = parts[name]
            kind = kinds[part.dtype.type]
            head[len(HEAD) + place] = sum(map(len, kind))
            kind.append(part.ravel())
        kinds[np.int64][0][:] = head
        self.arrays = tuple(np.concatenate(kind) for kind in kinds.values())
        """Whole numbers, that begin with HEAD and where PARTS begin; values and chances; small numbers."""


def _dense(abstraction: Abstraction, table: Table, numbers: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """[number of what is flipped] where its scores begin; [row, place] values, odd layers filled in."""
    places, rows = abstraction.places, abstraction.stored_rows
    stored = np.frombuffer(table.numbers, np.uint16).reshape(rows, -1)
    start = np.zeros(len(places.flipped), np.int64)
    parts, size = [], 0
    later, after = Columns(abstraction, []), np.zeros((rows, 1))
    for layer, codes in places.layers():
        now = Columns(abstraction, codes)
        if layer % 2 == 0:
            first = places.start[codes[0]] + int(now.score[0])
            after = stored[:, first : first + len(now.score)] / SCALE
        else:
            after = now.values(later, after)
        later = now
        start[numbers[codes]] = now.start[codes] + size
        parts.append(after)
        size += len(now.score)
    return start, np.concatenate(parts, axis=1)


def _rows(abstraction: Abstraction) -> tuple[Ints, Ints, Ints]:
    """[value, value] rows of no Quantum Flips, 0: no tile; [value, near] of the mover's, of the other's."""
    faces = range(abstraction.values + 1)
    none = [[abstraction.none(tuple(v for v in (a, b) if v)) for b in faces] for a in faces]
    one = [
        [[abstraction.index[kind, (s, near if s else 0)] for near in range(MOST_NEAR + 1)] for s in faces]
        for kind in ("mine", "theirs")
    ]
    return np.array(none, np.int64), np.array(one[0], np.int64), np.array(one[1], np.int64)


def _after_rows(abstraction: Abstraction) -> Ints:
    """[row, what is told of it], where it is stored and somebody has a Quantum Flip."""
    values = abstraction.values
    told = np.full((len(abstraction.rows), ROW + 2 * values), -1, np.int64)
    for number, row in enumerate(abstraction.rows[: abstraction.stored_rows]):
        mine, theirs = (abstraction.held(number, mover) for mover in (True, False))
        told[number, :SEEN] = mine, theirs
        if mine or theirs:
            (seen, after), *_ = row.take or ((0, -1),)
            without = abstraction.without(number, True) if mine else -1
            told[number, SEEN:ROW] = seen, without, row.flip, after
            for place, rows in ((ROW, row.double), (ROW + values, row.mixed)):
                told[number, place : place + len(rows)] = rows
    return told


def _near(side: int) -> Ints:
    """[tile] its neighbours, as bits."""
    near = np.zeros(side**2, np.int64)
    for a, b in neighbours(side):
        near[a] |= 1 << b
        near[b] |= 1 << a
    return near


def _most_pairs(tiles: int, side: int) -> NDArray[np.int8]:
    """[set of the first tiles of a board] the most disjoint pairs of neighbours among them."""
    most = np.zeros(1 << tiles, np.int8)
    for top in range(tiles):  # the highest tile of the sets
        sets = np.arange(1 << top)
        found = most[sets].copy()
        if top % side:
            there = sets >> (top - 1) & 1
            found = np.maximum(found, there * (1 + most[sets & ~(1 << (top - 1))]))
        if top >= side:
            there = sets >> (top - side) & 1
            found = np.maximum(found, there * (1 + most[sets & ~(1 << (top - side))]))
        most[sets | 1 << top] = found
    return most


@lru_cache(maxsize=8)
def bound_tables(rules: QuantumTiles) -> BoundTables:
    """The tables of `rules`, built once a process."""
    return BoundTables(rules, Table.of(rules))
