"""Pairs of neighbours on a square board. Sets of tiles are bit masks.

Functions that take a `Grid` use the subset of Python that Numba compiles.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from duels.games.flip.rules import list_neighbours


class Grid(NamedTuple):
    """The neighbourhoods of a square board."""

    side: int
    dark: int
    """The dark tiles of a chessboard pattern. Neighbours have different colours."""
    inner: Any
    """For each direction (right, left, down, up), the tiles that have a neighbour there."""
    neighbours: Any
    """The neighbours of each tile."""
    pairs: Any
    """Every pair of neighbours."""


class Shape(NamedTuple):
    """The properties of a board that decide whether a Quantum Flip stays possible."""

    pairs: int
    """The maximum number of disjoint pairs of neighbours among the unknown tiles."""
    spare: int
    """1 if these pairs do not cover all unknown tiles, else 0."""
    near: int = 0
    """The number of unknown neighbours of the seen tile."""
    far_pairs: int = 0
    far_spare: int = 0
    """`pairs` and `spare` of the unknown tiles that are not neighbours of the seen tile."""


@lru_cache
def make_grid(side: int) -> Grid:
    """Return the neighbourhoods of a board of `side` by `side` tiles."""
    neighbours, inner, dark = [0] * side**2, [0] * 4, 0
    for a, b in list_neighbours(side):
        neighbours[a] |= 1 << b
        neighbours[b] |= 1 << a
        direction = 0 if b == a + 1 else 2
        inner[direction] |= 1 << a
        inner[direction + 1] |= 1 << b
    for tile in range(side**2):
        dark |= (sum(divmod(tile, side)) % 2 == 0) << tile
    return Grid(side, dark, tuple(inner), tuple(neighbours), list_neighbours(side))


@lru_cache
def list_symmetries(side: int) -> list[list[int]]:
    """Return the rotations and reflections of a board: for each, the new place of every tile."""
    board: list[Iterable[int]] = [range(row * side, row * side + side) for row in range(side)]
    symmetries = []
    for _ in range(4):
        board = list(zip(*reversed(board), strict=True))
        symmetries += [list(chain(*board)), list(chain(*reversed(board)))]
    return symmetries


@lru_cache(maxsize=1 << 16)
def find_smallest_symmetric(side: int, unknown: int, seen: int) -> tuple[int, int]:
    """Return the unknown tiles and the seen tile (or -1) of the smallest among all symmetric boards."""
    return min(
        (sum(1 << places[tile] for tile in list_tiles(unknown)), seen if seen < 0 else places[seen])
        for places in list_symmetries(side)
    )


def list_tiles(tiles: int) -> list[int]:
    """Return the tiles in a bit mask, in reading order."""
    return [tile for tile in range(tiles.bit_length()) if tiles >> tile & 1]


def shift(grid: Grid, tiles: int, direction: int) -> int:
    """Return the neighbours of `tiles` in a direction. `direction ^ 1` is the opposite one."""
    step = 1 if direction < 2 else grid.side
    tiles &= grid.inner[direction]
    return tiles >> step if direction & 1 else tiles << step


def count_max_pairs(grid: Grid, tiles: int) -> int:
    """Return the size of a maximum matching of neighbours among `tiles`, by augmenting paths."""
    dark, light = tiles & grid.dark, tiles & ~grid.dark  # tiles without a partner
    count = dark.bit_count()
    paired = [0, 0, 0, 0]  # matched dark tiles by the direction of their partner
    for direction in range(4):
        paired[direction] = dark & shift(grid, light, direction ^ 1)
        dark ^= paired[direction]
        light ^= shift(grid, paired[direction], direction)
    while dark and light:
        layers = find_path(grid, tiles, light, dark, paired)
        if not layers[-1]:
            break
        tile, owner = layers[-1] & -layers[-1], 0
        light ^= tile
        # Walk back along the path and pair each dark tile with the light tile that it reached.
        for depth in range(len(layers) - 2, -1, -1):
            back_direction = 0
            for direction in range(4):
                if shift(grid, tile, direction) & layers[depth]:
                    back_direction = direction
            owner = shift(grid, tile, back_direction)
            for direction in range(4):
                if paired[direction] & owner:
                    paired[direction] ^= owner
                    tile = shift(grid, owner, direction)
            paired[back_direction ^ 1] |= owner
        dark ^= owner
    return count - dark.bit_count()


def find_path(grid: Grid, tiles: int, light: int, dark: int, paired: list[int]) -> list[int]:
    """Return the layers of dark tiles on alternating paths, then the free light tiles reached, or 0."""
    layers, visited = [dark], 0
    while True:
        reached, partners = 0, 0
        for direction in range(4):
            reached |= shift(grid, layers[-1], direction)
        reached &= tiles & ~visited
        if reached & light or not reached:
            layers.append(reached & light)
            return layers
        visited |= reached
        for direction in range(4):
            partners |= shift(grid, reached, direction ^ 1) & paired[direction]
        layers.append(partners)


def find_shape(grid: Grid, unknown: int, pairs: int, seen: int) -> Shape:
    """Return the shape of a board, given its number of pairs. `seen` is the seen tile, or -1."""
    count = unknown.bit_count()
    near = grid.neighbours[seen] & unknown if seen >= 0 else 0
    near_count = near.bit_count()
    far_pairs = count_max_pairs(grid, unknown & ~near) if near else pairs
    far_spare = int(2 * far_pairs < count - near_count)
    return Shape(pairs, int(2 * pairs < count), near_count, far_pairs, far_spare)


def pack_shape(shape: Shape) -> int:
    """Return a unique number for a shape."""
    near = (shape.pairs * 2 + shape.spare) * 8 + shape.near
    return (near * 64 + shape.far_pairs) * 2 + shape.far_spare


def count_sure_turns(pairs: int, spare: int, holder_moves: bool, has_rival: bool) -> int:
    """Return for how many turns the holder of a Quantum Flip surely finds a pair (fact 3 in `bounds.py`).

    If the holder is to move, this turn counts. A rival is an opponent who has a Quantum Flip too.
    """
    if not holder_moves:
        return max(0, pairs - 1 - int(has_rival))
    return max(min(pairs, 1), pairs - (1 - spare) - int(has_rival))
