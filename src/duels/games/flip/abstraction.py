"""flip with the board forgotten: scores, bag, tiles seen, Quantum Flips left; one recurrence for all of it.

Tiles nobody has seen are exchangeable, so where they lie matters only to a Quantum Flip still to come. This
game always allows one on two unknown tiles, and on the seen tile while unknown neighbours of it remain. What
the real board can take away from that, and what can be proven all the same, is in `bounds.py`.

A row says which tiles are seen and whose Quantum Flips are left:
- none: nobody's is left; no, one or two tiles are seen. The board no longer matters: exact.
- mine, theirs: only the mover's, only the other's; no tile is seen, or one with `near` unknown neighbours.
  The holder's opponent flips one of these at every turn, the holder never does: unknown tiles are all worth
  the same to flip, and more of these can only help the holder (by induction over the turns).
- high, low: both are left. Whoever uses theirs first chooses the pair, and with it `near`: none at best for
  them, MOST_NEAR at worst. high grants the mover the best and the other the worst, low the reverse: two
  values that enclose every board's.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod
from typing import Any, NamedTuple

from duels.core.errors import DuelsError
from duels.games.flip.rules import QuantumTiles

MOST_FLIPPED = 35_000  # ways; the book's game has 4,577, and so many take ten seconds and 700 MB
MOST_NEAR = 3  # of a tile's four neighbours, the one that was kept when it was shown is flipped
Seen = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What the mover may do, as the rows that each leaves to the other player."""

    seen: Seen
    flip: int
    """After flipping an unknown tile."""
    take: tuple[tuple[int, int], ...] = ()
    """After flipping a seen tile: its value and the row."""
    double: tuple[int, ...] = ()
    """After a Quantum Flip of two unknown tiles, by the value left face down, from 1; () if not allowed."""
    mixed: tuple[int, ...] = ()
    """After one of an unknown tile and the seen one: likewise."""


class Abstraction:
    """The rows and the recurrence for one bag and target; boards of any shape share it."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.values, self.copies, self.target = rules.values, rules.copies, rules.target
        self.places = Places(self.values, self.copies, self.target)
        faces = range(1, self.values + 1)
        none: list[Seen] = [seen for size in range(3) for seen in combinations_with_replacement(faces, size)]
        # Rows with a fourth unknown neighbour come last and are not stored: no match leads to them.
        one = [(0, 0), *((s, near) for near in range(MOST_NEAR + 2) for s in faces)]
        stored = 1 + self.values * (MOST_NEAR + 1)
        names: list[tuple[str, Any]] = [
            *(("none", seen) for seen in none),
            *((kind, key) for kind in ("mine", "theirs") for key in one[:stored]),
            ("high", ()),
            ("low", ()),
            *((kind, key) for kind in ("mine", "theirs") for key in one[stored:]),
        ]
        self.names = names
        self.index = {name: i for i, name in enumerate(names)}
        self.rows = [self._row(kind, key) for kind, key in names]
        self.turns = [list_turn(row, self.values) for row in self.rows]
        self.stored_rows = len(names) - 2 * self.values

    def _row(self, kind: str, key: Any) -> Row:
        faces = range(1, self.values + 1)
        none, at = self.none, self.index
        if kind == "none":
            rest = {s: none(tuple(x for i, x in enumerate(key) if i != key.index(s))) for s in key}
            return Row(key, none(key), tuple(sorted(rest.items())))
        if kind in ("high", "low"):
            near = 0 if kind == "high" else MOST_NEAR
            other = at["low" if kind == "high" else "high", ()]
            return Row((), other, double=tuple(at["mine", (left, near)] for left in faces))
        s, near = key
        seen = (s,) if s else ()
        if kind == "theirs":
            take = ((s, at["mine", (0, 0)]),) if s else ()
            return Row(seen, at["mine", (s, max(near - 1, 0))], take)
        return Row(
            seen,
            at["theirs", key],
            ((s, at["theirs", (0, 0)]),) if s else (),
            tuple(none((*seen, left)) for left in faces),
            tuple(none((left,)) for left in faces) if near else (),
        )

    def none(self, seen: Seen) -> int:
        """The row of no Quantum Flips left and these values seen."""
        return self.index["none", tuple(sorted(seen))]

    def held(self, row: int, mover: bool) -> bool:
        """Whether the mover, or the other player, still has the Quantum Flip in `row`."""
        kind = self.names[row][0]
        return kind in ("high", "low") or kind == ("mine" if mover else "theirs")

    def without(self, row: int, mover: bool) -> int:
        """`row` once the mover, or the other player, has given the Quantum Flip up."""
        if self.names[row][0] in ("high", "low"):
            return self.index["theirs" if mover else "mine", (0, 0)]
        return self.none(self.rows[row].seen)


BEGINS, TIMES, ONE, TWO, LEAF, OTHER = range(6)


class Turn(NamedTuple):
    """What a turn can lead to."""

    leaves: tuple[tuple[int, int], ...]
    """Each value that may be scored, with the row that is then left to the other player."""
    terms: tuple[tuple[int, ...], ...]
    """Each result of chance, move by move.

    Whether it BEGINS a move; its weight, which is TIMES the number of unknown tiles of value ONE (0: none is
    drawn) and then of value TWO; the LEAF that follows, and the OTHER one to choose from, or -1.
    """


def list_turn(row: Row, values: int) -> Turn:
    """Return what a turn in `row` can lead to: a flip, each seen tile, and both kinds of Quantum Flip."""
    faces = range(1, values + 1)
    leaves: list[tuple[int, int]] = []

    def leaf(value: int, left: int) -> int:
        leaves.append((value, left))
        return len(leaves) - 1

    moves = [[(1, v, 0, leaf(v, row.flip), -1) for v in faces]]
    moves += [[(1, 0, 0, leaf(v, rest), -1)] for v, rest in row.take]
    if row.double:
        at = {(a, b): leaf(a, row.double[b - 1]) for a in faces for b in faces}
        pairs = [(a, b) for a in faces for b in faces if a <= b]
        moves.append([(1 + (a < b), a, b, at[a, b], at[b, a] if a < b else -1) for a, b in pairs])
    if row.mixed:
        s = row.seen[0]
        moves.append([(1, v, 0, leaf(v, row.mixed[s - 1]), leaf(s, row.mixed[v - 1])) for v in faces])
    return Turn(tuple(leaves), tuple((int(not i), *term) for move in moves for i, term in enumerate(move)))


def evaluate_turn(
    terms: Any, bag: Sequence[Any], gains: Sequence[Any], larger: Callable[[Any, Any], Any]
) -> Any:
    """Return the value of a turn to the mover, with `bag[v - 1]` unknown tiles of each value v.

    `gains` are the values of its leaves. Numbers may as well be arrays of them, and `larger` the sum of what
    a policy mixes: one text serves players, compiled code, layers of the table and best responses.
    """
    best = total = 0.0
    weights = 0
    for term in terms:
        if term[TIMES] == 0:  # in compiled code the rest of an array
            break
        if term[BEGINS]:
            best = larger(best, total / (weights + (weights == 0)))
            total = 0.0
            weights = 0
        weight = term[TIMES]
        if term[ONE]:
            weight = weight * bag[term[ONE] - 1]
        if term[TWO]:
            weight = weight * (bag[term[TWO] - 1] - (term[ONE] == term[TWO]))
        gain = gains[term[LEAF]]
        if term[OTHER] >= 0:
            gain = larger(gain, gains[term[OTHER]])
        total = total + weight * gain
        weights = weights + weight
    return larger(best, total / (weights + (weights == 0)))


class Places:
    """Numbers for what has been flipped, and the place of each (flipped, mover's score) in a stored row.

    Each turn flips one tile, so tables hold only states with an even number of tiles flipped; those between
    are one step of the recurrence away.
    """

    def __init__(self, values: int, copies: int, target: int) -> None:
        points = 2 * (target - 1)  # with more, somebody has reached the target
        self.unit = [prod(min(copies, points // v) + 1 for v in range(1, i)) for i in range(1, values + 1)]
        self.flipped: dict[int, tuple[int, ...]] = {}
        self.points: dict[int, int] = {}
        self.layer: dict[int, int] = {}
        self.start: dict[int, int] = {}
        """Where a code's scores start in a row, less its lowest score: add the mover's score."""
        self.size = 0
        flipped = list_counts(values, copies, points)
        if len(flipped) > MOST_FLIPPED:
            raise DuelsError(
                f"flip with {copies} tiles each of 1 to {values} and target {target} is too large to solve: "
                f"tiles can have been flipped in more than {MOST_FLIPPED:,} ways."
            )
        for counts in sorted(flipped, key=sum):
            points = sum(v * count for v, count in enumerate(counts, 1))
            code = sum(unit * count for unit, count in zip(self.unit, counts, strict=True))
            self.flipped[code] = counts
            self.points[code] = points
            self.layer[code] = sum(counts)
            if sum(counts) % 2 == 0:
                low, high = self.scores(points, target)
                self.start[code] = self.size - low
                self.size += high - low + 1

    @staticmethod
    def scores(points: int, target: int) -> tuple[int, int]:
        """The lowest and highest score of one of two players who share `points` and go on."""
        return max(0, points - target + 1), min(points, target - 1)

    def layers(self) -> Iterator[tuple[int, list[int]]]:
        """The codes with as many tiles flipped, the fullest boards first."""
        for layer in range(max(self.layer.values()), -1, -1):
            yield layer, [code for code, count in self.layer.items() if count == layer]


def list_counts(values: int, copies: int, points: int) -> list[tuple[int, ...]]:
    """List how many tiles of each value may have been flipped, for at most so many points, in order.

    The list is cut off where it is too long to be solved.
    """
    ways: list[tuple[tuple[int, ...], int]] = [((), points)]
    for v in range(1, values + 1):
        ways = [
            ((*counts, count), left - v * count)
            for counts, left in ways[: MOST_FLIPPED + 1]
            for count in range(min(copies, left // v) + 1)
        ]
    return [counts for counts, _ in ways]
