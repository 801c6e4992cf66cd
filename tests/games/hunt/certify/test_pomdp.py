"""The bounds on a best responder, against plain search over the rules of small games."""

from array import array
from collections.abc import Iterable, Iterator
from random import Random

import pytest

from duels.core.rules import Seat
from duels.games.hunt.memory import Memory, Window
from duels.games.hunt.rules import Action, Observe, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import Tables

pytest.importorskip("numba")

from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.pomdp import Effort, tighten_bounds
from duels.games.hunt.certify.responder_problem import (
    ResponderProblem,
    list_mirrored_rows,
    make_problem,
    merge_mirror_images,
)
from duels.solving.oracle import Bounds

Met = tuple[float, State, tuple[int, ...]]
Acted = tuple[float, State, tuple[int, ...], Action]
CELLS = 3
MEMORY = Window(CELLS, 1)


def tightest(problem: ResponderProblem, effort: Effort) -> Bounds:
    """Return the bounds after the whole effort."""
    *_, last = tighten_bounds(problem, effort)
    return last.bounds


def some_tables(seed: int, memory: Memory = MEMORY) -> Tables:
    """A strategy that never tunnels, with odd weights."""
    rng = Random(seed)
    cells, rows = memory.cells, len(memory.states) ** 2
    moves, names = array("H"), array("H")
    for row in range(rows):
        own = memory.states[row // len(memory.states)]
        for place in range(cells + 1):
            for cell in range(cells):
                near = place == cells or abs(place - cell) <= 1
                moves.append(rng.randint(1, 9) if near else 0)
        for _ in range(cells):
            names.extend(0 if own[:1] == (cell,) else rng.randint(1, 9) for cell in range(cells))
    return Tables(moves, names)


class Search:
    """The value of a responder with full memory and all legal actions within some of its turns."""

    def __init__(self, tables: Tables, seat: Seat, at_the_end: float, memory: Memory = MEMORY) -> None:
        self.rules = QuantumHunt(cells=memory.cells)
        self.tables, self.seat, self.at_the_end, self.memory = tables, seat, at_the_end, memory

    def value(self, turns: int) -> float:
        return self.best([(1.0, self.rules.initial(), ())], turns)

    def best(self, group: list[Met], turns: int) -> float:
        """`group`: chance, state and observations, for all states that the responder cannot tell apart."""
        state = group[0][1]
        outcome = self.rules.outcome(state)
        mass = sum(p for p, _, _ in group)
        if outcome:
            return mass * (outcome.winner is self.seat.other)
        if self.rules.actor(state) is self.seat:
            return sum(self.best(part, turns) for part in self.parts(self.acted(group)))
        if turns == 0 and state.phase.value == "move":
            return mass * self.at_the_end
        left = turns - (state.phase.value == "observe")
        return max(
            sum(
                self.best(part, left)
                for part in self.parts((p, state, names, action) for p, state, names in group)
            )
            for action in self.rules.actions(state)
        )

    def acted(self, group: Iterable[Met]) -> Iterator[Acted]:
        for p, state, names in group:
            named_cells = {Seat.ONE: names[::2], Seat.TWO: names[1::2]}
            index, cells = self.memory.index, self.memory.cells
            row = index(named_cells[self.seat]) * len(self.memory.states) + index(
                named_cells[self.seat.other]
            )
            cell = state.cells[self.seat - 1]
            if state.phase.value == "observe":
                start = (row * cells + cell - 1) * cells
                weights = self.tables.observations[start : start + cells]
            else:
                start = (row * (cells + 1) + (cell - 1) % (cells + 1)) * cells
                weights = self.tables.moves[start : start + cells]
            for action in self.rules.actions(state):
                if not isinstance(action, Tunnel) and weights[action.cell - 1]:
                    yield p * weights[action.cell - 1] / sum(weights), state, names, action

    def parts(self, acted: Iterable[Acted]) -> list[list[Met]]:
        """Apply the actions and group the states that the responder cannot tell apart."""
        seen: dict[object, list[Met]] = {}
        for p, state, names, action in acted:
            step = self.rules.apply(state, action)
            key = tuple(event for event in step.events if self.seat.other in event.seen_by)
            named = (*names, action.cell - 1) if isinstance(action, Observe) else names
            seen.setdefault(key, []).append((p, step.state, named))
        return list(seen.values())


def some_tables_alike_in_the_mirror(seed: int) -> Tables:
    tables = some_tables(seed)
    rows = list_mirrored_rows(MEMORY, MEMORY)
    moves, names = array("H", tables.moves), array("H", tables.observations)
    for row, image in enumerate(rows):
        for cell in range(CELLS):
            for place in range(CELLS + 1):
                turned = place if place == CELLS else CELLS - 1 - place
                there = (image * (CELLS + 1) + turned) * CELLS + CELLS - 1 - cell
                moves[(row * (CELLS + 1) + place) * CELLS + cell] += tables.moves[there]
            for own in range(CELLS):
                there = (image * CELLS + CELLS - 1 - own) * CELLS + CELLS - 1 - cell
                names[(row * CELLS + own) * CELLS + cell] += tables.observations[there]
    return Tables(moves, names)


@pytest.mark.parametrize("seat", list(Seat))
def test_merging_mirror_images_keeps_the_value(seat: Seat) -> None:
    problem = make_problem(make_policy_from_tables(some_tables_alike_in_the_mirror(3), MEMORY, MEMORY), seat)
    half = merge_mirror_images(problem, MEMORY, MEMORY)
    assert (half.support != 0).sum() < 0.6 * (problem.support != 0).sum()
    effort = Effort(sweeps=12, trials=400, depth=6)
    at_once, apart = tightest(half, effort), tightest(problem, effort)
    assert at_once.low == pytest.approx(apart.low, abs=0.003)
    assert at_once.high == pytest.approx(apart.high, abs=0.003)
    assert max(at_once.low, apart.low) <= min(at_once.high, apart.high)


def test_an_asymmetric_strategy_is_not_merged() -> None:
    problem = make_problem(make_policy_from_tables(some_tables(3), MEMORY, MEMORY), Seat.ONE)
    assert merge_mirror_images(problem, MEMORY, MEMORY) is problem


@pytest.mark.parametrize("seat", list(Seat))
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("memory", "turns", "width", "gap"), [(MEMORY, 3, 0.4, 0.01), (Window(2, 1), 6, 0.01, 0.01)]
)
def test_bounds_contain_the_searched_value(
    seat: Seat, seed: int, memory: Window, turns: int, width: float, gap: float
) -> None:
    tables = some_tables(seed, memory)
    bounds = tightest(
        make_problem(make_policy_from_tables(tables, memory, memory), seat),
        Effort(sweeps=12, trials=400, depth=6),
    )
    at_least, at_most = (Search(tables, seat, end, memory).value(turns) for end in (0.0, 1.0))
    assert bounds.low <= bounds.high
    assert at_least <= bounds.high
    assert bounds.low <= at_most
    # The bounds must be narrow: trivial bounds would pass the lines above.
    assert bounds.high - bounds.low < gap
    assert at_most - at_least < width


@pytest.mark.parametrize("seat", list(Seat))
@pytest.mark.parametrize("cells", [2, 3, 7])
def test_every_option_leads_to_a_node_with_options(seat: Seat, cells: int) -> None:
    """A responder has something to choose by at every place that it can be at."""
    memory = Window(cells, 1)
    problem = make_problem(make_policy_from_tables(some_tables(1, memory), memory, memory), seat)
    visited, fresh = set(), set(problem.start_nodes.tolist())
    while fresh:
        visited |= fresh
        options = [range(*problem.first_action[node : node + 2]) for node in fresh]
        places = {int(problem.afterstates[option]) for part in options for option in part}
        assert all(problem.support[place] for place in places)
        fresh = {int(node) for place in places for node in problem.next_nodes[place] if node >= 0} - visited
    assert len(visited) > cells


def test_every_step_gives_valid_and_tighter_bounds() -> None:
    problem = make_problem(make_policy_from_tables(some_tables(5), MEMORY, MEMORY), Seat.ONE)
    steps = [step.bounds for step in tighten_bounds(problem, Effort(sweeps=6, trials=60, depth=4))]
    highs = [step.high for step in steps]
    assert highs == sorted(highs, reverse=True)
    lows = [step.low for step in steps]
    assert lows == sorted(lows)
    assert steps[-1].low <= highs[-1] < highs[0]
