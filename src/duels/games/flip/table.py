"""The solved table of flip's abstraction: shipped, cached, or computed layer by layer.

A layer consists of the states with the same number of flipped tiles. With NumPy, a layer takes a few array
operations. Without it, the states are solved one by one. Lookups need only the standard library.
"""

from array import array
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from duels.games.flip.abstraction import SCALE, Abstraction, Row, evaluate_turn
from duels.games.flip.rules import QuantumTiles
from duels.games.flip.values import MOVER, NEVER, compute_value, make_tables
from duels.solving.oracle import Progress, no_progress
from duels.solving.store import ShippedTable, load_or_build, make_cache_key, pack_shorts, unpack_shorts

SHIPPED = Path(__file__).with_name("table.bin")
DIGEST = "94ecd52f38f15cb607ceab7da902863092cdf2ce971ea09141390cf19b3df647"
"""The SHA-256 digest of the unpacked table."""
# A change of these files invalidates cached tables.
_SOURCES = [Path(__file__).with_name(f"{name}.py") for name in ("rules", "abstraction", "values", "table")]


def format_header(abstraction: Abstraction) -> str:
    """Return the header of the table's file. A change of the format needs a new header."""
    values, copies, target = abstraction.values, abstraction.copies, abstraction.target
    return f"flip, {copies} tiles each of 1 to {values}, target {target}, layout 1"


class Table:
    """The mover's value in every abstract state, within ROUNDING."""

    def __init__(self, abstraction: Abstraction, stored_values: "array[int]") -> None:
        self.abstraction, self.stored_values = abstraction, stored_values

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

    layout, rows = abstraction.layout, abstraction.stored_rows
    last_layer = max(layout.layers.values())
    stored = np.zeros((rows, layout.row_size), np.uint16)
    next_layer, next_values = Columns(abstraction, []), np.zeros((rows, 1))
    for layer, codes in layout.iter_layers():
        columns = Columns(abstraction, codes)
        next_values, next_layer = columns.values(next_layer, next_values), columns
        if layer % 2 == 0:
            start = layout.starts[codes[0]] + int(columns.score[0])
            stored[:, start : start + len(columns.score)] = np.rint(next_values * SCALE)
        progress(f"solving flip, {1 - layer / last_layer:.0%}")
    return array("H", stored.tobytes())


class Columns:
    """The states of a layer as one array, which has the abstraction's rows.

    Each column stands for one code and one score of the mover.
    """

    def __init__(self, abstraction: Abstraction, codes: list[int]) -> None:
        import numpy as np

        self.abstraction = abstraction
        layout, target = abstraction.layout, abstraction.target
        points = np.array([layout.points[code] for code in codes], np.int64)
        spans = [layout.find_score_range(layout.points[code], target) for code in codes]
        low, high = np.array(spans, np.int64).reshape(-1, 2).T
        width = high - low + 1
        begin = np.cumsum(width) - width
        self.starts = np.zeros(max(layout.flipped) + layout.units[-1] + 1, np.int64)  # as Layout.starts
        self.starts[codes] = begin - low
        self.code = np.repeat(np.array(codes, np.int64), width)
        self.score = np.arange(len(self.code)) - np.repeat(begin - low, width)
        self.other = np.repeat(points, width) - self.score
        self.flipped = np.array([layout.flipped[code] for code in codes]).T.repeat(width, axis=-1)

    def value_leaves(self, next_layer: "Columns", next_values: Any, win_value: float) -> list[Any]:
        """Return a player's values after the mover scores a value, indexed [value - 1][next row, column].

        `next_values` has the player's values in the states of `next_layer`. `win_value` is the player's value
        if the mover wins at once.
        """
        import numpy as np

        abstraction = self.abstraction
        values = []
        for v, unit in enumerate(abstraction.layout.units, 1):
            score = self.score + v
            continues = score < abstraction.target
            # A state that does not exist has weight 0, so any column will do.
            column = np.where(continues, next_layer.starts[self.code + unit] + self.other, 0)
            gain = next_values.take(column, axis=1, mode="clip")
            gain[:, ~continues] = 1 - win_value
            gain[:, score == abstraction.target] = win_value
            values.append(gain)
        return values

    def bag(self, row: Row) -> list[Any]:
        """Return the numbers of unknown tiles, indexed [value - 1]. Impossible states have negative ones."""
        return [
            self.abstraction.copies - flipped - row.seen.count(v) for v, flipped in enumerate(self.flipped, 1)
        ]

    def values(self, next_layer: "Columns", next_values: Any) -> Any:
        """Compute the values of these states from `next_values`, the values of `next_layer`."""
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
    solved = array("d", bytes(8 * abstraction.stored_rows * abstraction.layout.row_size))
    tables = make_tables(abstraction, solved, 1)
    for count, (row, code, score, index) in enumerate(abstraction.iter_stored_states()):
        solved[index] = SCALE * compute_value(tables, row, code, score, NEVER, MOVER)
        if count % 10_000 == 0:
            progress(f"solving flip, {count / len(solved):.0%}")
    return array("H", map(round, solved))
