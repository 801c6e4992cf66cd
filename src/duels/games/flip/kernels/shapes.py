"""The shape of a board, compiled: `bounds.Grid` once more."""

from typing import Any

from duels.games.flip.kernels.lookup import LOWER, NEAR, SIDE, TOP, UPPER, ZERO, integer_at, small_at
from duels.solving.compiling import inner

Shape = tuple[int, int, int, int, int]
"""As `bounds.Shape`: pairs, spare, near, far pairs, far spare."""
NO_SHAPE = (ZERO, ZERO, ZERO, ZERO, ZERO)


@inner
def find_shape(tables: Any, unknown: int, seen: int) -> Shape:
    """The shape of a board whose seen tile is `seen`; -1: none."""
    count, pairs = _count_tiles(unknown), _most_pairs(tables, unknown)
    if seen < 0:
        return pairs, int(2 * pairs < count), 0, 0, 0
    near = integer_at(tables, NEAR, seen) & unknown
    beside = _count_tiles(near)
    far = _most_pairs(tables, unknown & ~near) if near else pairs
    return pairs, int(2 * pairs < count), beside, far, int(2 * far < count - beside)


@inner
def _most_pairs(tables: Any, tiles: int) -> Any:
    """The most disjoint pairs of neighbours among `tiles`: some join the board's two parts."""
    side, top = tables[0][SIDE], tables[0][TOP]
    above, below = tiles & ((1 << top) - 1), tiles >> top
    joints = (above >> (top - side)) & below & ((1 << side) - 1)
    best = small_at(tables, UPPER, above) + small_at(tables, LOWER, below)
    most = _count_tiles(tiles) // 2
    joined = joints
    while joined and best < most:
        apart = small_at(tables, UPPER, above & ~(joined << (top - side))) + small_at(
            tables, LOWER, below & ~joined
        )
        best = max(best, apart + _count_tiles(joined))
        joined = (joined - 1) & joints
    return best


@inner
def _count_tiles(tiles: int) -> Any:
    """How many bits are set: compiled code has no `bit_count`."""
    found = 0
    while tiles:
        tiles &= tiles - 1
        found += 1
    return found


@inner
def kind_of(shapes: Any, kinds: int, shape: Any) -> int:
    """The number of this shape among the first `kinds`; `kinds` if it is new, and kept if there is room."""
    for kind in range(kinds):
        if (
            shapes[kind, 0] == shape[0]
            and shapes[kind, 1] == shape[1]
            and shapes[kind, 2] == shape[2]
            and shapes[kind, 3] == shape[3]
            and shapes[kind, 4] == shape[4]
        ):
            return kind
    if kinds < len(shapes):
        for k in range(5):
            shapes[kinds, k] = shape[k]
    return kinds
