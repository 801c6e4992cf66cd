"""Where compiled code finds what `BoundTables` hold.

Constants are NumPy's numbers: of Python's own, every single one makes a function of its own in compiled code.
"""

from typing import Any

import numpy as np

from duels.games.flip.kernels.tables import HEAD, PARTS
from duels.solving.compiling import inner

SIDE, VALUES, COPIES, TARGET, TILES, PAIRS, TOP, HIGH, LOW, PLACES = map(np.int64, range(len(HEAD)))
NUMBER, START, POINTS, FLIPPED, UNIT, NONE_ROW, MINE_ROW, THEIR_ROW, NEAR, PAIR, ROWS, ASKED = map(
    np.int64, range(len(HEAD), len(HEAD) + 12)
)
VALUE, WAYS, CHANCE, FOUND, UPPER, LOWER, TURNS = map(np.int64, range(len(HEAD) + 12, len(HEAD) + len(PARTS)))
ZERO, NOWHERE = np.int64(0), np.int64(-1)
YES, NO = np.bool_(True), np.bool_(False)


@inner
def integer_at(tables: Any, part: int, place: int) -> Any:
    """A number of one of the first array's parts."""
    return tables[0][tables[0][part] + place]


@inner
def value_at(tables: Any, row: int, place: int) -> Any:
    """The value of an abstract state."""
    return tables[1][tables[0][VALUE] + row * tables[0][PLACES] + place]


@inner
def small_at(tables: Any, part: int, place: int) -> Any:
    """A number of one of the last array's parts."""
    return np.int64(tables[2][tables[0][part] + place])


@inner
def none_row(tables: Any, one: int, two: int) -> Any:
    """The row of no Quantum Flips, by the values of the seen tiles; 0: none."""
    return integer_at(tables, NONE_ROW, one * (tables[0][VALUES] + 1) + two)


@inner
def flipped_too(tables: Any, code: int, value: int) -> Any:
    """The number of what is flipped, with one more tile."""
    values, raw = tables[0][VALUES], integer_at(tables, UNIT, value - 1)
    for v in range(values):
        raw += integer_at(tables, UNIT, v) * integer_at(tables, FLIPPED, code * values + v)
    return integer_at(tables, NUMBER, raw)
