"""Values of self-play, against iteration over the rules' states."""

import pytest

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import NOWHERE, MemoryPolicy, Weigh, make_policy_from_function
from duels.games.hunt.rules import Phase, QuantumHunt, State

pytest.importorskip("numba")

from duels.games.hunt.certify.pair_values import find_largest_error, solve_pair, solve_self_play
from duels.games.hunt.self_play import ROUNDING, load_table
from duels.games.hunt.strategy import load_strategy
from tools.hunt.naive import NAIVE
from tools.hunt.shipping import pack_self_play

RULES = QuantumHunt(cells=3)
PAIRS = [("uniform", "uniform"), ("never tunnels", "uniform"), ("uniform", "always stays")]


def by_the_rules(one: Weigh, two: Weigh) -> dict[State, float]:
    """Return Player 1's chance in every reachable state, by iteration over the rules alone."""
    start = RULES.initial()
    after: dict[State, list[tuple[float, State]]] = {}
    waiting = [start]
    for state in waiting:  # grows while it is read
        actions = RULES.actions(state)
        if state in after or not actions:
            continue
        weights = (one, two)[state.mover - 1](RULES.view(state, state.mover), actions)
        after[state] = [
            (weight / sum(weights), RULES.apply(state, action).state)
            for action, weight in zip(actions, weights, strict=True)
            if weight
        ]
        waiting += [then for _, then in after[state]]
    values = dict.fromkeys(waiting, 0.5)
    for state in values:
        if outcome := RULES.outcome(state):
            values[state] = float(outcome.winner is Seat.ONE)
    for _ in range(150):
        for state, steps in after.items():
            values[state] = sum(chance * values[then] for chance, then in steps)
    return values


def policies(one: str, two: str) -> tuple[MemoryPolicy, MemoryPolicy]:
    return make_policy_from_function(NAIVE[one], Seat.ONE, 3), make_policy_from_function(
        NAIVE[two], Seat.TWO, 3
    )


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_values_agree_with_the_rules(one: str, two: str) -> None:
    first, second = policies(one, two)
    messages: list[str] = []
    values = solve_pair(first, second, messages.append)
    assert messages[0].startswith("self-play values, round 1")
    number = {latest: index for index, latest in enumerate(first.own_memory.latest)}
    types = [(cell, tunnel) for tunnel in (False, True) for cell in (1, 2, 3)] + [(0, True)]
    compared = 0
    for state, value in by_the_rules(NAIVE[one], NAIVE[two]).items():
        if state.end or state.phase is not Phase.MOVE:
            continue
        named = [number[cell - 1 if cell else NOWHERE] for cell in state.last_observed]
        kinds = [types.index(kind) for kind in zip(state.cells, state.tunnels, strict=True)]
        if state.mover is Seat.TWO:
            named, kinds, value = named[::-1], kinds[::-1], 1 - value
        assert values[state.mover][*named, *kinds] == pytest.approx(value, abs=1e-8)
        compared += 1
    assert compared > 50


@pytest.mark.slow
def test_the_shipped_table_is_the_rounded_solution() -> None:
    values = solve_self_play(load_strategy())
    assert find_largest_error(values, load_table()) <= ROUNDING
    assert find_largest_error(values, pack_self_play(values)) <= ROUNDING
