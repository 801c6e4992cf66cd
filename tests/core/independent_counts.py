"""The games' sizes counted a second time, from the rule books alone: nothing of `duels` is used here.

Positions are bit masks and bare tuples, told from the side of the player to move (`me`, `you`), and
lines are counted from the far end. A game is its first position and a function from a position to the
list of those that may follow; what counts as one position is said in `docs/counts.md`.
"""

from collections.abc import Callable, Hashable
from functools import cache
from itertools import product
from typing import TypeVar

P = TypeVar("P", bound=Hashable)
Game = tuple[P, Callable[[P], list[P]]]


def count_positions(game: Game[P]) -> tuple[int, int]:
    """Return the number of reachable positions, and of those in which the game is over."""
    first, following = game
    visited, stack, over = {first}, [first], 0
    while stack:
        after = following(stack.pop())
        over += not after
        fresh = set(after) - visited
        visited |= fresh
        stack.extend(fresh)
    return len(visited), over


def count_lines(game: Game[P], length: int) -> tuple[int, ...]:
    """Return the numbers of lines of 1, 2, … `length` entries."""
    first, following = game
    following = cache(following)

    @cache
    def lines_from(position: P, entries: int) -> int:
        after = following(position)
        return len(after) if entries == 1 else sum(lines_from(p, entries - 1) for p in after)

    return tuple(lines_from(first, entries) for entries in range(1, length + 1))


def lights(lights: int = 7) -> Game[tuple[int, int]]:
    """(lights still on as bits, player)."""
    groups = [1 << i for i in range(lights)] + [3 << i for i in range(lights - 1)]

    def following(position: tuple[int, int]) -> list[tuple[int, int]]:
        on, player = position
        return [(on ^ group, 1 - player) for group in groups if on & group == group]

    return (2**lights - 1, 0), following


def leap(goal: int = 21) -> Game[tuple[int, int, int]]:
    """(my cell, your cell, player); 0 is off the grid."""
    leaps: dict[int, list[int]] = {cell: [] for cell in range(goal + 1)}
    for step, times in product(range(1, goal + 1), repeat=2):
        if step * times + step <= goal:
            leaps[step * times].append(step)

    def following(position: tuple[int, int, int]) -> list[tuple[int, int, int]]:
        me, you, player = position
        if you == goal:
            return []
        return [(you, me + step, 1 - player) for step in (leaps[me] if me else [1])]

    return (0, 0, 0), following


def chain(cells: int = 7, run: int = 4, max_boards: int | None = None) -> Game[tuple[int, ...]]:
    """(my cells, your cells, the cell in doubt, coin in the air, player, boards used up).

    Masks; `me` is the observer until its turn is settled. Boards are counted where they are limited.
    """
    full = 2**cells - 1
    chains = [(2**run - 1) << i for i in range(cells - run + 1)]

    def following(position: tuple[int, ...]) -> list[tuple[int, ...]]:
        me, you, doubt, coin, player, boards = position

        def settled(my_score: int) -> tuple[int, ...]:
            if my_score | you == full and not has_chain(my_score):
                return 0, 0, 0, 0, 1 - player, boards + (max_boards is not None)
            return you, my_score, 0, 0, 1 - player, boards

        if has_chain(you) or boards == max_boards:
            return []
        if coin:
            return [settled(me | doubt), settled(me)]
        if doubt:
            return [(me, you, doubt, 1, player, boards), settled(me | doubt)]
        beside = me << 1 | me >> 1
        free = [1 << i for i in range(cells) if not (me | you) >> i & 1]
        return [(me, you, bit, 0, player, boards) if bit & beside else settled(me | bit) for bit in free]

    def has_chain(mask: int) -> bool:
        return any(mask & four == four for four in chains)

    return (0, 0, 0, 0, 0, 0), following


Token = tuple[int, int, int]  # cell (0: off the grid), tunnels left, cell named last (0: none)


def hunt(cells: int = 7, max_turns: int | None = None) -> Game[tuple[Token, Token, str, int, int]]:
    """(my token, your token, what is next, player, turns); turns are counted where they are limited."""
    grid = set(range(1, cells + 1))

    def following(
        position: tuple[Token, Token, str, int, int],
    ) -> list[tuple[Token, Token, str, int, int]]:
        (cell, tunnels, named), you, following, player, turns = position
        if following == "move":
            near = grid & {cell - 1, cell, cell + 1} if cell else grid
            walks = [((there, tunnels, named), you, "name", player, turns) for there in near]
            digs = [((there, tunnels - 1, named), you, "name", player, turns) for there in grid if tunnels]
            return walks + digs
        if following != "name":
            return []
        played = turns + (max_turns is not None)
        after = []
        for guess in grid - {named}:
            if cell == you[0]:
                ending = "collided"
            elif guess == you[0]:
                ending = "captured"
            else:
                ending = "cut off" if played == max_turns else "move"
            after.append((you, (cell, tunnels, guess), ending, 1 - player, played))
        return after

    return ((0, 1, 0), (0, 1, 0), "move", 0, 0), following


Tiles = tuple[tuple[int, int], ...]  # (tile, value), sorted
FlipPosition = tuple[Tiles, Tiles, tuple[int, int], tuple[int, int], int, tuple[int, ...], bool]


def _neighbouring_tiles(side: int) -> list[tuple[int, int]]:
    squares = list(product(range(side), repeat=2))
    number = {square: index for index, square in enumerate(squares)}
    return [
        (number[row, column], number[beside])
        for row, column in squares
        for beside in ((row, column + 1), (row + 1, column))
        if beside in number
    ]


def flip(side: int = 5, values: int = 5, copies: int = 5, target: int = 21) -> Game[FlipPosition]:
    """(tiles up, tiles down but shown, my and your points, double flips left, player, turning, choosing)."""
    edges = _neighbouring_tiles(side)

    def following(position: FlipPosition) -> list[FlipPosition]:
        up, revealed, (my_score, your_score), (my_double, your_double), player, turning, choosing = position
        if your_score >= target:
            return []
        value_of = dict(revealed)

        def scored(tile: int, value: int, double: int) -> FlipPosition:
            left = tuple(pair for pair in value_of.items() if pair[0] != tile)
            points, doubles = (your_score, my_score + value), (your_double, double)
            now_up = tuple(sorted((*up, (tile, value))))
            return now_up, tuple(sorted(left)), points, doubles, 1 - player, (), False

        def turned(tiles: tuple[int, ...], faces: tuple[int, ...]) -> FlipPosition:
            if len(tiles) == 1:
                return scored(tiles[0], faces[0], my_double)
            now_shown = tuple(sorted({**value_of, **dict(zip(tiles, faces, strict=True))}.items()))
            return up, now_shown, (my_score, your_score), (my_double, your_double), player, tiles, True

        if choosing:
            return [scored(tile, value_of[tile], my_double - 1) for tile in turning]
        if turning:
            face_values = [value for _, value in up + revealed]
            unseen = [tile for tile in turning if tile not in value_of]
            draws = [
                {**value_of, **dict(zip(unseen, drawn, strict=True))}
                for drawn in product(range(1, values + 1), repeat=len(unseen))
                if all((face_values + list(drawn)).count(value) <= copies for value in drawn)
            ]
            return [turned(turning, tuple(faces[tile] for tile in turning)) for faces in draws]
        down = set(range(side * side)) - {tile for tile, _ in up}
        choices: list[tuple[int, ...]] = [(tile,) for tile in down]
        if my_double:
            choices += [pair for pair in edges if down.issuperset(pair)]
        return [
            turned(tiles, tuple(value_of[tile] for tile in tiles))
            if value_of.keys() >= set(tiles)
            else (up, revealed, (my_score, your_score), (my_double, your_double), player, tiles, False)
            for tiles in choices
        ]

    return ((), (), (0, 0), (1, 1), 0, (), False), following
