"""A compiled version of flip's oracle, for thousands of queries. Needs the extra `fast`."""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from duels.games.flip import abstraction, bounds, grid, values
from duels.games.flip.bounds import Interval, Position
from duels.games.flip.oracle import FlipOracle
from duels.games.flip.rules import QuantumTiles, State
from duels.games.flip.table import Table
from duels.games.flip.values import SLOTS, Tables

MAX_SIDE = 5
"""The largest side for compiled code: memo keys of larger boards exceed 64 bits."""


def fits(rules: QuantumTiles) -> bool:
    """Return whether the compiled oracle supports these rules and numba is installed."""
    return find_spec("numba") is not None and rules.side <= MAX_SIDE


def make_oracle(rules: QuantumTiles) -> FlipOracle | None:
    """Return the compiled oracle, or None if it is not available."""
    return QuickOracle(rules, Table.of(rules)) if fits(rules) else None


class QuickOracle(FlipOracle):
    """The oracle with compiled functions, except for look-ahead."""

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        super().__init__(rules, table)
        import numpy as np

        self._arrays, self._compiled = make_arrays(self.tables), compile_bounds()
        self._intervals = np.empty((2, len(rules.all_actions())))

    def bound_actions(self, state: State) -> tuple[list[float], list[float], float, float]:
        import numpy as np

        faces, *rest = self._read_state(state)
        self._intervals.fill(-1)
        lows, highs = self._intervals
        interval = self._compiled["judge"](self._arrays, np.array(faces), *rest, lows, highs)
        return lows[lows >= 0].tolist(), highs[highs >= 0].tolist(), *interval


def make_arrays(tables: Tables) -> Tables:
    """Return the tables for compiled code."""
    import numpy as np

    def pad(rows: Any) -> Any:
        padded = np.zeros((len(rows), max(map(len, rows)), len(rows[0][0])), np.int64)
        for index, row in enumerate(rows):
            padded[index, : len(row)] = row
        return padded

    codes = np.full((max(tables.codes) + 1, len(tables.codes[0])), -1)
    codes[list(tables.codes)] = list(tables.codes.values())
    inner, neighbours, pairs = (np.array(part) for part in tables.grid[2:])
    return tables._replace(
        rows=np.array(tables.rows),
        nobody_rows=np.array(tables.nobody_rows),
        holder_rows=np.array(tables.holder_rows),
        leaves=pad(tables.leaves),
        terms=pad(tables.terms),
        codes=codes,
        stored_values=np.frombuffer(tables.stored_values, np.uint16),
        memo=np.full((SLOTS, 3), -1.0),
        look_ahead_cache=0,
        grid=tables.grid._replace(inner=inner, neighbours=neighbours, pairs=pairs),
    )


def list_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions to compile, by name."""
    functions: dict[str, Callable[..., Any]] = {
        name: function
        for module in (abstraction, grid, values, bounds)
        for name, function in vars(module).items()
        if isinstance(function, FunctionType)
    }
    return functions | {"remember": _remember, "narrow": _narrow}


def _remember(t: Tables, key: int, low: float, high: float) -> None:
    """Replace `remember` in compiled code: write to an array."""
    entry = t.memo[key % SLOTS]
    entry[0], entry[1], entry[2] = key, low, high


def _narrow(t: Tables, pos: Position, steps: int) -> Interval:
    """Replace `narrow` in compiled code, which never calls it."""
    return 0.0, 1.0


@lru_cache(maxsize=1)
def compile_bounds() -> dict[str, Any]:
    """Compile the functions. Python can call `judge`."""
    from duels.solving.compiling import compile_functions

    return compile_functions(list_functions(), ("judge",))
