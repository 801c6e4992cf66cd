"""Bounds on the best response to a policy that does not look at the board, computed on arrays.

The responder knows the whole board; the policy knows only a `Summary` of it. Both players always find two
unseen neighbours for their Quantum Flip (fact 3 in `bounds.py`). So the board matters only in one respect:
whether a seen tile has an unseen neighbour. The upper bound assumes what is better for the responder, and the
lower bound what is worse.
"""

from array import array
from dataclasses import replace
from itertools import combinations_with_replacement
from operator import add
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.flip.abstraction import Abstraction, Row, evaluate_turn, list_turn
from duels.games.flip.board_blind import FLIP, QUANTUM, BoardBlind, MovePolicy, Summary, get_odds
from duels.games.flip.grid import count_max_pairs, count_sure_turns
from duels.games.flip.rules import QuantumTiles
from duels.games.flip.table import Columns
from duels.games.flip.values import count_max_turns, make_tables
from duels.solving.oracle import Bounds

Numbers = Any
"""A NumPy array with one number per column. NumPy is imported only in functions that use it."""
RowKey = tuple[str, tuple[int, ...]]
"""The holder of the Quantum Flip, and the values of the seen tiles that are face down."""
RESPONDER, POLICY, BOTH, NOBODY = "responder", "policy", "both", "nobody"

KIND = "a `BoardBlind` policy (duels.games.flip.board_blind)"


def response_bounds(rules: QuantumTiles, policy: object) -> dict[Seat, Bounds] | None:
    """Return bounds on the best response for each seat of the policy, or None if it is not `BoardBlind`."""
    if not isinstance(policy, BoardBlind):
        return None
    _check_board_size(rules)
    return {seat: _Response(rules, policy.move_policy, seat.other).bounds() for seat in Seat}


def _check_board_size(rules: QuantumTiles) -> None:
    """Raise DuelsError unless both seats surely find a pair until the end (fact 3 in `bounds.py`)."""
    tables = make_tables(Abstraction(rules), array("H"), rules.side)
    pairs, spare = count_max_pairs(tables.grid, (1 << rules.side**2) - 1), rules.side % 2
    if any(
        count_sure_turns(pairs, spare, mover, True) < count_max_turns(tables, 0, 0, mover)
        for mover in (True, False)
    ):
        raise DuelsError(f"{rules} is too small: a Quantum Flip is not always possible.")


class _Response:
    """The best response to a policy in one seat."""

    def __init__(self, rules: QuantumTiles, move_policy: MovePolicy, responder: Seat) -> None:
        self._abstraction = Abstraction(rules)
        self._move_policy = move_policy
        self._responder = responder
        self._faces = range(1, rules.values + 1)
        none = [seen for size in range(3) for seen in combinations_with_replacement(self._faces, size)]
        one: list[tuple[int, ...]] = [(), *((s,) for s in self._faces)]
        self._row_keys: list[RowKey] = [
            *((NOBODY, seen) for seen in none),
            *((kind, seen) for kind in (RESPONDER, POLICY) for seen in one),
            (BOTH, ()),
        ]
        self._index = {key: i for i, key in enumerate(self._row_keys)}

    def bounds(self) -> Bounds:
        """Return bounds on the responder's chance to win from the empty board."""
        import numpy as np

        next_values = [np.zeros((len(self._row_keys), 1)) for _ in range(2)]
        next_layer = Columns(self._abstraction, [])
        for flipped, codes in self._abstraction.layout.iter_layers():
            layer = Columns(self._abstraction, codes)
            responds = (flipped % 2 == 0) == (self._responder is Seat.ONE)
            leaf_values = [layer.value_leaves(next_layer, values, float(responds)) for values in next_values]
            layer_values = [np.zeros((len(self._row_keys), len(layer.code))) for _ in range(2)]
            for index, key in enumerate(self._row_keys):
                row = self._make_row(key, responds)
                bounds = (
                    self._find_best(row, layer, leaf_values)
                    if responds
                    else self._bound_policy_turn(key, row, layer, leaf_values)
                )
                possible = np.min(layer.bag(row), axis=0) >= 0
                for values, bound in zip(layer_values, bounds, strict=True):
                    values[index] = np.where(possible, bound, 0)
            next_values, next_layer = layer_values, layer
        start = self._index[BOTH, ()]
        return Bounds(*(float(values[start, 0]) for values in next_values))

    def _make_row(self, key: RowKey, responds: bool) -> Row:
        holder, seen = key
        index = self._index
        rest = {s: index[holder, tuple(x for i, x in enumerate(seen) if i != seen.index(s))] for s in seen}
        row = Row(seen, index[key], tuple(sorted(rest.items())))
        if holder == BOTH:
            left_to = POLICY if responds else RESPONDER
            return replace(row, double=tuple(index[left_to, (left,)] for left in self._faces))
        if holder != (RESPONDER if responds else POLICY):
            return row
        double = tuple(index[NOBODY, tuple(sorted((*seen, left)))] for left in self._faces)
        mixed = tuple(index[NOBODY, (left,)] for left in self._faces) if seen else ()
        return replace(row, double=double, mixed=mixed)

    def _find_best(self, row: Row, layer: Columns, leaf_values: list[Any]) -> list[Numbers]:
        """Return the responder's best values if the seen tile has no unseen neighbour, and if it has one."""
        import numpy as np

        best = []
        for values_by_leaf, allowed in zip(leaf_values, (replace(row, mixed=()), row), strict=True):
            leaves, terms = list_turn(allowed, self._faces.stop - 1)
            gains = [values_by_leaf[v - 1][left] for v, left in leaves]
            best.append(evaluate_turn(terms, layer.bag(row), gains, np.maximum))
        return best

    def _bound_policy_turn(
        self, key: RowKey, row: Row, layer: Columns, leaf_values: list[Any]
    ) -> tuple[Numbers, Numbers]:
        """Return the lower and upper bounds that the policy leaves to the responder."""
        import numpy as np

        low, high = self._expect(key, replace(row, mixed=()), layer, leaf_values)
        if row.mixed:
            other_low, other_high = self._expect(key, row, layer, leaf_values)
            low, high = np.minimum(low, other_low), np.maximum(high, other_high)
        return low, high

    def _expect(self, key: RowKey, row: Row, layer: Columns, leaf_values: list[Any]) -> list[Numbers]:
        """Return the expected values of the policy's turn in `row`, for each array in `leaf_values`."""
        bag, (leaves, terms) = layer.bag(row), list_turn(row, self._faces.stop - 1)
        odds = _Mixture(self._move_policy, key, row, bag, layer).list_odds(row)
        return [
            # Leaves are weighted by the policy, so the value of a turn is a sum.
            evaluate_turn(
                terms,
                bag,
                [p * values_by_leaf[v - 1][left] for p, (v, left) in zip(odds, leaves, strict=True)],
                add,
            )
            for values_by_leaf in leaf_values
        ]


class _Mixture:
    """A policy's probabilities in every column of a layer, for one row."""

    def __init__(
        self, move_policy: MovePolicy, key: RowKey, row: Row, bag: list[Any], layer: Columns
    ) -> None:
        self._move_policy = move_policy
        my_quantum, their_quantum = key[0] in (POLICY, BOTH), key[0] in (RESPONDER, BOTH)
        self._summary = Summary(
            layer.score, layer.other, tuple(bag), row.seen, my_quantum, their_quantum, bool(row.mixed)
        )
        self._odds = self._query_policy(self._summary)
        self._keep_odds: dict[tuple[str, int, int], Any] = {}

    def list_odds(self, row: Row) -> list[Any]:
        """Return the policy's probability of choosing each leaf of a turn in `row`, given the draw."""
        faces, odds = range(1, len(self._summary.bag) + 1), self._odds
        leaf_odds = [odds.get(FLIP, 0.0) for _ in faces]
        leaf_odds += [odds.get(f"take {v}", 0.0) for v, _ in row.take]
        if row.double:
            leaf_odds += [
                odds.get(QUANTUM, 0.0) * self._get_keep_odds(QUANTUM, a, b) for a in faces for b in faces
            ]
        if row.mixed:
            s = row.seen[0]
            move = f"{QUANTUM} {s}"
            for v in faces:
                keep = self._get_keep_odds(move, v, s)
                leaf_odds += [odds.get(move, 0.0) * keep, odds.get(move, 0.0) * (1 - keep)]
        return leaf_odds

    def _get_keep_odds(self, move: str, value: int, other: int) -> Any:
        """Return the probability that the policy keeps `value`, not `other`, after `move` showed both."""
        if move not in self._odds or value == other:
            return 1.0
        if move == QUANTUM and value > other:
            return 1 - self._get_keep_odds(move, other, value)
        key = (move, value, other)
        if key not in self._keep_odds:
            drawn = (value, other) if move == QUANTUM else (value,)
            bag = tuple(count - drawn.count(v) for v, count in enumerate(self._summary.bag, 1))
            seen = self._summary.seen if move == QUANTUM else ()
            revealed = tuple(sorted((value, other)))
            choice = self._summary._replace(bag=bag, seen=seen, seen_has_neighbour=False, revealed=revealed)
            self._keep_odds[key] = self._query_policy(choice).get(f"keep {value}", 0.0)
        return self._keep_odds[key]

    def _query_policy(self, summary: Summary) -> dict[str, Numbers]:
        """Return the policy's probabilities in every column. They are 0 in impossible positions."""
        import numpy as np

        exists = np.min(summary.bag, axis=0) >= 0
        if not exists.any():
            return {}
        my_score, their_score = summary.my_score[exists], summary.their_score[exists]
        bag = tuple(count[exists] for count in summary.bag)
        odds = get_odds(
            self._move_policy, summary._replace(my_score=my_score, their_score=their_score, bag=bag)
        )
        answers = {move: np.zeros(len(exists)) for move in odds}
        for move, p in odds.items():
            answers[move][exists] = p
        return answers
