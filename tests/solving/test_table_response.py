"""Best responses on tables, against an independent policy iteration in fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from duels_tictactoe.rules import TicTacToe
from numpy.typing import NDArray

from duels.games import GAMES
from duels.players import make_player
from duels.players.levels import LevelPlayer
from duels.solving.decisions import Decisions
from duels.solving.oracles import get_oracle
from duels.solving.table_response import best_response, expected_values
from duels.solving.tables import ONGOING, Tables, compile_tables
from tests.outside.highcard import HighCard

Odds = dict[int, Fraction]
SMALL = [(3, 2), (3, 3), (4, 3)]


def chain(cells: int, run: int) -> tuple[Tables, NDArray[np.float64], NDArray[np.float64]]:
    """Return a small chain without a limit: its tables, and random and perfect play."""
    room = GAMES["chain"]
    rules: Any = room.rules(cells=cells, run=run)
    tables = Tables(**compile_tables(Decisions(rules), room.encoding(rules)))
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    player = make_player("perfect", rules)
    assert isinstance(player, LevelPlayer)
    perfect = np.zeros(uniform.shape)
    for index, state in enumerate(tables.rules_states(rules)):
        if (seat := rules.actor(state)) is not None:
            for action, odds in player.odds(rules.sight(state, seat)).items():
                perfect[index, rules.all_actions().index(action)] = odds
    return tables, uniform, perfect


def compute_response_value(tables: Tables, policy: NDArray[np.float64], me: int) -> float:
    return best_response(tables, lambda clock: policy, me).value


def solve_by_fractions(tables: Tables, policy: NDArray[np.float64], me: int) -> float:
    """Policy iteration, each policy's values from its linear equations; a win is 1, a loss -1."""
    choices = [list_choices(tables, policy, me, state) for state in range(tables.states)]
    endless = {state for state in range(tables.states) if choices[state]}
    while True:
        remaining = {s for s in endless if any(all(to in endless for to in odds) for odds in choices[s])}
        if remaining == endless:
            break
        endless = remaining
    chosen: list[Odds | None] = [
        None if not c or (s in endless and len(c) > 1) else c[0] for s, c in enumerate(choices)
    ]
    while True:
        values = solve_chain(tables, chosen, me)
        better = {}
        for state, several in enumerate(choices):
            if len(several) > 1:
                best = max(several, key=lambda odds: expect(odds, values))
                if expect(best, values) > values[state]:
                    better[state] = best
        if not better:
            return float((1 + values[0]) / 2)
        for state, odds in better.items():
            chosen[state] = odds


def list_choices(tables: Tables, policy: NDArray[np.float64], me: int, state: int) -> list[Odds]:
    """Return the responder's choices; where the policy decides, only its mixture."""
    each = []
    total = sum(Fraction(p) for p in policy[state][tables.legal[state]].tolist())
    mixture: Odds = {}
    for action in np.flatnonzero(tables.legal[state]):
        odds: Odds = {}
        for code in tables.successor[state, action].tolist():
            odds[code >> 1] = odds.get(code >> 1, Fraction(0)) + Fraction(1, tables.tickets)
        each.append(odds)
        for to, share in odds.items():
            weight = Fraction(float(policy[state, action])) / total
            if weight:
                mixture[to] = mixture.get(to, Fraction(0)) + weight * share
    return each if tables.actor[state] == me else [mixture] if each else []


def expect(odds: Odds, values: list[Fraction]) -> Fraction:
    return sum((share * values[to] for to, share in odds.items()), Fraction(0))


def solve_chain(tables: Tables, chosen: list[Odds | None], me: int) -> list[Fraction]:
    """The values of all states, by Gauss's elimination; where nothing is taken, the result or 0."""
    size = tables.states
    rows: list[Odds] = []
    for state, odds in enumerate(chosen):
        row = {to: -share for to, share in (odds or {}).items()}
        row[state] = row.get(state, Fraction(0)) + 1
        if tables.result[state] != ONGOING:
            row[size] = Fraction(1 if tables.result[state] == me else -1)  # the right-hand side
        rows.append(row)
    for pivot in reversed(range(size)):
        rows[pivot] = {to: number / rows[pivot][pivot] for to, number in rows[pivot].items()}
        for other in range(size):
            factor = rows[other].get(pivot)
            if other != pivot and factor:
                for to, number in rows[pivot].items():
                    rows[other][to] = rows[other].get(to, Fraction(0)) - factor * number
                del rows[other][pivot]
    return [row.get(size, Fraction(0)) for row in rows]


@pytest.mark.parametrize("mistakes", [1, 0.5, 0.01, 1e-6, 1e-13, 1e-17, 1e-30, 0])
@pytest.mark.parametrize(("cells", "run"), SMALL)
def test_agrees_with_exact_fractions(cells: int, run: int, mistakes: float) -> None:
    tables, uniform, perfect = chain(cells, run)
    policy = (1 - mistakes) * perfect + mistakes * uniform
    for me in (0, 1):
        expected = solve_by_fractions(tables, policy, me)
        assert compute_response_value(tables, policy, me) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("cells", "run"), SMALL)
def test_agrees_with_exact_fractions_for_random_policies(cells: int, run: int) -> None:
    tables, uniform, _ = chain(cells, run)
    rng = np.random.default_rng(cells * run)
    for _ in range(6):
        # Many actions are never taken, so that there are loops without end.
        policy = uniform * rng.random(uniform.shape) * (rng.random(uniform.shape) < 0.5)
        policy = np.where(policy.any(axis=1, keepdims=True), policy, uniform)
        policy /= np.maximum(policy.sum(axis=1, keepdims=True), 1e-9)
        for me in (0, 1):
            expected = solve_by_fractions(tables, policy, me)
            assert compute_response_value(tables, policy, me) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("mistakes", [1e-4, 1e-6, 1e-13])
@pytest.mark.parametrize(("cells", "run"), [(5, 3), (5, 4)])
def test_the_rarest_mistake_loses_an_endless_game(cells: int, run: int, mistakes: float) -> None:
    tables, uniform, perfect = chain(cells, run)
    for me in (0, 1):
        assert compute_response_value(tables, perfect, me) == 0.5
        policy = (1 - mistakes) * perfect + mistakes * uniform
        assert compute_response_value(tables, policy, me) == 1.0


def test_a_draw_ends_the_game_and_is_worth_nothing() -> None:
    """Noughts and crosses: to a draw the responder goes rather than to a loss, and from it nowhere."""
    rules = TicTacToe()
    tables = Tables(**compile_tables(Decisions(rules), rules.game.encoding(rules)))
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    lowest = np.eye(tables.actions)[tables.legal.argmax(axis=1)] * tables.legal.any(axis=1, keepdims=True)
    perfect = np.zeros(uniform.shape)
    for index, state in enumerate(tables.rules_states(rules)):
        if seat := rules.actor(state):
            for judged in get_oracle(rules).judge(rules.sight(state, seat)).actions:
                perfect[index, judged.action.cell - 1] = judged.weight
    wins = [compute_response_value(tables, uniform, me) for me in (0, 1)]
    for me in (0, 1):
        assert compute_response_value(tables, perfect, me) == 0.5
        assert compute_response_value(tables, lowest, me) == 1.0
        assert wins[me] == pytest.approx(solve_by_induction(tables, uniform, me), rel=1e-14)
    # The responder wins nearly always, but not always.
    assert 0.9 < wins[1] < wins[0] < 1


def solve_by_induction(tables: Tables, policy: NDArray[np.float64], me: int) -> float:
    """Backward over a game whose states are numbered after those they are reached from."""
    values = np.zeros(tables.states)
    for state in reversed(range(tables.states)):
        if tables.result[state] != ONGOING:
            values[state] = {me: 1.0, 1 - me: 0.0}.get(int(tables.result[state]), 0.5)
            continue
        actions = np.flatnonzero(tables.legal[state])
        after = values[tables.successor[state, actions, 0] >> 1]
        values[state] = after.max() if tables.actor[state] == me else after @ policy[state, actions]
    return float(values[0])


def test_a_draw_does_not_advance_the_clock() -> None:
    """High card, both cards equal: a show draws it before the limit can cut it off; either is one half."""
    rules = HighCard(cards=1, max_passes=2)
    tables = Tables(**compile_tables(Decisions(rules), rules.game.encoding(rules)))
    uniform = tables.legal / 2
    for me in (0, 1):
        assert best_response(tables, lambda clock: uniform, me, rules.max_passes).value == 0.5


@pytest.mark.parametrize("limit", [None, 1])
@pytest.mark.parametrize("me", [0, 1])
def test_a_best_response_wins_its_stated_value(me: int, limit: int | None) -> None:
    """Played out against the same policy, with and without a limit."""
    tables, uniform, _ = chain(4, 3)
    response = best_response(tables, lambda clock: uniform, me, limit)
    both = uniform.copy()
    for state in np.flatnonzero(tables.actor == me):
        both[state] = 0
        both[state, np.flatnonzero(tables.legal[state])[response.actions[0][state]]] = 1
    (start,) = tables.starts
    first = expected_values(tables, both, limit)[start]
    assert (1 - first if me else first) == pytest.approx(response.value)
    cut, whole = (expected_values(tables, uniform, end)[start] for end in (1, None))
    assert cut != pytest.approx(whole)
