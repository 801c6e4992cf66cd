"""Quantum Flip for one game at a time: a second form of its rules, for speed, on a list of integers.

A test plays it beside the rules, move by move.
"""

from collections.abc import MutableSequence

from duels.solving.tables import ONGOING

FLIP, PAIR, KEEP = range(3)

# Where things stand in a game's list: the tiles that are face down, as bits; whose turn it is, 0 or 1;
# whether two tiles are lifted, and which; both scores; both Quantum Flips; how many tiles nobody has seen.
DOWN, MOVER, CHOOSING, ONE, TWO = range(5)
SCORES = 5
QUANTUM = 7
UNSEEN = 9
BAG = 10  # how many tiles of each value are in the bag, then every tile's value, 0 if it is unseen


def size(tiles: int, values: int) -> int:
    """The length of a game's list."""
    return BAG + values + tiles


def start(game: MutableSequence[int], tiles: int, values: int, copies: int) -> None:
    """Set `game` to the start of a game."""
    for place in range(BAG + values + tiles):
        game[place] = 0
    game[DOWN] = (1 << tiles) - 1
    game[QUANTUM] = game[QUANTUM + 1] = 1
    game[UNSEEN] = tiles
    for value in range(values):
        game[BAG + value] = copies


def play(
    game: MutableSequence[int], kind: int, one: int, two: int, chance: int, values: int, target: int
) -> int:
    """Play a legal action, with 32 random bits for what it leaves to chance; give the winner or ONGOING."""
    tiles = BAG + values
    if kind == PAIR:
        lift(game, one, two, chance, values)
        return ONGOING
    if kind == FLIP:
        if game[tiles + one] == 0:
            reveal(game, one, value_at(game, chance * game[UNSEEN] >> 32, values), values)
    else:
        game[QUANTUM + game[MOVER]] = 0
        game[CHOOSING] = 0
    mover = game[MOVER]
    game[DOWN] &= ~(1 << one)
    game[SCORES + mover] += game[tiles + one]
    game[MOVER] = 1 - mover
    if game[SCORES + mover] < target:
        return ONGOING
    return mover if game[SCORES + mover] == target else 1 - mover


def lift(game: MutableSequence[int], one: int, two: int, chance: int, values: int) -> None:
    """Turn up two tiles; the unseen ones are drawn together, from one ticket."""
    tiles = BAG + values
    game[CHOOSING], game[ONE], game[TWO] = 1, one, two
    unseen = game[UNSEEN]
    if game[tiles + one] == 0 and game[tiles + two] == 0:
        ticket = chance * (unseen * (unseen - 1)) >> 32
        value = value_at(game, ticket // (unseen - 1), values)
        before = 0
        for lower in range(value - 1):
            before += game[BAG + lower]
        # Of the tickets that begin with this value, as many go to each second value as tiles are left.
        ticket = (ticket - before * (unseen - 1)) // game[BAG + value - 1]
        reveal(game, one, value, values)
        reveal(game, two, value_at(game, ticket, values), values)
    elif game[tiles + one] == 0:
        reveal(game, one, value_at(game, chance * unseen >> 32, values), values)
    elif game[tiles + two] == 0:
        reveal(game, two, value_at(game, chance * unseen >> 32, values), values)


def value_at(game: MutableSequence[int], ticket: int, values: int) -> int:
    """The value of the ticket-th tile of the bag, when the bag is laid out in order."""
    value = 0
    while ticket >= 0:
        ticket -= game[BAG + value]
        value += 1
    return value


def reveal(game: MutableSequence[int], tile: int, value: int, values: int) -> None:
    """Everybody has now seen the value of a tile."""
    game[BAG + values + tile] = value
    game[BAG + value - 1] -= 1
    game[UNSEEN] -= 1
