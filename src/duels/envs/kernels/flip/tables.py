"""Quantum Flip in tables: what many games at once look up instead of working it out.

A game is four whole numbers and its tiles. The tables hold parts of the rules, not its positions, which
are too many. They are built from the same options as the rules; a test plays them beside the rules.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from duels.core.errors import DuelsError
from duels.games.flip.rules import QuantumTiles, neighbours

Ints = NDArray[np.int64]
Small = NDArray[np.uint8]

# Rows of tables that are looked up by a number and something below 32 are 32 long.
ROW_BITS = 5
ROW = 1 << ROW_BITS

# A set of tiles: how many there are (5 bits), then a bit for each.

# A tile is 0 while nobody has seen it, else its code: one of the last numbers below PAIRED, by its value,
# and so more than any ticket that draws from the bag; with a mark added if the game took it on drawing it.
# A game has ROW tiles; the one after the last stands for no tile at all, which a Quantum Flip takes.
PAIRED = ROW - 1
CODE = ROW - 1
DRAWN = 128

# A bag: the number of what it holds, in rows, and how many tiles that are.
BAG = 0x1FFF << ROW_BITS
LEFT_AT = 32

# The ways in which two tiles that are lifted can turn out: how many there are (10 bits), then where they
# begin. A bag's row has one such word for each number of unknown tiles among the two.
WAYS = 0x3FF
BEGIN_AT = 10
WAYS_BITS = 2
WAYS_SHIFT = ROW_BITS - WAYS_BITS

# A standing: where its row begins in `standing`; whether two tiles are lifted; whether a seat has won.
# It is negative if the mover may still take a Quantum Flip. Shifted by WINNER_AT, a won one is the winner.
STANDING = (1 << 32) - ROW
MOVER_AT = 2  # in the number of the row
LIFTED = 1 << 60
WINNER_AT = 62
WON = (1 << 61, 1 << WINNER_AT)
MAY_PAIR = -(1 << 63)


@dataclass(frozen=True)
class FlipTables:
    """The tables of one set of options."""

    tiles: int
    upper: int
    """A mask of the tiles in the upper part of the board.

    It shows one row more than its pairs begin in, since a pair can reach down into it."""
    lower_shift: int
    """How far to shift a set to have the tiles in the lower part."""
    half_mask: int
    """A mask of the tiles in the first half of a set, where they are in the set."""
    half_shift: int
    """How far to shift a set to have the second half where the first was."""
    pairs_in: tuple[Small, Small]
    """[tiles face down in a part of the board] how many pairs of neighbours begin there."""
    pair_at: tuple[Small, Small]
    """[tiles face down in a part, k] the k-th pair there. In the upper part, if it has not so many: where to
    go on in the lower part. In the lower part a pair that was found in the upper part stays what it is."""
    pair_columns: int
    """How many k `pair_at` has."""
    tile_at: tuple[Small, Small]
    """[half of a set, k] the k-th tile, in the same way."""
    pair_tiles: tuple[Ints, Ints]
    """[pair] its first tile, its second."""
    pair_sets: Ints
    """[pair] both as a set."""
    tile_sets: Ints
    """[tile] it as a set; nothing for no tile."""
    drawn: Small
    """[bag, ticket or code] the tile that is turned up."""
    two_ways: Ints
    """[bag, how many of two lifted tiles are unknown] the ways in which they turn out."""
    two_drawn: Small
    """[where the ways begin + ticket] the number of what they turn out to be."""
    two_codes: Small
    """[first or second, number of what they turn out to be] the tile, if it was unknown."""
    taken: Ints
    """[tile that is turned up] what the bag loses."""
    two_taken: Ints
    """[number of what two tiles turn out to be] the same."""
    standing: Ints
    """[standing, code or PAIRED] the standing after the mover took that tile or lifted two."""
    first_code: int
    """The code of a tile of value 0, if there were one."""
    scores: int
    """How many different scores a standing has room for: a power of two, and all that a seat can have."""
    full: int
    """The set of all tiles."""
    bag: int
    """The full bag."""
    start: int
    """The standing at the start."""


@lru_cache(maxsize=16)
def flip_tables(rules: QuantumTiles) -> FlipTables:
    """The tables of `rules`, built once a process."""
    side, tiles = rules.side, rules.side**2
    if tiles > 25:
        raise DuelsError(f"A board of side {side} is too large to be played as bits.")
    lower_at = side // 2 * side
    upper_tiles = min(lower_at + side, tiles)
    pairs = neighbours(side)
    upper = [(a, b) for a, b in pairs if a < lower_at]
    lower = [(a - lower_at, b - lower_at) for a, b in pairs if a >= lower_at]
    upper_pairs, lower_pairs = present(upper, upper_tiles), present(lower, tiles - lower_at)
    columns = max(1, len(pairs))
    half = (tiles + 1) // 2
    halves = [present([(i, i) for i in range(size)], size) for size in (half, tiles - half)]
    tile_sets = np.append((ROW << np.arange(tiles)) + 1, 0)
    bags = _Bags(rules.values, rules.copies)
    two_ways, two_drawn = bags.two_drawn()
    scores = _scores(rules)
    start = _standing(np.zeros(2, np.int64), np.array(0), np.ones(2, np.int64), scores)
    return FlipTables(
        tiles=tiles,
        upper=(1 << upper_tiles) - 1,
        lower_shift=ROW_BITS + lower_at,
        half_mask=((1 << half) - 1) << ROW_BITS,
        half_shift=half,
        pairs_in=(_counted(upper_pairs), _counted(lower_pairs)),
        pair_at=(_ranked(upper_pairs, columns, 0), _ranked(lower_pairs, columns, len(upper))),
        pair_columns=columns,
        tile_at=(_ranked(halves[0], ROW, 0), _ranked(halves[1], ROW, half)),
        pair_tiles=(np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64)),
        pair_sets=np.array([tile_sets[a] + tile_sets[b] for a, b in pairs], np.int64),
        tile_sets=tile_sets,
        drawn=bags.drawn(),
        two_ways=two_ways,
        two_drawn=two_drawn,
        two_codes=bags.two_codes(),
        taken=bags.taken(),
        two_taken=bags.two_taken(),
        standing=_standings(rules),
        first_code=first_code(rules.values),
        scores=scores,
        full=int(tile_sets.sum()),
        bag=(len(bags.size) - 1) * ROW + (tiles << LEFT_AT),
        start=int(start),
    )


def _scores(rules: QuantumTiles) -> int:
    return 1 << (rules.target + rules.values - 1).bit_length()


def first_code(values: int) -> int:
    """The code of a tile of value 0, if there were one."""
    return PAIRED - 1 - values


def present(things: list[tuple[int, int]], size: int) -> Small:
    """[set of tiles, thing] whether both tiles of the thing are in the set."""
    sets = np.arange(1 << size)
    present = np.zeros((len(sets), len(things)), np.uint8)
    for number, (a, b) in enumerate(things):
        present[:, number] = sets >> a & sets >> b & 1
    return present


def _counted(present: Small) -> Small:
    counts: Small = present.sum(axis=1, dtype=np.uint8)
    return counts


def _ranked(present: Small, columns: int, earlier: int) -> Small:
    """[set, column] the thing of rank `column - earlier`, plus `earlier`, where the set has so many.

    Below `earlier` are things found before, which stay what they are. Beyond the last thing is how much
    further the rank is than that, plus all things: where to go on in the next table.
    """
    column = np.arange(columns)
    things = present.shape[1]
    beyond = np.maximum(things + column - _counted(present)[:, None].astype(np.int16), 0)
    found = np.where(column < earlier, column, beyond).astype(np.uint8)
    which, thing = np.nonzero(present)
    rank = present.cumsum(axis=1, dtype=np.uint8)[which, thing] - 1
    found[which, rank + earlier] = thing + earlier
    return found.ravel()


class _Bags:
    """All bags, numbered by how many tiles of each value they hold."""

    def __init__(self, values: int, copies: int) -> None:
        self.strides = (copies + 1) ** np.arange(values)
        numbers = np.arange((copies + 1) ** values)
        self.held = numbers[:, None] // self.strides % (copies + 1)  # [bag, value - 1]
        self.before = self.held.cumsum(axis=1) - self.held
        self.size = self.held.sum(axis=1)
        self.codes = np.arange(1, values + 1, dtype=np.uint8) + first_code(values)

    def drawn(self) -> Small:
        table = np.tile(np.arange(ROW, dtype=np.uint8), (len(self.held), 1))
        for before, held, code in zip(self.before.T, self.held.T, self.codes, strict=True):
            for copy in range(held.max()):
                bag = np.flatnonzero(held > copy)
                table[bag, before[bag] + copy] = DRAWN + code
        return table.ravel()

    def taken(self) -> Ints:
        taken = np.zeros(DRAWN + ROW, np.int64)
        taken[DRAWN + self.codes] = (self.strides << ROW_BITS) + (1 << LEFT_AT)
        return taken

    def two_drawn(self) -> tuple[Ints, Small]:
        """The ways of two lifted tiles, by their values, as the rules list them.

        Of the ways that begin with a value, as many go to each second value as tiles are then left.
        """
        values = len(self.codes)
        first, second = np.divmod(np.arange(values**2), values)
        times = np.zeros((len(self.held), 1 << WAYS_BITS, 1 + values + values**2), np.int64)
        times[:, 0, 0] = 1
        times[:, 1, 1 : 1 + values] = self.held
        times[:, 2, 1 + values :] = self.held[:, first] * np.maximum(
            self.held[:, second] - (first == second), 0
        )
        ways = times.sum(axis=2).ravel()
        numbers = np.broadcast_to(np.arange(times.shape[2], dtype=np.uint8), times.shape)
        return ways + ((ways.cumsum() - ways) << BEGIN_AT), np.repeat(numbers.ravel(), times.ravel())

    def two_codes(self) -> Small:
        """What is drawn in the ways of `two_drawn`: nothing, one value, or two."""
        values, none = len(self.codes), np.zeros(1, np.uint8)
        both = np.repeat(self.codes, values), np.tile(self.codes, values)
        return np.stack([np.concatenate([none, self.codes, codes]) for codes in both])

    def two_taken(self) -> Ints:
        one = self.taken()[DRAWN + self.codes]
        return np.concatenate([[0], one, np.add.outer(one, one).ravel()])


def standing_of(standings: Ints, scores: int) -> tuple[Ints, Ints, Ints]:
    """Scores [seat, …], mover, and unused Quantum Flips [seat, …] of standings."""
    number = (standings & STANDING) >> ROW_BITS
    points = number >> 3
    return (
        np.stack([points // scores, points % scores]),
        number >> 2 & 1,
        np.stack([number & 1, number >> 1 & 1]),
    )


def _standing(points: Ints, mover: Ints, quantum: Ints, scores: int) -> Ints:
    """The other way round."""
    number = ((points[0] * scores + points[1]) << 3) + (mover << 2) + (quantum[1] << 1) + quantum[0]
    standings: Ints = (number << ROW_BITS) + np.where(mover == 0, quantum[0], quantum[1]) * MAY_PAIR
    return standings


def _standings(rules: QuantumTiles) -> Ints:
    """The table of standings."""
    scores, target = _scores(rules), rules.target
    numbers = np.arange(scores * scores << 3)
    points, mover, quantum = standing_of(numbers << ROW_BITS, scores)
    mine = np.stack([mover == 0, mover == 1])
    table = np.zeros((len(numbers), ROW), np.int64)
    for value in range(1, rules.values + 1):
        score = np.where(mover == 0, points[0], points[1]) + value
        # Rows of games that are over are never looked up: their scores need only stay in the table.
        after = _standing(np.minimum(points + mine * value, scores - 1), 1 - mover, quantum, scores)
        winner = np.where(score == target, mover, 1 - mover)
        over = (after & STANDING) + np.where(winner == 0, *WON)
        table[:, first_code(rules.values) + value] = np.where(score < target, after, over)
    table[:, PAIRED] = (_standing(points, mover, quantum * ~mine, scores) & STANDING) + LIFTED
    return table.ravel()
