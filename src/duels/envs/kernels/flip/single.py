"""Quantum Flip for one game at a time: a second form of its rules, for speed, on a list of integers.

Plain enough for a compiler of Python: the same functions play on a list here and on a row of an array
in compiled code. A test plays them beside the rules, move by move.
"""

from collections.abc import MutableSequence, Sequence

NOBODY = -1
FLIP, PAIR, KEEP = range(3)

# Where things stand in a game's list: the tiles that are face down, as bits; whose turn it is, 0 or 1;
# whether two tiles are lifted, and which; both scores; both Quantum Flips; how many tiles nobody has seen.
DOWN, MOVER, CHOOSING, ONE, TWO = range(5)
SCORES = 5
QUANTUM = 7
UNSEEN = 9
BAG = 10  # how many tiles of each value are in the bag, then every tile's value, 0 if it is unseen

HALVES = (32, 16, 8, 4, 2, 1)


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
    """Play a legal action, with 32 random bits for what it leaves to chance; give the winner, if any."""
    tiles = BAG + values
    if kind == PAIR:
        lift(game, one, two, chance, values)
        return NOBODY
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
        return NOBODY
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
    value = 1
    while ticket >= game[BAG + value - 1]:
        ticket -= game[BAG + value - 1]
        value += 1
    return value


def reveal(game: MutableSequence[int], tile: int, value: int, values: int) -> None:
    """Everybody has now seen the value of a tile."""
    game[BAG + values + tile] = value
    game[BAG + value - 1] -= 1
    game[UNSEEN] -= 1


def count_bits(word: int) -> int:
    """How many bits are set."""
    return word.bit_count()


def place_of(word: int, k: int) -> int:
    """The place of the k-th bit that is set, counted from 0."""
    place = 0
    for half in HALVES:
        below = count_bits(word & ((1 << half) - 1))
        if k >= below:
            k -= below
            word >>= half
            place += half
    return place


def spread(word: int) -> int:
    """The bits of a word of up to 32, each with a free place above it."""
    word = (word | word << 16) & 0x0000FFFF0000FFFF
    word = (word | word << 8) & 0x00FF00FF00FF00FF
    word = (word | word << 4) & 0x0F0F0F0F0F0F0F0F
    word = (word | word << 2) & 0x3333333333333333
    return (word | word << 1) & 0x5555555555555555


def play_random(
    game: MutableSequence[int], bits: int, chance: int, side: int, inner: int, values: int, target: int
) -> int:
    """Play one of the legal actions, from 32 random bits; give the winner, if any.

    `inner` are the tiles that have a neighbour on their right.
    """
    if game[CHOOSING]:
        kept = game[ONE] if bits * 2 >> 32 == 0 else game[TWO]
        return play(game, KEEP, kept, kept, chance, values, target)
    down = game[DOWN]
    singles = count_bits(down)
    if not game[QUANTUM + game[MOVER]]:
        tile = place_of(down, bits * singles >> 32)
        return play(game, FLIP, tile, tile, chance, values, target)
    # Neighbours that are both face down: those to the right, those below.
    beside, below = down & down >> 1 & inner, down & down >> side
    k = bits * (singles + count_bits(beside) + count_bits(below)) >> 32
    if k < singles:
        tile = place_of(down, k)
        return play(game, FLIP, tile, tile, chance, values, target)
    # In the order of the actions a tile's pair to the right comes before its pair below.
    pair = place_of(spread(beside) | spread(below) << 1, k - singles)
    tile = pair >> 1
    return play(game, PAIR, tile, tile + (side if pair & 1 else 1), chance, values, target)


def inner_tiles(side: int) -> int:
    """The tiles that have a neighbour on their right, as bits."""
    return sum(1 << tile for tile in range(side * side) if (tile + 1) % side)


def roll(
    games: Sequence[MutableSequence[int]],
    bits: Sequence[Sequence[int]],
    chance: Sequence[Sequence[int]],
    wins: Sequence[MutableSequence[int]],
    side: int,
    values: int,
    copies: int,
    target: int,
) -> None:
    """Random play of every game by its own bits, [game, tick]; a game that ends starts again."""
    inner = inner_tiles(side)
    for game, won, drawn, fallen in zip(games, wins, bits, chance, strict=True):
        for player_bits, chance_bits in zip(drawn, fallen, strict=True):
            winner = play_random(game, player_bits, chance_bits, side, inner, values, target)
            if winner != NOBODY:
                won[winner] += 1
                start(game, side * side, values, copies)
