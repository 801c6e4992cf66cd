"""The abstraction of flip: scores, bag, seen tiles and Quantum Flips left, without the board.

Unknown tiles are exchangeable, so their places matter only for a future Quantum Flip. The abstract game
always allows a Quantum Flip on two unknown tiles, and on the seen tile while it has unknown neighbours. The
real board may not; `bounds.py` proves bounds for it.

A row of the table says which tiles are seen and which Quantum Flips are left:
- none: no Quantum Flip is left; up to two tiles are seen. The board does not matter, so values are exact.
- mine, theirs: only the mover's or only the opponent's is left. No tile is seen, or one with `near` unknown
  neighbours. The holder's opponent flips one of these at every turn, and the holder never does: all unknown
  tiles have the same value to flip, and more unknown neighbours can only help the holder (by induction).
- high, low: both are left. The player who uses theirs first chooses the pair, and so `near`: 0 is best for
  that player, MAX_NEAR is worst. high assumes the best case for the mover and the worst for the opponent,
  low the reverse. The values of every board lie between the two.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod
from typing import Any, NamedTuple

from duels.core.errors import DuelsError
from duels.games.flip.rules import QuantumTiles

MAX_FLIPPED = 35_000  # combinations of flipped tiles: ten seconds and 700 MB; the book's game has 4,577
MAX_NEAR = 3  # of the four neighbours of a seen tile, one was flipped by the same Quantum Flip
Seen = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The mover's options, as the rows that they leave to the opponent."""

    seen: Seen
    flip: int
    """The row after flipping an unknown tile."""
    take: tuple[tuple[int, int], ...] = ()
    """The value of each seen tile, and the row after flipping it."""
    double: tuple[int, ...] = ()
    """The rows after a Quantum Flip of two unknown tiles, by the value left face down; () if not allowed."""
    mixed: tuple[int, ...] = ()
    """The rows after a Quantum Flip of an unknown tile and the seen one, in the same form."""


class Abstraction:
    """The rows of the abstraction for one bag and target. Boards of any shape share it."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.values, self.copies, self.target = rules.values, rules.copies, rules.target
        self.places = Places(self.values, self.copies, self.target)
        faces = range(1, self.values + 1)
        none: list[Seen] = [seen for size in range(3) for seen in combinations_with_replacement(faces, size)]
        # Rows with a fourth unknown neighbour come last and are not stored: no match reaches them.
        one = [(0, 0), *((s, near) for near in range(MAX_NEAR + 2) for s in faces)]
        stored = 1 + self.values * (MAX_NEAR + 1)
        names: list[tuple[str, Any]] = [
            *(("none", seen) for seen in none),
            *((kind, key) for kind in ("mine", "theirs") for key in one[:stored]),
            ("high", ()),
            ("low", ()),
            *((kind, key) for kind in ("mine", "theirs") for key in one[stored:]),
        ]
        self.names = names
        self.index = {name: i for i, name in enumerate(names)}
        self.rows = [self._make_row(kind, key) for kind, key in names]
        self.turns = [list_turn(row, self.values) for row in self.rows]
        self.stored_rows = len(names) - 2 * self.values

    def _make_row(self, kind: str, key: Any) -> Row:
        faces = range(1, self.values + 1)
        none, index = self.none, self.index
        if kind == "none":
            rest = {s: none(tuple(x for i, x in enumerate(key) if i != key.index(s))) for s in key}
            return Row(key, none(key), tuple(sorted(rest.items())))
        if kind in ("high", "low"):
            near = 0 if kind == "high" else MAX_NEAR
            other = index["low" if kind == "high" else "high", ()]
            return Row((), other, double=tuple(index["mine", (left, near)] for left in faces))
        s, near = key
        seen = (s,) if s else ()
        if kind == "theirs":
            take = ((s, index["mine", (0, 0)]),) if s else ()
            return Row(seen, index["mine", (s, max(near - 1, 0))], take)
        return Row(
            seen,
            index["theirs", key],
            ((s, index["theirs", (0, 0)]),) if s else (),
            tuple(none((*seen, left)) for left in faces),
            tuple(none((left,)) for left in faces) if near else (),
        )

    def none(self, seen: Seen) -> int:
        """Return the row without Quantum Flips and with these values seen."""
        return self.index["none", tuple(sorted(seen))]

    def has_quantum(self, row: int, mover: bool) -> bool:
        """Return whether the mover (or the opponent) has the Quantum Flip in `row`."""
        kind = self.names[row][0]
        return kind in ("high", "low") or kind == ("mine" if mover else "theirs")

    def drop_quantum(self, row: int, mover: bool) -> int:
        """Return `row` without the Quantum Flip of the mover (or the opponent)."""
        if self.names[row][0] in ("high", "low"):
            return self.index["theirs" if mover else "mine", (0, 0)]
        return self.none(self.rows[row].seen)


BEGINS, TIMES, FIRST_VALUE, SECOND_VALUE, LEAF, OTHER_LEAF = range(6)


class Turn(NamedTuple):
    """The possible results of a turn."""

    leaves: tuple[tuple[int, int], ...]
    """Each value that may be scored, and the row that is then left to the opponent."""
    terms: tuple[tuple[int, ...], ...]
    """The chance outcomes of each move, one after the other.

    A term says whether it BEGINS a move; its weight, which is TIMES the number of unknown tiles of the
    FIRST_VALUE (0: none is drawn) and then of the SECOND_VALUE; the LEAF that follows; and the OTHER_LEAF to
    choose from, or -1.
    """


def list_turn(row: Row, values: int) -> Turn:
    """Return the results of a turn in `row`: a flip, each seen tile, and both kinds of Quantum Flip."""
    faces = range(1, values + 1)
    leaves: list[tuple[int, int]] = []

    def add_leaf(value: int, next_row: int) -> int:
        leaves.append((value, next_row))
        return len(leaves) - 1

    moves = [[(1, v, 0, add_leaf(v, row.flip), -1) for v in faces]]
    moves += [[(1, 0, 0, add_leaf(v, rest), -1)] for v, rest in row.take]
    if row.double:
        leaf = {(a, b): add_leaf(a, row.double[b - 1]) for a in faces for b in faces}
        pairs = [(a, b) for a in faces for b in faces if a <= b]
        moves.append([(1 + (a < b), a, b, leaf[a, b], leaf[b, a] if a < b else -1) for a, b in pairs])
    if row.mixed:
        s = row.seen[0]
        moves.append([(1, v, 0, add_leaf(v, row.mixed[s - 1]), add_leaf(s, row.mixed[v - 1])) for v in faces])
    return Turn(tuple(leaves), tuple((int(not i), *term) for move in moves for i, term in enumerate(move)))


def evaluate_turn(
    terms: Any, bag: Sequence[Any], gains: Sequence[Any], combine: Callable[[Any, Any], Any]
) -> Any:
    """Return the value of a turn to the mover, with `bag[v - 1]` unknown tiles of each value v.

    `gains` are the values of its leaves. All numbers may be arrays. `combine` is the maximum, or the sum for
    a mixed policy. So one function serves players, compiled code, layers of the table and best responses.
    """
    best = total = 0.0
    weights = 0
    for term in terms:
        if term[TIMES] == 0:  # padding of an array in compiled code
            break
        if term[BEGINS]:
            best = combine(best, total / (weights + (weights == 0)))
            total = 0.0
            weights = 0
        weight = term[TIMES]
        if term[FIRST_VALUE]:
            weight = weight * bag[term[FIRST_VALUE] - 1]
        if term[SECOND_VALUE]:
            weight = weight * (bag[term[SECOND_VALUE] - 1] - (term[FIRST_VALUE] == term[SECOND_VALUE]))
        gain = gains[term[LEAF]]
        if term[OTHER_LEAF] >= 0:
            gain = combine(gain, gains[term[OTHER_LEAF]])
        total = total + weight * gain
        weights = weights + weight
    return combine(best, total / (weights + (weights == 0)))


class Places:
    """Codes for sets of flipped tiles, and the place of each (code, mover's score) in a stored row.

    Each turn flips one tile. The table stores only states with an even number of flipped tiles; the others
    are one backup away.
    """

    def __init__(self, values: int, copies: int, target: int) -> None:
        points = 2 * (target - 1)  # with more points, a player has reached the target
        self.unit = [prod(min(copies, points // v) + 1 for v in range(1, i)) for i in range(1, values + 1)]
        self.flipped: dict[int, tuple[int, ...]] = {}
        self.points: dict[int, int] = {}
        self.layer: dict[int, int] = {}
        self.start: dict[int, int] = {}
        """Per code: the start of its scores in a row, minus its lowest score. Add the mover's score."""
        self.size = 0
        flipped = list_counts(values, copies, points)
        if len(flipped) > MAX_FLIPPED:
            raise DuelsError(
                f"flip with {copies} tiles each of 1 to {values} and target {target} is too large to solve: "
                f"it has more than {MAX_FLIPPED:,} combinations of flipped tiles."
            )
        for counts in sorted(flipped, key=sum):
            points = sum(v * count for v, count in enumerate(counts, 1))
            code = sum(unit * count for unit, count in zip(self.unit, counts, strict=True))
            self.flipped[code] = counts
            self.points[code] = points
            self.layer[code] = sum(counts)
            if sum(counts) % 2 == 0:
                low, high = self.find_score_range(points, target)
                self.start[code] = self.size - low
                self.size += high - low + 1

    @staticmethod
    def find_score_range(points: int, target: int) -> tuple[int, int]:
        """Return the lowest and highest score of a player while both share `points` and play on."""
        return max(0, points - target + 1), min(points, target - 1)

    def iter_layers(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the codes by number of flipped tiles, the largest number first."""
        for layer in range(max(self.layer.values()), -1, -1):
            yield layer, [code for code, count in self.layer.items() if count == layer]


def list_counts(values: int, copies: int, points: int) -> list[tuple[int, ...]]:
    """Return the possible numbers of flipped tiles of each value, for at most `points` points, in order.

    A list that is too long to be solved is cut off.
    """
    cases: list[tuple[tuple[int, ...], int]] = [((), points)]
    for v in range(1, values + 1):
        cases = [
            ((*counts, count), points_left - v * count)
            for counts, points_left in cases[: MAX_FLIPPED + 1]
            for count in range(min(copies, points_left // v) + 1)
        ]
    return [counts for counts, _ in cases]
