"""Bounds for agents, with and without tunnels, against plain search over the rules."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.games.hunt.certify.policies import Weigh, drop_tunnel, make_policy_from_function
from duels.games.hunt.response import agent_bounds
from duels.games.hunt.rules import Action, Move, Observe, QuantumHunt, Tunnel, View
from duels.games.hunt.strategy import Tables

pytest.importorskip("numba")

from duels.games.hunt.certify.agents import bound_responder, make_informed_problem
from duels.games.hunt.certify.pair_values import solve_pair
from duels.games.hunt.certify.pomdp import Effort, find_lower_bound
from duels.games.hunt.certify.responder_problem import make_problem
from duels.games.hunt.memory import Window
from duels.solving.best_response import best_response
from tests.games.hunt.certify.test_pomdp import Acted, Met, Search, tightest
from tools.hunt.naive import NAIVE, never_tunnels, uniform

QUICK = Effort(sweeps=12, trials=400, depth=6)
CELLS = 3


def odd(seed: int) -> Weigh:
    """An arbitrary policy that tunnels and depends on its tunnel."""

    def weigh(view: View, actions: Sequence[Action]) -> list[float]:
        rng = Random(f"{seed} {view}")
        return [rng.randint(1, 9) for _ in actions]

    return weigh


class SearchAgainstWeights(Search):
    """Plain search against a policy that is given as a function."""

    def __init__(self, weigh: Weigh, seat: Seat, at_the_end: float, cells: int) -> None:
        super().__init__(Tables(*([],) * 2), seat, at_the_end, Window(cells, 1))  # type: ignore[arg-type]
        self.weigh = weigh

    def acted(self, group: Iterable[Met]) -> Iterator[Acted]:
        for p, state, names in group:
            actions = self.rules.actions(state)
            weights = self.weigh(self.rules.view(state, self.seat), actions)
            for action, weight in zip(actions, weights, strict=True):
                if weight:
                    yield p * weight / sum(weights), state, names, action


@pytest.mark.parametrize("seat", list(Seat))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("cells", "turns", "width", "gap"), [(3, 2, 0.1, 0.15), (2, 5, 0.001, 0.45)])
def test_bounds_contain_the_searched_value_of_policies_that_tunnel(
    seat: Seat, seed: int, cells: int, turns: int, width: float, gap: float
) -> None:
    weigh = odd(seed)
    policy = make_policy_from_function(weigh, seat, cells)
    assert drop_tunnel(policy) is None
    bounds = bound_responder(policy, seat, QUICK)
    least, most = (SearchAgainstWeights(weigh, seat, end, cells).value(turns) for end in (0.0, 1.0))
    assert least <= bounds.high
    assert bounds.low <= most
    # The bounds must be narrow: trivial bounds would pass the lines above.
    assert bounds.low <= bounds.high < bounds.low + gap
    assert most - least < width


@pytest.mark.parametrize("seat", list(Seat))
def test_bounds_contain_the_searched_value_of_small_games(seat: Seat) -> None:
    """On two cells nobody lasts."""

    def odds(sight: Sight[Action, View]) -> list[float]:
        return [1 / len(sight.actions)] * len(sight.actions)

    exact = best_response(QuantumHunt(2), seat.other, odds)
    bounds = bound_responder(make_policy_from_function(uniform, seat, 2), seat, QUICK)
    assert bounds.low <= exact
    assert bounds.high == pytest.approx(exact)


@pytest.mark.parametrize("seat", list(Seat))
def test_knowing_the_tunnel_never_hurts_the_responder(seat: Seat) -> None:
    policy = make_policy_from_function(odd(7), seat, CELLS)
    informed = tightest(make_informed_problem(policy, seat), QUICK)
    assert find_lower_bound(make_problem(policy, seat), QUICK) <= informed.high
    assert informed.high - informed.low < 0.01
    # If a player never tunnels, a responder who sees tunnels learns nothing more.
    keeps = make_policy_from_function(never_tunnels, seat, CELLS)
    without_tunnel = drop_tunnel(keeps)
    assert without_tunnel
    informed, plain = (
        tightest(make_informed_problem(keeps, seat), QUICK),
        tightest(make_problem(without_tunnel, seat), QUICK),
    )
    assert max(informed.low, plain.low) <= min(informed.high, plain.high)
    assert informed.high == pytest.approx(plain.high, abs=0.005)


@pytest.mark.parametrize("seat", list(Seat))
def test_no_opponent_wins_more_than_the_bound(seat: Seat) -> None:
    """Tables played against each other by exact sums, as a third method."""
    weigh = odd(11)
    policy = make_policy_from_function(weigh, seat, CELLS)
    high = bound_responder(policy, seat, QUICK).high
    for other in (*NAIVE.values(), odd(12), odd(13)):
        if other in (NAIVE["sweeps"], NAIVE["stays and sweeps"]):
            continue  # they sweep seven cells
        sides = {seat: policy, seat.other: make_policy_from_function(other, seat.other, CELLS)}
        won = solve_pair(sides[Seat.ONE], sides[Seat.TWO])[Seat.ONE][0, 0, -1, -1]
        assert (won if seat is Seat.TWO else 1 - won) <= high


def test_unreachable_tunnels_do_not_count() -> None:
    def stays_on_one(view: View, actions: Sequence[Action]) -> list[float]:
        kind: Any = Observe if any(isinstance(a, Observe) for a in actions) else Tunnel
        if view.cell in (0, 1) and kind is Tunnel:
            return [float(action == Move(1)) for action in actions]
        return [float(isinstance(action, kind)) for action in actions]

    for seat in Seat:
        assert drop_tunnel(make_policy_from_function(stays_on_one, seat))
        assert drop_tunnel(make_policy_from_function(uniform, seat)) is None


def test_a_predictable_agent_always_loses() -> None:
    seat_bounds = agent_bounds(QuantumHunt(), lambda sight: [1.0] + [0.0] * (len(sight.actions) - 1))
    assert seat_bounds
    for bounds in seat_bounds.values():
        assert bounds.low == pytest.approx(1.0, abs=1e-6)
        assert bounds.low <= bounds.high


def test_rejects_agents_that_use_the_history() -> None:
    def parrot(sight: Sight[Action, View]) -> list[float]:
        chosen = len(sight.history) % len(sight.actions)
        return [float(place == chosen) for place in range(len(sight.actions))]

    def listener(sight: Sight[Action, View]) -> list[float]:
        return [1.0 / len(sight.actions) + 0 * len(sight.events)] * len(sight.actions)

    for policy in (parrot, listener):
        with pytest.raises(DuelsError, match="reads sight"):
            agent_bounds(QuantumHunt(), policy)


def test_rejects_inconsistent_agents() -> None:
    rng = Random(1)

    def draws(sight: Sight[Action, View]) -> list[float]:
        chosen = rng.randrange(len(sight.actions))
        return [float(place == chosen) for place in range(len(sight.actions))]

    with pytest.raises(DuelsError, match="instead of drawing one"):
        agent_bounds(QuantumHunt(CELLS), draws)


def test_limits_and_larger_grids_have_no_bounds() -> None:
    for rules in (QuantumHunt(max_turns=40), QuantumHunt(9)):
        assert agent_bounds(rules, lambda sight: [1.0]) is None


@pytest.mark.slow
def test_reproduces_the_published_bounds_of_naive_policies() -> None:
    stored = json.loads((Path(__file__).parents[4] / "docs/solved/hunt.json").read_text(encoding="utf-8"))
    for name in ("uniform", "never tunnels"):
        pair = [bound_responder(make_policy_from_function(NAIVE[name], seat), seat) for seat in Seat]
        means = [sum(b.low for b in pair) / 2, sum(b.high for b in pair) / 2]
        assert means == pytest.approx(stored["habits"][name]["responder"], abs=0.002)
