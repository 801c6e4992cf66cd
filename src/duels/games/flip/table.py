"""The solved table of flip's abstraction: shipped, cached, or computed layer by layer.

A layer has the states with the same number of flipped tiles. With NumPy, a layer is a few array operations;
without it, the same backups run state by state. Lookups need only the standard library.
"""

from array import array
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from duels.games.flip.abstraction import Abstraction, Places, Row, evaluate_turn
from duels.games.flip.rules import QuantumTiles
from duels.solving.progress import Progress, no_progress
from duels.solving.store import ShippedTable, load_or_build, make_cache_key, pack_shorts, unpack_shorts

SHIPPED = Path(__file__).with_name("table.bin")
DIGEST = "94ecd52f38f15cb607ceab7da902863092cdf2ce971ea09141390cf19b3df647"
"""The SHA-256 digest of the unpacked table."""
# A change of these files invalidates cached tables.
_SOURCES = [Path(__file__).with_name(f"{name}.py") for name in ("rules", "abstraction", "table")]
SCALE = 65535  # values are stored in sixteen bits
ROUNDING = 0.5 / SCALE
"""The largest difference between a stored value and the solved one. A backup does not increase it."""


def format_header(abstraction: Abstraction) -> str:
    """Return the header of a file with this table. Another layout needs another header."""
    values, copies, target = abstraction.values, abstraction.copies, abstraction.target
    return f"flip, {copies} tiles each of 1 to {values}, target {target}, layout 1"


class Table:
    """The value of every abstract state to its mover, within ROUNDING."""

    def __init__(self, abstraction: Abstraction, numbers: "array[int]") -> None:
        self.abstraction, self.numbers = abstraction, numbers

    @classmethod
    def of(cls, rules: QuantumTiles, progress: Progress = no_progress) -> "Table":
        """Return the table for these rules: shipped, cached, or solved now."""
        abstraction = Abstraction(rules)
        header = format_header(abstraction)
        stored = load_or_build(
            f"{header}, made by {make_cache_key(header, _SOURCES)}",
            f"flip-{abstraction.values}x{abstraction.copies}-{abstraction.target}.bin",
            lambda: pack_shorts(solve(abstraction, progress)),
            ShippedTable(SHIPPED, header, DIGEST) if rules == QuantumTiles() else None,
        )
        return cls(abstraction, unpack_shorts(stored))


def solve(abstraction: Abstraction, progress: Progress = no_progress) -> "array[int]":
    """Solve the table, with NumPy if it is installed. Return the values row by row."""
    if find_spec("numpy"):
        return solve_with_numpy(abstraction, progress)
    return solve_in_python(abstraction, progress)


def solve_with_numpy(abstraction: Abstraction, progress: Progress = no_progress) -> "array[int]":
    """Solve the table with NumPy, layer by layer."""
    import numpy as np

    places, rows = abstraction.places, abstraction.stored_rows
    stored = np.zeros((rows, places.size), np.uint16)
    next_layer, next_values = Columns(abstraction, []), np.zeros((rows, 1))
    for layer, codes in places.iter_layers():
        columns = Columns(abstraction, codes)
        next_values, next_layer = columns.values(next_layer, next_values), columns
        if layer % 2 == 0:
            start = places.start[codes[0]] + int(columns.score[0])
            stored[:, start : start + len(columns.score)] = np.rint(next_values * SCALE)
        progress(_format_progress(layer, places))
    return array("H", stored.tobytes())


class Columns:
    """The states of a layer as one array: rows of the abstraction by columns of (code, mover's score)."""

    def __init__(self, abstraction: Abstraction, codes: list[int]) -> None:
        import numpy as np

        self.abstraction = abstraction
        places, target = abstraction.places, abstraction.target
        points = np.array([places.points[code] for code in codes], np.int64)
        spans = [places.find_score_range(places.points[code], target) for code in codes]
        low, high = np.array(spans, np.int64).reshape(-1, 2).T
        width = high - low + 1
        begin = np.cumsum(width) - width
        self.start = np.zeros(max(places.flipped) + places.unit[-1] + 1, np.int64)  # as Places.start
        self.start[codes] = begin - low
        self.code = np.repeat(np.array(codes, np.int64), width)
        self.score = np.arange(len(self.code)) - np.repeat(begin - low, width)
        self.other = np.repeat(points, width) - self.score
        self.flipped = np.array([places.flipped[code] for code in codes]).T.repeat(width, axis=-1)

    def value_leaves(self, next_layer: "Columns", next_values: Any, won: float) -> list[Any]:
        """Return a player's values after the mover scores a value, indexed [value - 1][row left, column].

        `next_values` has the player's values in the states of `next_layer`. `won` is the player's value if
        the mover wins at once.
        """
        import numpy as np

        abstraction = self.abstraction
        values = []
        for v, unit in enumerate(abstraction.places.unit, 1):
            score = self.score + v
            continues = score < abstraction.target
            # A state that does not exist has weight 0, so any column will do.
            column = np.where(continues, next_layer.start[self.code + unit] + self.other, 0)
            gain = next_values.take(column, axis=1, mode="clip")
            gain[:, ~continues] = 1 - won
            gain[:, score == abstraction.target] = won
            values.append(gain)
        return values

    def bag(self, row: Row) -> list[Any]:
        """Return the numbers of unknown tiles, indexed [value - 1]; negative if a state does not exist."""
        return [
            self.abstraction.copies - flipped - row.seen.count(v) for v, flipped in enumerate(self.flipped, 1)
        ]

    def values(self, next_layer: "Columns", next_values: Any) -> Any:
        """Back up the values of these states from `next_values`, the values in the states of `next_layer`."""
        import numpy as np

        own_values = [1 - other for other in self.value_leaves(next_layer, next_values, 0)]
        values = np.zeros((len(next_values), len(self.code)))
        for i, row in enumerate(self.abstraction.rows[: len(next_values)]):
            leaves, terms = self.abstraction.turns[i]
            bag, gains = self.bag(row), [own_values[v - 1][next_row] for v, next_row in leaves]
            value = evaluate_turn(terms, bag, gains, np.maximum)
            values[i] = np.where(np.min(bag, axis=0) >= 0, value, 0)
        return values


def solve_in_python(abstraction: Abstraction, progress: Progress = no_progress) -> "array[int]":
    """Solve the table state by state, in plain Python."""
    places, target = abstraction.places, abstraction.target
    stored = array("H", bytes(2 * abstraction.stored_rows * places.size))
    next_values: dict[tuple[int, int], dict[int, float]] = {}

    def gain(code: int, score: int, v: int, next_row: int) -> float:
        if score + v >= target:
            return float(score + v == target)
        # Impossible outcomes have weight 0.
        line = next_values.get((next_row, code + places.unit[v - 1]), {})
        return 1 - line.get(places.points[code] - score, 0.0)

    for layer, codes in places.iter_layers():
        layer_values: dict[tuple[int, int], dict[int, float]] = {}
        for (i, row), code in product(enumerate(abstraction.rows[: abstraction.stored_rows]), codes):
            bag = [abstraction.copies - f - row.seen.count(v) for v, f in enumerate(places.flipped[code], 1)]
            if min(bag) < 0:
                continue
            leaves, terms = abstraction.turns[i]
            low, high = places.find_score_range(places.points[code], target)
            score_values = layer_values[i, code] = {
                score: evaluate_turn(terms, bag, [gain(code, score, *leaf) for leaf in leaves], max)
                for score in range(low, high + 1)
            }
            if layer % 2 == 0:
                for score, value in score_values.items():
                    stored[i * places.size + places.start[code] + score] = round(value * SCALE)
        next_values = layer_values
        progress(_format_progress(layer, places))
    return stored


def _format_progress(layer: int, places: Places) -> str:
    return f"solving flip, {1 - layer / max(places.layer.values()):.0%}"
