"""Short forms of hunt against a linear program, and the commands that use their oracle."""

from fractions import Fraction
from random import Random

import pytest

import duels
from duels.analysis.review import review
from duels.core.errors import TooLarge
from duels.core.match import Match
from duels.core.rules import Event, Seat
from duels.games.hunt.rules import QuantumHunt, State
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle

Sequence = tuple[tuple[Event, ...], object]
"""A seat's last information set and its action there; before the first decision, (() , None)."""
START: Sequence = ((), None)


class LinearProgram:
    """The sequence form of a game, listed from the rules without `duels.solving`."""

    def __init__(self, rules: QuantumHunt) -> None:
        self.rules = rules
        self.parents: dict[Seat, dict[tuple[Event, ...], Sequence]] = {seat: {} for seat in Seat}
        self.sequences: dict[Seat, dict[Sequence, int]] = {seat: {START: 0} for seat in Seat}
        self.payoffs: dict[tuple[int, int], float] = {}
        self._walk(rules.initial(), dict.fromkeys(Seat, ()), dict.fromkeys(Seat, START))

    def _walk(self, state: State, events: dict[Seat, tuple[Event, ...]], last: dict[Seat, Sequence]) -> None:
        outcome, actor = self.rules.outcome(state), self.rules.actor(state)
        if outcome:
            key = (self.sequences[Seat.ONE][last[Seat.ONE]], self.sequences[Seat.TWO][last[Seat.TWO]])
            self.payoffs[key] = self.payoffs.get(key, 0.0) + float(outcome.score(Seat.ONE))
            return
        assert isinstance(actor, Seat)
        self.parents[actor][events[actor]] = last[actor]
        for action in self.rules.actions(state):
            sequence = (events[actor], action)
            self.sequences[actor].setdefault(sequence, len(self.sequences[actor]))
            step = self.rules.apply(state, action)
            events_seen = {s: events[s] + tuple(e for e in step.events if s in e.seen_by) for s in Seat}
            self._walk(step.state, events_seen, {**last, actor: sequence})

    def solve(self) -> float:
        """Return Player 1's value: maximize the value that every reply of Player 2 leaves."""
        np, optimize = pytest.importorskip("numpy"), pytest.importorskip("scipy.optimize")
        sparse = pytest.importorskip("scipy.sparse")
        constraints = {seat: self._list_constraints(seat) for seat in Seat}
        sizes_one, sizes_two = (sizes for _, sizes in constraints.values())
        plans, duals = sizes_one[1], sizes_two[0]
        rows, columns = zip(*self.payoffs, strict=True)
        payoff = sparse.csr_matrix((list(self.payoffs.values()), (columns, rows)), (sizes_two[1], plans))
        form_one, form_two = (sparse.csr_matrix((d, (r, c)), s) for (r, c, d), s in constraints.values())
        right = np.zeros(sizes_one[0])
        right[0] = 1
        goal = np.zeros(plans + duals)
        goal[plans] = -1
        result = optimize.linprog(
            goal,
            A_ub=sparse.hstack([-payoff, form_two.T]),
            b_ub=np.zeros(sizes_two[1]),
            A_eq=sparse.hstack([form_one, sparse.csr_matrix((sizes_one[0], duals))]),
            b_eq=right,
            bounds=[(0, None)] * plans + [(None, None)] * duals,
        )
        return -float(result.fun)

    def _list_constraints(
        self, seat: Seat
    ) -> tuple[tuple[list[int], list[int], list[float]], tuple[int, int]]:
        """Return rows, columns and entries: the children of an information set add up to its parent."""
        numbers, sets = self.sequences[seat], {s: i for i, s in enumerate(self.parents[seat], 1)}
        entries = [(0, 0, 1.0)]
        entries += [(sets[s], numbers[parent], -1.0) for s, parent in self.parents[seat].items()]
        entries += [(sets[s], number, 1.0) for (s, action), number in numbers.items() if action is not None]
        rows, columns, data = (list(column) for column in zip(*entries, strict=True))
        return (rows, columns, data), (len(sets) + 1, len(numbers))


@pytest.mark.parametrize(
    ("cells", "turns", "value"),
    [(3, 3, Fraction(4, 7)), (4, 3, Fraction(5, 9)), (3, 4, Fraction(1, 2))],
)
def test_short_forms_agree_with_linear_programming(cells: int, turns: int, value: Fraction) -> None:
    rules = QuantumHunt(cells, turns)
    assert LinearProgram(rules).solve() == pytest.approx(float(value), abs=1e-6)
    opening = get_oracle(rules).value(rules.sight(rules.initial(), Seat.ONE))
    assert opening.exactness is Exactness.BOUND
    assert opening.error < 0.0003
    assert opening.low <= value <= opening.high


def test_hints_levels_and_reviews_use_the_solution() -> None:
    rules = QuantumHunt(3, 3)
    match, player, rng = Match.start(rules), duels.make_player("casual", rules), Random(4)
    while match.outcome is None:
        seat = match.actor
        assert isinstance(seat, Seat)
        hint = duels.hint(match.sight(seat))
        assert set(hint.actions) <= set(match.actions)
        assert all(name.startswith(("position ", "off the grid")) for name in hint.belief)
        match = match.play(seat, player.choose(match.sight(seat), rng))
    assert review(match).opening == pytest.approx(4 / 7, abs=0.0003)


def test_rejects_forms_that_are_too_large() -> None:
    with pytest.raises(TooLarge, match="set a limit"):
        get_oracle(QuantumHunt(cells=5))
