"""What the best opponent wins against a policy that does not look at the board: proven bounds, on arrays.

The responder knows the whole board, the policy only a `Summary` of it. Both always find two unseen neighbours
for their Quantum Flip (fact 3 in `bounds.py`), so all that the board can decide is whether a seen tile has an
unseen neighbour: the upper bound leaves that to the responder, the lower bound to its enemy.
"""

from array import array
from dataclasses import replace
from itertools import combinations_with_replacement
from operator import add
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.flip.abstraction import Abstraction, Row, evaluate_turn, list_turn
from duels.games.flip.board_blind import FLIP, QUANTUM, BoardBlind, Decides, Summary, odds_of
from duels.games.flip.grid import most_pairs, sure_turns
from duels.games.flip.rules import QuantumTiles
from duels.games.flip.table import Columns
from duels.games.flip.values import make_tables, most_turns
from duels.solving.bounds import Bounds

Numbers = Any
"""A NumPy array, a number a column; NumPy is imported where it is used, as everywhere in a game's room."""
Name = tuple[str, tuple[int, ...]]
"""Who still has the Quantum Flip, by role, and the values that were shown and are face down."""
RESPONDER, POLICY, BOTH, NOBODY = "responder", "policy", "both", "nobody"

KIND = "a `BoardBlind` policy (duels.games.flip.board_blind)"


def response_bounds(rules: QuantumTiles, policy: object) -> dict[Seat, Bounds] | None:
    """What the best responder wins, by the policy's seat; None for a policy that looks at the board."""
    if not isinstance(policy, BoardBlind):
        return None
    _refuse_small_boards(rules)
    return {seat: _Response(rules, policy.decides, seat.other).bounds() for seat in Seat}


def _refuse_small_boards(rules: QuantumTiles) -> None:
    """Fact 3 must hold from the empty board to the end of the longest game, for both seats."""
    tables = make_tables(Abstraction(rules), array("H"), rules.side)
    pairs, spare = most_pairs(tables.grid, (1 << rules.side**2) - 1), rules.side % 2
    if any(
        sure_turns(pairs, spare, mover, True) < most_turns(tables, 0, 0, mover) for mover in (True, False)
    ):
        raise DuelsError(f"{rules} is too small a board for a Quantum Flip that is always possible.")


class _Response:
    """The best responder against a policy in one seat."""

    def __init__(self, rules: QuantumTiles, decides: Decides, responder: Seat) -> None:
        self._lumped = Abstraction(rules)
        self._decides = decides
        self._responder = responder
        self._faces = range(1, rules.values + 1)
        none = [seen for size in range(3) for seen in combinations_with_replacement(self._faces, size)]
        one: list[tuple[int, ...]] = [(), *((s,) for s in self._faces)]
        self._names: list[Name] = [
            *((NOBODY, seen) for seen in none),
            *((kind, seen) for kind in (RESPONDER, POLICY) for seen in one),
            (BOTH, ()),
        ]
        self._number = {name: number for number, name in enumerate(self._names)}

    def bounds(self) -> Bounds:
        """What the responder wins from the empty board."""
        import numpy as np

        after = [np.zeros((len(self._names), 1)) for _ in range(2)]
        later = Columns(self._lumped, [])
        for number, codes in self._lumped.places.layers():
            layer = Columns(self._lumped, codes)
            responds = (number % 2 == 0) == (self._responder is Seat.ONE)
            worths = [layer.follow(later, values, float(responds)) for values in after]
            now = [np.zeros((len(self._names), len(layer.code))) for _ in range(2)]
            for place, name in enumerate(self._names):
                row = self._row(name, responds)
                ways = self._best(row, layer, worths) if responds else self._met(name, row, layer, worths)
                possible = np.min(layer.bag(row), axis=0) >= 0
                for values, found in zip(now, ways, strict=True):
                    values[place] = np.where(possible, found, 0)
            after, later = now, layer
        start = self._number[BOTH, ()]
        return Bounds(*(float(values[start, 0]) for values in after))

    def _row(self, name: Name, responds: bool) -> Row:
        """What the mover may do, and what it leaves."""
        holder, seen = name
        at = self._number
        rest = {s: at[holder, tuple(x for i, x in enumerate(seen) if i != seen.index(s))] for s in seen}
        row = Row(seen, at[name], tuple(sorted(rest.items())))
        if holder == BOTH:
            left_to = POLICY if responds else RESPONDER
            return replace(row, double=tuple(at[left_to, (left,)] for left in self._faces))
        if holder != (RESPONDER if responds else POLICY):
            return row
        double = tuple(at[NOBODY, tuple(sorted((*seen, left)))] for left in self._faces)
        mixed = tuple(at[NOBODY, (left,)] for left in self._faces) if seen else ()
        return replace(row, double=double, mixed=mixed)

    def _best(self, row: Row, layer: Columns, worths: list[Any]) -> list[Numbers]:
        """The responder's best, without and with an unseen neighbour of the seen tile."""
        import numpy as np

        found = []
        for worth, allowed in zip(worths, (replace(row, mixed=()), row), strict=True):
            leaves, terms = list_turn(allowed, self._faces.stop - 1)
            gains = [worth[v - 1][left] for v, left in leaves]
            found.append(evaluate_turn(terms, layer.bag(row), gains, np.maximum))
        return found

    # -- the policy's moves ------------------------------------------------------------------------

    def _met(self, name: Name, row: Row, layer: Columns, worths: list[Any]) -> tuple[Numbers, Numbers]:
        """What the policy leaves the responder, at least and at most."""
        import numpy as np

        low, high = self._expected(name, replace(row, mixed=()), layer, worths)
        if row.mixed:
            other_low, other_high = self._expected(name, row, layer, worths)
            low, high = np.minimum(low, other_low), np.maximum(high, other_high)
        return low, high

    def _expected(self, name: Name, row: Row, layer: Columns, worths: list[Any]) -> list[Numbers]:
        """What it leaves on average, where a seen tile has an unseen neighbour if `row` says so."""
        bag, (leaves, terms) = layer.bag(row), list_turn(row, self._faces.stop - 1)
        odds = _Mixture(self._decides, name, row, bag, layer).list_odds(row)
        return [
            # Each leaf counts as often as the policy comes to it, so that the best is the sum.
            evaluate_turn(
                terms, bag, [p * worth[v - 1][left] for p, (v, left) in zip(odds, leaves, strict=True)], add
            )
            for worth in worths
        ]


class _Mixture:
    """A policy's probabilities in every column of a layer, for one row."""

    def __init__(self, decides: Decides, name: Name, row: Row, bag: list[Any], layer: Columns) -> None:
        self._decides = decides
        mine, theirs = name[0] in (POLICY, BOTH), name[0] in (RESPONDER, BOTH)
        self._at = Summary(layer.score, layer.other, tuple(bag), row.seen, mine, theirs, bool(row.mixed))
        self._odds = self._ask(self._at)
        self._kept: dict[tuple[str, int, int], Any] = {}

    def list_odds(self, row: Row) -> list[Any]:
        """How often the policy comes to each leaf of a turn in `row`, as far as it can decide that."""
        faces, odds = range(1, len(self._at.bag) + 1), self._odds
        listed = [odds.get(FLIP, 0.0) for _ in faces]
        listed += [odds.get(f"take {v}", 0.0) for v, _ in row.take]
        if row.double:
            listed += [odds.get(QUANTUM, 0.0) * self._keeps(QUANTUM, a, b) for a in faces for b in faces]
        if row.mixed:
            s = row.seen[0]
            move = f"{QUANTUM} {s}"
            for v in faces:
                keep = self._keeps(move, v, s)
                listed += [odds.get(move, 0.0) * keep, odds.get(move, 0.0) * (1 - keep)]
        return listed

    def _keeps(self, move: str, value: int, other: int) -> Any:
        """How likely `value` is kept of the two that `move` shows."""
        if move not in self._odds or value == other:
            return 1.0
        if move == QUANTUM and value > other:
            return 1 - self._keeps(move, other, value)
        key = (move, value, other)
        if key not in self._kept:
            drawn = (value, other) if move == QUANTUM else (value,)
            bag = tuple(count - drawn.count(v) for v, count in enumerate(self._at.bag, 1))
            seen = self._at.seen if move == QUANTUM else ()
            shown = self._at._replace(bag=bag, seen=seen, beside=False, shown=tuple(sorted((value, other))))
            self._kept[key] = self._ask(shown).get(f"keep {value}", 0.0)
        return self._kept[key]

    def _ask(self, summary: Summary) -> dict[str, Numbers]:
        """The policy's answers where the position exists."""
        import numpy as np

        real = np.min(summary.bag, axis=0) >= 0
        if not real.any():
            return {}
        mine, theirs, bag = (
            summary.mine[real],
            summary.theirs[real],
            tuple(left[real] for left in summary.bag),
        )
        odds = odds_of(self._decides, summary._replace(mine=mine, theirs=theirs, bag=bag))
        answers = {move: np.zeros(len(real)) for move in odds}
        for move, p in odds.items():
            answers[move][real] = p
        return answers
