"""What the best opponent wins against a policy that does not look at the board: proven bounds, on arrays.

The responder knows the whole board, the policy only a `Summary` of it. Both always find two unseen neighbours
for their Quantum Flip (fact 3 in `bounds.py`), so all that the board can decide is whether a seen tile has an
unseen neighbour: the upper bound leaves that to the responder, the lower bound to its enemy.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.flip.abstraction import Abstraction, Places, Row
from duels.games.flip.board_blind import FLIP, QUANTUM, BoardBlind, Decides, Summary, odds_of
from duels.games.flip.bounds import Grid, most_turns
from duels.games.flip.rules import QuantumTiles
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
    shape = Grid(rules.side).shape((1 << rules.side**2) - 1, ())
    abstraction = Abstraction(rules)
    if any(shape.sure(mover, True) < most_turns(abstraction, 0, 0, mover) for mover in (True, False)):
        raise DuelsError(f"{rules} is too small a board for a Quantum Flip that is always possible.")


class _Layer:
    """The positions with as many tiles flipped: a column for each (what is flipped, mover's score)."""

    def __init__(self, places: Places, target: int, codes: list[int]) -> None:
        import numpy as np

        spans = [places.scores(places.points[code], target) for code in codes]
        width = np.array([high - low + 1 for low, high in spans])
        self.code = np.repeat(codes, width)
        self.score = np.concatenate([np.arange(low, high + 1) for low, high in spans])
        self.other = np.repeat([places.points[c] for c in codes], width) - self.score
        self.flipped = np.array([places.flipped[c] for c in codes]).T.repeat(width, axis=1)
        first = np.cumsum(width) - width - [low for low, _ in spans]
        self.first = dict(zip(codes, first.tolist(), strict=True))


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

        places, target = self._lumped.places, self._lumped.target
        after: list[Numbers | None] = [None, None]
        following: _Layer | None = None
        for number, codes in places.layers():
            layer = _Layer(places, target, codes)
            responds = (number % 2 == 0) == (self._responder is Seat.ONE)
            leaves = [self._leaving(layer, following, values, responds) for values in after]
            rows = [self._row(name, responds) for name in self._names]
            now = [np.zeros((len(rows), len(layer.code))) for _ in leaves]
            for place, (name, row) in enumerate(zip(self._names, rows, strict=True)):
                bag = [self._lumped.copies - layer.flipped[v - 1] - row.seen.count(v) for v in self._faces]
                possible = np.min(bag, axis=0) >= 0
                ways = (
                    self._chosen(row, bag, leaves) if responds else self._met(name, row, bag, layer, leaves)
                )
                for values, found in zip(now, ways, strict=True):
                    values[place] = np.where(possible, found, 0)
            after, following = [*now], layer
        start = self._number[BOTH, ()]
        return Bounds(*(float(values[start, 0]) for values in now))

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

    def _leaving(
        self, layer: _Layer, following: _Layer | None, values: Numbers | None, responds: bool
    ) -> Any:
        """[value - 1][row] what the responder wins once the mover has scored that value and left that row."""
        import numpy as np

        places, target = self._lumped.places, self._lumped.target
        won, worth = float(responds), []
        for v in self._faces:
            score = layer.score + v
            gain = np.zeros((len(self._names), len(score)))
            if following is not None and values is not None:
                codes = (layer.code + places.unit[v - 1]).tolist()
                first = np.array([following.first.get(code, 0) for code in codes])
                gain = values.take(np.where(score < target, first + layer.other, 0), axis=1, mode="clip")
            gain[:, score > target] = 1 - won
            gain[:, score == target] = won
            worth.append(gain)
        return worth

    def _chosen(self, row: Row, bag: list[Any], leaves: list[Any]) -> Iterator[Any]:
        """The responder's best, without and with an unseen neighbour of the seen tile."""
        import numpy as np

        for leave, allowed in zip(leaves, (replace(row, mixed=()), row), strict=True):

            def left(v: int, behind: int, leave: Any = leave) -> Any:
                return leave[v - 1][behind]

            yield self._lumped.worth(allowed, bag, left, np.maximum)

    # -- the policy's moves ------------------------------------------------------------------------

    def _met(
        self, name: Name, row: Row, bag: list[Any], layer: _Layer, leaves: list[Any]
    ) -> tuple[Numbers, Numbers]:
        """What the policy leaves the responder, at least and at most."""
        import numpy as np

        low, high = self._expected(name, row, bag, layer, leaves, beside=False)
        if row.mixed:
            other_low, other_high = self._expected(name, row, bag, layer, leaves, beside=True)
            low, high = np.minimum(low, other_low), np.maximum(high, other_high)
        return low, high

    def _expected(
        self, name: Name, row: Row, bag: list[Any], layer: _Layer, leaves: list[Any], beside: bool
    ) -> list[Numbers]:
        # `Abstraction.worth` once more, with a mixture for its maximum. A chooser would not serve both: here
        # moves have names to be asked for, and each pair of values shown is a question of its own.
        import numpy as np

        mixture = _Mixture(self._decides, name, row, bag, layer, beside)
        tiles = np.maximum(sum(bag), 1)
        found = []
        for leave in leaves:
            total = mixture[FLIP] * sum(bag[v - 1] * leave[v - 1][row.flip] for v in self._faces) / tiles
            for v, rest in row.take:
                total = total + mixture[f"take {v}"] * leave[v - 1][rest]
            if row.double:
                pairs = 0.0
                for a in self._faces:
                    pairs = pairs + bag[a - 1] * (bag[a - 1] - 1) * leave[a - 1][row.double[a - 1]]
                    for b in range(a + 1, self._faces.stop):
                        keep = mixture.keeps(QUANTUM, a, b)
                        kept = keep * leave[a - 1][row.double[b - 1]]
                        kept = kept + (1 - keep) * leave[b - 1][row.double[a - 1]]
                        pairs = pairs + 2 * bag[a - 1] * bag[b - 1] * kept
                total = total + mixture[QUANTUM] * pairs / (tiles * np.maximum(tiles - 1, 1))
            if row.mixed and beside:
                s = row.seen[0]
                shown = 0.0
                for v in self._faces:
                    keep = mixture.keeps(f"{QUANTUM} {s}", v, s)
                    kept = keep * leave[v - 1][row.mixed[s - 1]] + (1 - keep) * leave[s - 1][row.mixed[v - 1]]
                    shown = shown + bag[v - 1] * kept
                total = total + mixture[f"{QUANTUM} {s}"] * shown / tiles
            found.append(total)
        return found


class _Mixture:
    """A policy's probabilities in every column of a layer, for one row."""

    def __init__(
        self, decides: Decides, name: Name, row: Row, bag: list[Any], layer: _Layer, beside: bool
    ) -> None:
        self._decides = decides
        mine, theirs = name[0] in (POLICY, BOTH), name[0] in (RESPONDER, BOTH)
        self._at = Summary(layer.score, layer.other, tuple(bag), row.seen, mine, theirs, beside)
        self._odds = self._ask(self._at)
        self._kept: dict[tuple[str, int, int], Any] = {}

    def __getitem__(self, move: str) -> Any:
        return self._odds.get(move, 0.0)

    def keeps(self, move: str, value: int, other: int) -> Any:
        """How likely `value` is kept of the two that `move` shows."""
        if move not in self._odds:
            return 0.0
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
