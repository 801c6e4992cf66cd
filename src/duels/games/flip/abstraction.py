"""The abstraction of flip: scores, bag, seen tiles and unused Quantum Flips, without the board.

A seen tile was shown by a Quantum Flip and is face down again. The position of an unknown tile matters only
for a later Quantum Flip. The abstract game always allows a Quantum Flip on two unknown tiles, and on the seen
tile while it has unknown neighbours. On a real board there may be no such pair; `bounds.py` proves bounds for
this case.

The key of a table row says who has an unused Quantum Flip and which tiles are seen:
- nobody: up to two tiles are seen. The board does not matter, so values are exact.
- mover, opponent: one player (the holder) has one. No tile is seen, or one with `near` unknown neighbours.
  The holder's opponent flips one of these neighbours on every turn, and the holder never does. This is
  optimal: all unknown tiles have the same value to flip, and more neighbours can only help the holder.
- high, low: both players have one. The player who uses it first chooses the pair, and so `near`: 0 is best
  for that player, MAX_NEAR is worst. `high` assumes the best case for the mover and the worst for the
  opponent, `low` the reverse. The values of every board lie between the two.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any, NamedTuple

from duels.core.errors import DuelsError
from duels.games.flip.rules import QuantumTiles

MAX_FLIPPED = 35_000  # combinations of flipped tiles: ten seconds and 700 MB; the book's game has 4,577
SCALE = 65535  # values are stored in sixteen bits
ROUNDING = 0.5 / SCALE
"""The largest difference between a stored value and the solved one. A backup does not increase it."""
MAX_NEAR = 3  # a tile has four neighbours, and the Quantum Flip that showed it has flipped one
Seen = tuple[int, ...]
"""The values of the seen tiles."""


@dataclass(frozen=True, slots=True)
class Row:
    """The mover's options: for each result, the number of the row in which the opponent moves next."""

    seen: Seen
    flip: int
    """The row after flipping an unknown tile."""
    take: tuple[tuple[int, int], ...] = ()
    """Pairs of a seen tile's value and the row after flipping that tile."""
    double: tuple[int, ...] = ()
    """The row after a Quantum Flip of two unknown tiles, for each value turned back; () if not allowed."""
    mixed: tuple[int, ...] = ()
    """The row after a Quantum Flip of an unknown tile and the seen one, for each value turned back."""


class Abstraction:
    """The rows of the abstraction for one bag and target. Boards of any shape share it."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.values, self.copies, self.target = rules.values, rules.copies, rules.target
        self.layout = Layout(self.values, self.copies, self.target)
        values = range(1, self.values + 1)
        seen_values = [seen for size in range(3) for seen in combinations_with_replacement(values, size)]
        # Rows with a fourth unknown neighbour come last and are not stored: no match reaches them.
        seen_and_near = [(0, 0), *((v, near) for near in range(MAX_NEAR + 2) for v in values)]
        stored = 1 + self.values * (MAX_NEAR + 1)
        self.row_keys: list[tuple[str, Any]] = [
            *(("nobody", seen) for seen in seen_values),
            *((holder, key) for holder in ("mover", "opponent") for key in seen_and_near[:stored]),
            ("high", ()),
            ("low", ()),
            *((holder, key) for holder in ("mover", "opponent") for key in seen_and_near[stored:]),
        ]
        self.row_index = {key: i for i, key in enumerate(self.row_keys)}
        self.rows = [self._make_row(holder, key) for holder, key in self.row_keys]
        self.turns = [list_turn(row, self.values) for row in self.rows]
        self.stored_rows = len(self.row_keys) - 2 * self.values

    def _make_row(self, holder: str, key: Any) -> Row:
        values = range(1, self.values + 1)
        get_row, index = self.get_row_without_quantum, self.row_index
        if holder == "nobody":
            take = {v: get_row(tuple(x for i, x in enumerate(key) if i != key.index(v))) for v in key}
            return Row(key, get_row(key), tuple(sorted(take.items())))
        if holder in ("high", "low"):
            near = 0 if holder == "high" else MAX_NEAR
            flip = index["low" if holder == "high" else "high", ()]
            return Row((), flip, double=tuple(index["mover", (v, near)] for v in values))
        value, near = key
        seen = (value,) if value else ()
        if holder == "opponent":
            next_row = index["mover", (value, max(near - 1, 0))]
            return Row(seen, next_row, ((value, index["mover", (0, 0)]),) if value else ())
        return Row(
            seen,
            index["opponent", key],
            ((value, index["opponent", (0, 0)]),) if value else (),
            tuple(get_row((*seen, v)) for v in values),
            tuple(get_row((v,)) for v in values) if near else (),
        )

    def get_row_without_quantum(self, seen: Seen) -> int:
        """Return the number of the row in which nobody has a Quantum Flip and these values are seen."""
        return self.row_index["nobody", tuple(sorted(seen))]

    def has_quantum(self, row: int, mover: bool) -> bool:
        """Return whether the mover (the opponent if `mover` is false) has a Quantum Flip in `row`."""
        holder = self.row_keys[row][0]
        return holder in ("high", "low") or holder == ("mover" if mover else "opponent")

    def drop_quantum(self, row: int, mover: bool) -> int:
        """Return `row` without the Quantum Flip of the mover (of the opponent if `mover` is false)."""
        if self.row_keys[row][0] in ("high", "low"):
            return self.row_index["opponent" if mover else "mover", (0, 0)]
        return self.get_row_without_quantum(self.rows[row].seen)

    def iter_stored_states(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the row, code, score and table index of every stored state, last layer first."""
        layout = self.layout
        for (code, start), i in product(reversed(layout.starts.items()), range(self.stored_rows)):
            seen, flipped = self.rows[i].seen, layout.flipped[code]
            if all(flipped[v - 1] + seen.count(v) <= self.copies for v in seen):
                low, high = layout.find_score_range(layout.points[code], self.target)
                for score in range(low, high + 1):
                    yield i, code, score, i * layout.row_size + start + score


BEGINS, TIMES, FIRST_VALUE, SECOND_VALUE, LEAF, OTHER_LEAF = range(6)


class Turn(NamedTuple):
    """The possible results of a turn."""

    leaves: tuple[tuple[int, int], ...]
    """Pairs of a value that the mover can score and the row in which the opponent then moves."""
    terms: tuple[tuple[int, ...], ...]
    """The chance outcomes of each move, one move after the other.

    BEGINS is 1 in the first term of a move. The weight of a term is TIMES the number of unknown tiles of
    FIRST_VALUE (0: none is drawn), times that of SECOND_VALUE. The outcome leads to LEAF. If OTHER_LEAF is
    not -1, the mover chooses between the two.
    """


def list_turn(row: Row, values: int) -> Turn:
    """Return the results of a turn in `row`: a flip, each seen tile, and both kinds of Quantum Flip."""
    all_values = range(1, values + 1)
    leaves: list[tuple[int, int]] = []

    def add_leaf(value: int, next_row: int) -> int:
        leaves.append((value, next_row))
        return len(leaves) - 1

    moves = [[(1, v, 0, add_leaf(v, row.flip), -1) for v in all_values]]
    moves += [[(1, 0, 0, add_leaf(v, next_row), -1)] for v, next_row in row.take]
    if row.double:
        leaf = {(a, b): add_leaf(a, row.double[b - 1]) for a in all_values for b in all_values}
        pairs = combinations_with_replacement(all_values, 2)
        moves.append([(1 + (a < b), a, b, leaf[a, b], leaf[b, a] if a < b else -1) for a, b in pairs])
    if row.mixed:
        s, mixed = row.seen[0], row.mixed
        moves.append([(1, v, 0, add_leaf(v, mixed[s - 1]), add_leaf(s, mixed[v - 1])) for v in all_values])
    return Turn(tuple(leaves), tuple((int(not i), *term) for move in moves for i, term in enumerate(move)))


def evaluate_turn(
    terms: Any, bag: Sequence[Any], gains: Sequence[Any], combine: Callable[[Any, Any], Any]
) -> Any:
    """Return the value of a turn to the mover, with `bag[v - 1]` unknown tiles of each value v.

    `gains` are the mover's values at the turn's leaves. Numbers may be arrays. `combine` is the maximum, or
    the sum for a mixed policy. Players, compiled code, the table and best responses all use this function.
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


class Layout:
    """Codes for sets of flipped tiles. In a stored row, each code and score of the mover has an index.

    Each turn flips one tile. The table stores only states with an even number of flipped tiles. The values of
    the other states follow from them by one step of backward induction.
    """

    def __init__(self, values: int, copies: int, target: int) -> None:
        points = 2 * (target - 1)  # with more points, a player has reached the target
        self.units = [prod(min(copies, points // v) + 1 for v in range(1, i)) for i in range(1, values + 1)]
        self.flipped: dict[int, tuple[int, ...]] = {}
        self.points: dict[int, int] = {}
        self.layers: dict[int, int] = {}
        self.starts: dict[int, int] = {}
        """For each code, the index of score 0 in a stored row. It may be negative: add the mover's score."""
        self.row_size = 0
        flipped = list_counts(values, copies, points)
        if len(flipped) > MAX_FLIPPED:
            raise DuelsError(
                f"flip with {copies} tiles each of 1 to {values} and target {target} is too large to solve: "
                f"it has more than {MAX_FLIPPED:,} combinations of flipped tiles."
            )
        for counts in sorted(flipped, key=sum):
            points = sum(v * count for v, count in enumerate(counts, 1))
            code = sum(unit * count for unit, count in zip(self.units, counts, strict=True))
            self.flipped[code] = counts
            self.points[code] = points
            self.layers[code] = sum(counts)
            if sum(counts) % 2 == 0:
                low, high = self.find_score_range(points, target)
                self.starts[code] = self.row_size - low
                self.row_size += high - low + 1

    @staticmethod
    def find_score_range(points: int, target: int) -> tuple[int, int]:
        """Return a player's lowest and highest score if both total `points` and the match is not over."""
        return max(0, points - target + 1), min(points, target - 1)

    def iter_layers(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the codes by number of flipped tiles, the largest number first."""
        for layer in range(max(self.layers.values()), -1, -1):
            yield layer, [code for code, count in self.layers.items() if count == layer]


def list_counts(values: int, copies: int, points: int) -> list[tuple[int, ...]]:
    """Return the possible numbers of flipped tiles of each value, in order, for at most `points` points.

    If there are more than MAX_FLIPPED combinations, too many to solve, the list is incomplete.
    """
    cases: list[tuple[tuple[int, ...], int]] = [((), points)]
    for v in range(1, values + 1):
        cases = [
            ((*counts, count), points_left - v * count)
            for counts, points_left in cases[: MAX_FLIPPED + 1]
            for count in range(min(copies, points_left // v) + 1)
        ]
    return [counts for counts, _ in cases]
