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

CHUNK_BITS = 13
CHUNK = (1 << CHUNK_BITS) - 1
BITS = [number.bit_count() for number in range(CHUNK + 1)]


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
    count = 0
    while word:
        count += BITS[word & CHUNK]
        word >>= CHUNK_BITS
    return count


def place_of(word: int, k: int) -> int:
    """The place of the k-th bit that is set, counted from 0."""
    place = 0
    while k >= BITS[word & CHUNK]:
        k -= BITS[word & CHUNK]
        word >>= CHUNK_BITS
        place += CHUNK_BITS
    for _ in range(k):
        word &= word - 1
    return place + BITS[((word & -word) - 1) & CHUNK]


def pairs_down(down: int, windows: Sequence[Sequence[int]], tables: Sequence[Sequence[int]]) -> int:
    """The neighbours that are both face down, a bit each, in the order of the actions (see `windows`)."""
    pairs = 0
    for window in range(len(windows)):
        shift, size, place = windows[window][0], windows[window][1], windows[window][2]
        pairs |= tables[window][down >> shift & size] << place
    return pairs


def play_random(
    game: MutableSequence[int],
    bits: int,
    chance: int,
    windows: Sequence[Sequence[int]],
    tables: Sequence[Sequence[int]],
    pairs: Sequence[Sequence[int]],
    values: int,
    target: int,
) -> int:
    """Play one of the legal actions, from 32 random bits; give the winner, if any."""
    if game[CHOOSING]:
        kept = game[ONE] if bits * 2 >> 32 == 0 else game[TWO]
        return play(game, KEEP, kept, kept, chance, values, target)
    down = game[DOWN]
    singles = count_bits(down)
    doubles = 0
    if game[QUANTUM + game[MOVER]]:
        doubles = pairs_down(down, windows, tables)
    k = bits * (singles + count_bits(doubles)) >> 32
    if k < singles:
        tile = place_of(down, k)
        return play(game, FLIP, tile, tile, chance, values, target)
    pair = place_of(doubles, k - singles)
    return play(game, PAIR, pairs[pair][0], pairs[pair][1], chance, values, target)


def roll(
    games: Sequence[MutableSequence[int]],
    bits: Sequence[Sequence[int]],
    chance: Sequence[Sequence[int]],
    wins: Sequence[MutableSequence[int]],
    windows: Sequence[Sequence[int]],
    tables: Sequence[Sequence[int]],
    pairs: Sequence[Sequence[int]],
    tiles: int,
    values: int,
    copies: int,
    target: int,
) -> None:
    """Random play of every game by its own bits, [game, tick]; a game that ends starts again."""
    for number in range(len(games)):
        game = games[number]
        for tick in range(len(bits[number])):
            winner = play_random(
                game, bits[number][tick], chance[number][tick], windows, tables, pairs, values, target
            )
            if winner != NOBODY:
                wins[number][winner] += 1
                start(game, tiles, values, copies)
