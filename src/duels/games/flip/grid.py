"""Pairs of neighbours on a square board. Sets of tiles are bits of an integer.

What takes a `Grid` is in the subset of Python that Numba compiles, but for `list_tiles`.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from duels.games.flip.rules import neighbours


class Grid(NamedTuple):
    """The neighbourhoods of a square board."""

    side: int
    dark: int
    """The dark tiles of a chessboard. Every pair of neighbours is a dark and a light tile."""
    inner: Any
    """[direction] the tiles with a neighbour there: right, left, below, above."""
    near: Any
    """[tile] its neighbours."""
    pairs: Any
    """Every two neighbours."""


class Shape(NamedTuple):
    """What bounds need to know of a board with a Quantum Flip left."""

    pairs: int
    """The most disjoint pairs of neighbours among the unknown tiles."""
    spare: int
    """Whether these leave a tile over."""
    near: int = 0
    """How many unknown tiles lie beside the seen one; the rest tells the same of the tiles that do not."""
    far_pairs: int = 0
    far_spare: int = 0


@lru_cache
def make_grid(side: int) -> Grid:
    """Return the neighbourhoods of a board with so many tiles on a side."""
    near, inner, dark = [0] * side**2, [0] * 4, 0
    for a, b in neighbours(side):
        near[a] |= 1 << b
        near[b] |= 1 << a
        first = 0 if b == a + 1 else 2
        inner[first] |= 1 << a
        inner[first + 1] |= 1 << b
    for tile in range(side**2):
        dark |= (sum(divmod(tile, side)) % 2 == 0) << tile
    return Grid(side, dark, tuple(inner), tuple(near), neighbours(side))


def list_tiles(tiles: int) -> list[int]:
    """Return the tiles of a set."""
    return [tile for tile in range(tiles.bit_length()) if tiles >> tile & 1]


def shift(grid: Grid, tiles: int, to: int) -> int:
    """Return the neighbours of `tiles` in one direction; `to ^ 1` is the way back."""
    by = 1 if to < 2 else grid.side
    tiles &= grid.inner[to]
    return tiles >> by if to & 1 else tiles << by


def most_pairs(grid: Grid, tiles: int) -> int:
    """Return the most disjoint pairs of neighbours among `tiles`: a maximum matching, by augmenting paths."""
    dark, light = tiles & grid.dark, tiles & ~grid.dark  # the tiles without a partner
    count = dark.bit_count()
    paired = [0, 0, 0, 0]  # the other dark tiles, by the direction of their partner
    for to in range(4):
        paired[to] = dark & shift(grid, light, to ^ 1)
        dark ^= paired[to]
        light ^= shift(grid, paired[to], to)
    while dark and light:
        layers = find_path(grid, tiles, light, dark, paired)
        if not layers[-1]:
            break
        tile, owner = layers[-1] & -layers[-1], 0
        light ^= tile
        # From the end of the path back, pair each dark tile with the light one that it reached.
        for depth in range(len(layers) - 2, -1, -1):
            back = 0
            for to in range(4):
                if shift(grid, tile, to) & layers[depth]:
                    back = to
            owner = shift(grid, tile, back)
            for to in range(4):
                if paired[to] & owner:
                    paired[to] ^= owner
                    tile = shift(grid, owner, to)
            paired[back ^ 1] |= owner
        dark ^= owner
    return count - dark.bit_count()


def find_path(grid: Grid, tiles: int, light: int, dark: int, paired: list[int]) -> list[int]:
    """Return the layers of dark tiles on alternating paths, then the light tiles where a path ends, or 0."""
    layers, met = [dark], 0
    while True:
        reached, partners = 0, 0
        for to in range(4):
            reached |= shift(grid, layers[-1], to)
        reached &= tiles & ~met
        if reached & light or not reached:
            layers.append(reached & light)
            return layers
        met |= reached
        for to in range(4):
            partners |= shift(grid, reached, to ^ 1) & paired[to]
        layers.append(partners)


def find_shape(grid: Grid, unknown: int, pairs: int, seen: int) -> Shape:
    """Return the shape of a board with so many pairs among its unknown tiles; `seen` is -1 for no tile."""
    count = unknown.bit_count()
    near = grid.near[seen] & unknown if seen >= 0 else 0
    beside = near.bit_count()
    far = most_pairs(grid, unknown & ~near) if near else pairs
    return Shape(pairs, int(2 * pairs < count), beside, far, int(2 * far < count - beside))


def pack_shape(shape: Shape) -> int:
    """Return a number that no other shape has."""
    near = (shape.pairs * 2 + shape.spare) * 8 + shape.near
    return (near * 64 + shape.far_pairs) * 2 + shape.far_spare


def sure_turns(pairs: int, spare: int, moves: bool, rival: bool) -> int:
    """How many turns, counting this one if it is theirs, a holder is sure to find a pair.

    Fact 3 in `bounds.py`; `rival` is whether the opponent is a holder too.
    """
    if not moves:
        return max(0, pairs - 1 - int(rival))
    return max(min(pairs, 1), pairs - (1 - spare) - int(rival))
