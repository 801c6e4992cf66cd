"""What flip's board can change: for any board, a proven interval around its value.

The abstract game (`abstraction.py`) takes it for granted that a holder of the Quantum Flip finds two unknown
neighbours. On the board the opponent can flip tiles to part them. Four facts make abstract values bounds.

1. A board never offers a holder more than the abstract game does: the abstract value is the most it can be.
2. A holder may play on as if the Quantum Flip were lost, now or after some turns: the value of the abstract
   game with it lost then is the least it can be.
3. How long a holder is sure of it, by pairing. Let the unknown tiles hold m disjoint pairs of neighbours and
   call the rest spare. The holder flips spare tiles; if there is none, one of a pair, whose partner is spare
   from then on. A flip of the opponent breaks at most one pair and then leaves a spare tile, so it and the
   holder's answer break at most one pair between them (once, one more: if the opponent uses a Quantum Flip,
   which touches two tiles). Before the holder's j-th turn from now, then, at most
       j  (+ 1 if the holder moves now and has no spare tile)  (+ 1 if the opponent is a holder too)
   pairs are broken. While m is larger, the holder finds a pair whatever the opponent does. Points bound j:
   both scores must stay below the target. If m lasts as long, the abstract value itself is reached.
   To keep the seen tile's unknown neighbours too, the holder pairs only the unknown tiles away from it.
4. A holder may play as in the abstract game until a pair is missing, which cannot be before the first turn it
   is not sure of. So the abstract value is missed by no more than the chance that the match gets there,
   however both play: `chance_to_last` bounds it by the tiles that must come up for it.

On the book's empty board m is 12 and no match is longer than 18 flips, so j is at most 8 for player 1 and 9
for player 2: both are sure of their Quantum Flip to the end, and the abstract bounds hold as they are.

Where the interval is too wide, a step of the real rules narrows it: the pairs of the board are looked at,
and the positions after it are bounded instead. `Bounds.search` repeats that a given number of times.
"""

from functools import lru_cache, partial
from math import comb
from typing import NamedTuple

from duels.games.flip.abstraction import Abstraction
from duels.games.flip.rules import QuantumTiles, neighbours
from duels.games.flip.table import ROUNDING, Table

Interval = tuple[float, float]
WON: Interval = (1.0, 1.0)
LOST: Interval = (0.0, 0.0)
ENOUGH = 0.0018  # an interval this narrow, an error of half of it, needs no further thought
REMEMBERED = 200_000
AFFORDABLE = 4  # fact 2 with a Quantum Flip that lasts some turns is worked out this close to the end


class Shape(NamedTuple):
    """All that bounds need to know of a board with a Quantum Flip left.

    The pairs among the unknown tiles, and whether one is spare; how many lie beside the seen tile, and the
    pairs and spare tiles away from it.
    """

    pairs: int
    spare: bool
    near: int = 0
    far_pairs: int = 0
    far_spare: bool = False

    def sure(self, moves: bool, rival: bool) -> int:
        """How many turns, counting this one if it is theirs, a holder is sure to find a pair: fact 3."""
        if not moves:
            return max(0, self.pairs - 1 - rival)
        return max(min(self.pairs, 1), self.pairs - (not self.spare) - rival)

    @property
    def far(self) -> "Shape":
        """The unknown tiles that do not lie beside the seen one."""
        return Shape(self.far_pairs, self.far_spare)


class Position(NamedTuple):
    """A board before a turn, as its mover sees it: unknown tiles as bits, seen ones as (tile, value)."""

    unknown: int
    code: int
    score: int
    seen: tuple[tuple[int, int], ...]
    mine: bool
    theirs: bool

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(sorted(value for _, value in self.seen))


class Grid:
    """The neighbourhoods of a square board, as sets of tiles in bits."""

    def __init__(self, side: int) -> None:
        self.pairs = neighbours(side)
        self.near = [0] * side**2
        for a, b in self.pairs:
            self.near[a] |= 1 << b
            self.near[b] |= 1 << a
        self.beside = [bits(near) for near in self.near]
        self.dark = sum(1 << tile for tile in range(side**2) if sum(divmod(tile, side)) % 2 == 0)
        self.most_pairs = lru_cache(REMEMBERED)(self._most_pairs)
        self._shape_by = lru_cache(REMEMBERED)(self._find_shape)

    def _most_pairs(self, tiles: int) -> int:
        """The most disjoint pairs of neighbours among `tiles`: every pair is a dark and a light one."""
        partner: dict[int, int] = {}

        def settle(dark: int, tried: set[int]) -> bool:
            for light in self.beside[dark]:
                if tiles >> light & 1 and light not in tried:
                    tried.add(light)
                    if light not in partner or settle(partner[light], tried):
                        partner[light] = dark
                        return True
            return False

        return sum(settle(dark, set()) for dark in bits(tiles & self.dark))

    def shape(self, unknown: int, seen: tuple[tuple[int, int], ...]) -> Shape:
        return self._shape_by(unknown, seen[0][0] if seen else None)

    def _find_shape(self, unknown: int, seen: int | None) -> Shape:
        count = unknown.bit_count()
        pairs = self.most_pairs(unknown)
        if seen is None:
            return Shape(pairs, 2 * pairs < count)
        near = self.near[seen] & unknown
        far = self.most_pairs(unknown & ~near)
        return Shape(pairs, 2 * pairs < count, near.bit_count(), far, 2 * far < count - near.bit_count())


class Bounds:
    """Proven intervals for the value of flip's positions to their mover."""

    def __init__(self, rules: QuantumTiles, table: Table) -> None:
        self.table, self.abstraction, self.places = table, table.abstraction, table.places
        self.grid = Grid(rules.side)
        self.target = rules.target
        self.of_shape = lru_cache(REMEMBERED)(self._of_shape)
        self.turns = lru_cache(REMEMBERED)(partial(most_turns, table.abstraction))
        self.lasting = lru_cache(REMEMBERED)(partial(chance_to_last, table.abstraction))
        self.narrowed = lru_cache(REMEMBERED)(self._narrowed)

    # -- without looking ahead ---------------------------------------------------------------------

    def of(self, at: Position) -> Interval:
        """The interval that the facts give."""
        shape = self.grid.shape(at.unknown, at.seen) if at.mine or at.theirs else Shape(0, False)
        return self.of_shape(at.code, at.score, at.values, at.mine, at.theirs, shape)

    def _of_shape(
        self, code: int, score: int, values: tuple[int, ...], mine: bool, theirs: bool, shape: Shape
    ) -> Interval:
        for patient in (False, True):
            low, high = self._estimate(code, score, values, mine, theirs, shape, patient)
            if high - low <= ENOUGH:
                break
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)

    def _estimate(
        self,
        code: int,
        score: int,
        values: tuple[int, ...],
        mine: bool,
        theirs: bool,
        shape: Shape,
        patient: bool,
    ) -> Interval:
        def secured(kind: str, key: tuple[int, ...], mover: bool, kept: Shape) -> float:
            """The mover's value when the holder, the mover or the other, relies on fact 3 alone."""
            row = self.abstraction.index[kind, key]
            sure = kept.sure(mover, mine and theirs)
            turns = self.turns(code, score, mover)
            full = self.table.value(row, code, score)
            if sure >= turns:
                return full
            if patient and turns <= AFFORDABLE:
                return self.table.value_until(row, code, score, sure, mover)
            lost = self.table.value(self.abstraction.without(row, mover), code, score)
            chance = self.lasting(code, values, 2 * sure + (not mover), int(mine and theirs))
            return max(lost, full - chance) if mover else min(lost, full + chance)

        if not mine and not theirs:
            value = self.table.value(self.abstraction.none(values), code, score)
            return value, value
        if mine and theirs:
            return secured("low", (), True, shape), secured("high", (), False, shape)
        kind, s = "mine" if mine else "theirs", values[0] if values else 0
        most = self.table.value(self.abstraction.index[kind, (s, shape.near)], code, score)
        ways = [secured(kind, (s, 0), mine, shape)]
        if shape.near:
            ways.append(secured(kind, (s, shape.near), mine, shape.far))
        return (max(ways), most) if mine else (most, min(ways))

    # -- looking ahead -----------------------------------------------------------------------------

    def search(self, at: Position, steps: int) -> Interval:
        """An interval no wider than ENOUGH, if so many steps of the rules give one."""
        found = self.of(at)
        return self.narrowed(at, steps) if steps and found[1] - found[0] > ENOUGH else found

    def _narrowed(self, at: Position, steps: int) -> Interval:
        low, high = best(self.every_way(at, steps - 1))
        least, most = self.of(at)
        return max(low, least), min(high, most)

    def every_way(self, at: Position, steps: int) -> list[Interval]:
        """The interval of each action that the board allows, alike ones once."""
        ways = [self.take(at, tile, value, steps) for tile, value in at.seen]
        if at.mine:
            ways += self.quantum_ways(at, steps)
        flips = {tile: self.flip(at, tile, 0) for tile in bits(at.unknown)}
        if steps:
            least = max(low for low, _ in (*ways, *flips.values()))
            for tile, (low, high) in flips.items():
                if high > least and high - low > ENOUGH:
                    flips[tile] = self.flip(at, tile, steps)
        return [*ways, *set(flips.values())]

    def quantum_ways(self, at: Position, steps: int) -> list[Interval]:
        """The interval of each Quantum Flip that the board allows, alike ones once."""
        kinds: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        for pair in self.open_pairs(at):
            kinds.setdefault(self.kind(at, pair), []).append(pair)
        ways = []
        for pairs in kinds.values():
            # Pairs of a kind are alike as far as nobody looks ahead, and mostly nobody needs to.
            low, high = self.quantum(at, pairs[0], 0)
            if steps and high - low > ENOUGH:
                ways += [self.quantum(at, pair, steps) for pair in pairs]
            else:
                ways.append((low, high))
        return ways

    def open_pairs(self, at: Position) -> list[tuple[int, int]]:
        """The neighbours that are both face down."""
        down = at.unknown | sum(1 << tile for tile, _ in at.seen)
        return [pair for pair in self.grid.pairs if down >> pair[0] & 1 and down >> pair[1] & 1]

    def kind(self, at: Position, pair: tuple[int, int]) -> tuple[object, ...]:
        """What distinguishes a Quantum Flip on `pair` from others, as far as nobody looks ahead."""
        if at.theirs:
            return self._rest_shapes(at, pair)
        known = dict(at.seen)  # it is the last one: only the values matter
        return tuple(sorted(known.get(tile, 0) for tile in pair))

    def _rest_shapes(self, at: Position, pair: tuple[int, int]) -> tuple[Shape, ...]:
        unknown = at.unknown & ~(1 << pair[0]) & ~(1 << pair[1])
        return tuple(sorted(self.grid.shape(unknown, ((tile, 0),)) for tile in pair))

    def flip(self, at: Position, tile: int, steps: int) -> Interval:
        """The interval of flipping an unknown tile."""
        bag = self.bag(at)
        left = at._replace(unknown=at.unknown & ~(1 << tile))
        ways = [(count, self.scored(left, v, steps)) for v, count in enumerate(bag, 1) if count]
        return _mean(ways)

    def take(self, at: Position, tile: int, value: int, steps: int) -> Interval:
        """The interval of flipping a seen tile."""
        left = at._replace(seen=tuple(seen for seen in at.seen if seen[0] != tile))
        return self.scored(left, value, steps)

    def quantum(self, at: Position, pair: tuple[int, int], steps: int) -> Interval:
        """The interval of a Quantum Flip on two face-down neighbours."""
        return _mean(
            [
                (weight, best([self.keep(at, pair, shown, i, steps) for i in (0, 1)]))
                for shown, weight in self.showings(at, pair)
            ]
        )

    def showings(self, at: Position, pair: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        """What a Quantum Flip on `pair` can show, with weights."""
        known = dict(at.seen)
        ways: list[tuple[tuple[int, ...], int]] = [((), 1)]
        for tile in pair:
            longer = []
            for shown, weight in ways:
                bag = self.bag(at)
                for value, earlier in zip(shown, pair, strict=False):
                    bag[value - 1] -= earlier not in known
                if tile in known:
                    longer.append(((*shown, known[tile]), weight))
                else:
                    longer += [((*shown, v), weight * count) for v, count in enumerate(bag, 1) if count]
            ways = longer
        return [((shown[0], shown[1]), weight) for shown, weight in ways]

    def keep(
        self, at: Position, pair: tuple[int, int], shown: tuple[int, int], kept: int, steps: int
    ) -> Interval:
        """The interval of keeping one tile of a Quantum Flip (0 or 1) that showed these values."""
        known = dict(at.seen) | dict(zip(pair, shown, strict=True))
        del known[pair[kept]]
        unknown = at.unknown & ~(1 << pair[0]) & ~(1 << pair[1])
        left = at._replace(unknown=unknown, seen=tuple(sorted(known.items())), mine=False)
        return self.scored(left, shown[kept], steps)

    def scored(self, left: Position, value: int, steps: int) -> Interval:
        """The interval after the mover scores `value` on the board that is `left`."""
        score = left.score + value
        if score >= self.target:
            return WON if score == self.target else LOST
        other = self.places.points[left.code] - left.score
        code = left.code + self.places.unit[value - 1]
        after = Position(left.unknown, code, other, left.seen, left.theirs, left.mine)
        low, high = self.search(after, steps)
        return 1 - high, 1 - low

    def bag(self, at: Position) -> list[int]:
        """How many unknown tiles there are of each value."""
        flipped = self.places.flipped[at.code]
        return [self.abstraction.copies - f - at.values.count(v) for v, f in enumerate(flipped, 1)]


def most_turns(abstraction: Abstraction, code: int, score: int, mover: bool) -> int:
    """The most turns, this one included, the mover or the other can have, by the smallest tiles left."""
    left = abstraction.target - 1 - score
    rest = abstraction.target - 1 - (abstraction.places.points[code] - score)
    tiles = sorted(
        v
        for v, flipped in enumerate(abstraction.places.flipped[code], 1)
        for _ in range(abstraction.copies - flipped)
    )
    sums = [0]
    for tile in tiles:
        sums.append(sums[-1] + tile)
    turns = int(mover)
    while True:
        # What must have been flipped before one more turn.
        one = turns if mover else turns + 1
        two = turns
        if one + two >= len(sums) or sums[one + two] > left + rest:
            return turns
        if sums[one] > left or sums[two] > rest:
            return turns
        turns += 1


def chance_to_last(
    abstraction: Abstraction, code: int, seen: tuple[int, ...], flips: int, spared: int
) -> float:
    """At most so likely do `flips` more tiles leave both scores below the target, whoever does what.

    Whatever is turned over, unknown values come up in an order that nobody can influence. Of the first of
    them, `spared` (by Quantum Flips) and seen tiles the players may take the smallest `flips`, no fewer.
    """
    room = 2 * (abstraction.target - 1) - abstraction.places.points[code]
    flipped = abstraction.places.flipped[code]
    bag = [abstraction.copies - f - seen.count(v) for v, f in enumerate(flipped, 1)]
    shown = min(flips + spared, sum(bag))

    def ways(value: int, shown: int, wanted: int, room: int) -> int:
        """In how many ways `shown` tiles of this value and above let `wanted` of them fit into `room`."""
        if wanted * value > room:
            return 0
        if not shown:
            return int(wanted <= 0)
        if value > abstraction.values:
            return 0
        total = 0
        for count in range(min(shown, bag[value - 1]) + 1):
            used = max(0, min(wanted, count + seen.count(value)))
            found = ways(value + 1, shown - count, wanted - used, room - used * value)
            total += comb(bag[value - 1], count) * found
        return total

    return ways(1, shown, flips, room) / comb(sum(bag), shown)


def best(ways: list[Interval]) -> Interval:
    """The interval of whoever may choose among `ways`."""
    return max(low for low, _ in ways), max(high for _, high in ways)


def bits(tiles: int) -> list[int]:
    """The tiles of a set."""
    found = []
    while tiles:
        lowest = tiles & -tiles
        found.append(lowest.bit_length() - 1)
        tiles ^= lowest
    return found


def _mean(ways: list[tuple[int, Interval]]) -> Interval:
    total = sum(weight for weight, _ in ways)
    return (
        sum(weight * low for weight, (low, _) in ways) / total,
        sum(weight * high for weight, (_, high) in ways) / total,
    )
