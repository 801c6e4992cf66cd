"""Analyse the behaviour and the value of hunt's shipped strategy.

This takes minutes. The result is plain data; docs/solved has a copy with the strategy's fingerprint.
"""

import hashlib
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.agents import bound_responder
from duels.games.hunt.certify.policies import MemoryPolicy, make_policy_from_function, make_policy_from_tables
from duels.games.hunt.certify.pomdp import EFFORT, tighten_bounds
from duels.games.hunt.certify.responder_problem import ResponderProblem, make_problem
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import (
    CELLS,
    CERTIFICATE_FILE,
    OFF,
    STRATEGY_FILE,
    Strategy,
    load_certificate,
    load_strategy,
)
from duels.solving.oracle import Bounds, Progress, no_progress
from tools.hunt.evaluation import Evaluation, Turn, evaluate
from tools.hunt.naive import NAIVE
from tools.hunt.simulation import simulate

Study = dict[str, Any]
LONG = 10
"""A game of more turns than this is called long."""
SHOWN_TURNS = 20
GAMES = 5000


def fingerprint() -> str:
    """Return a digest of the strategy and its certificate."""
    return hashlib.sha256(STRATEGY_FILE.read_bytes() + CERTIFICATE_FILE.read_bytes()).hexdigest()


def study(progress: Progress = no_progress) -> Study:
    """Return the whole study."""
    strategy = load_strategy()
    claim = load_certificate()
    results: Study = {
        "strategy": fingerprint(),
        "certificate": {str(seat.value): _pair(bound) for seat, bound in claim.against.items()},
        "gives_away": _pair(claim.nash_conv),
        "value": _pair(claim.value),
        "long": LONG,
    }
    sides = {seat: make_policy_from_tables(tables) for seat, tables in strategy.items()}
    results |= describe_self_play(sides, progress)
    rules = QuantumHunt()
    policies = dict.fromkeys(Seat, HuntOracle(rules, strategy).weights)
    won, entries = simulate(rules, policies, GAMES, "hunt", progress)
    results["simulated"] = {
        "games": GAMES,
        "won": [won.mean, won.error],
        "turns": [entries.mean / 2, entries.error / 2],
    }
    results["habits"] = _against_naive_policies(sides, progress)
    results["tunnel"] = _measure_tunnel(strategy, progress)
    return results


def describe_self_play(sides: dict[Seat, MemoryPolicy], progress: Progress = no_progress) -> Study:
    """Describe self-play: the results and the conduct of both seats."""
    evaluation = evaluate(sides[Seat.ONE], sides[Seat.TWO], progress=progress)
    conduct = {str(seat.value): _summarize_conduct(evaluation, seat) for seat in Seat}
    return {"pair": _summarize_results(evaluation), "seats": conduct}


def _pair(bound: Bounds) -> list[float]:
    return [bound.low, bound.high]


def _summarize_results(evaluation: Evaluation) -> Study:
    """Return how self-play ends, and after how many turns."""
    lengths = evaluation.lengths
    return {
        "won": evaluation.won,
        "left": evaluation.unfinished,
        "turns": evaluation.turns_on_average,
        "long": 1 - sum(lengths[:LONG]),
        "collisions": sum(turn.collided for turn in evaluation.turns),
        "lengths": list(lengths[:SHOWN_TURNS]),
    }


def _summarize_conduct(evaluation: Evaluation, seat: Seat) -> Study:
    """Return how one seat enters, moves and observes, as probabilities per turn played."""
    turns = [turn for turn in evaluation.turns if turn.seat is seat]
    moved, observed = _total(turns, "moved"), _total(turns, "observed")
    on_grid = moved[:OFF, :OFF]
    return {
        "enters": moved[OFF, :OFF].tolist(),
        "enters_where_named": _diagonal(turns[:1], "moved_after_observation"),
        "stays": float(on_grid.trace() / on_grid.sum()),
        "stands_where_named": _diagonal(turns, "moved_after_observation"),
        "names": _shares(observed.sum(axis=0)),
        "names_far": _by_distance(observed),
        "names_where_named": _diagonal(turns, "observed_after_observation"),
    }


def _total(turns: list[Turn], field: str) -> Any:
    return sum(getattr(turn, field) for turn in turns)


def _diagonal(turns: list[Turn], field: str) -> float | None:
    """Return how often a seat chooses the opponent's last observation, or None if there is none yet."""
    table = _total(turns, field)[:CELLS]
    return float(table.trace() / table.sum()) if table.any() else None


def _by_distance(observed: Any) -> list[float]:
    """Return the share of each distance between successive observations, from 1 cell up."""
    by_distance = [0.0] * CELLS
    for last in range(CELLS):
        for cell in range(CELLS):
            by_distance[abs(last - cell)] += float(observed[last, cell])
    return _shares(by_distance[1:])


def _shares(values: Any) -> list[float]:
    total = float(sum(values))
    return [float(value) / total for value in values]


def _against_naive_policies(sides: dict[Seat, MemoryPolicy], progress: Progress) -> Study:
    """Return the exact result against each naive policy, and bounds for a best responder."""
    results: Study = {}
    for name, weigh in NAIVE.items():
        progress(f"against '{name}'")
        naive = {seat: make_policy_from_function(weigh, seat) for seat in Seat}
        as_one = evaluate(sides[Seat.ONE], naive[Seat.TWO])
        as_two = evaluate(naive[Seat.ONE], sides[Seat.TWO])
        won = [as_one.won, 1 - as_two.won]
        both = [bound_responder(policy, seat, progress=progress) for seat, policy in naive.items()]
        responder = [sum(b.low for b in both) / 2, sum(b.high for b in both) / 2]
        results[name] = {"won": won, "mean": sum(won) / 2, "responder": responder}
    return results


def _measure_tunnel(strategy: Strategy, progress: Progress) -> Study:
    """Return a best responder's result against each seat without its tunnel."""
    results: Study = {}
    for seat, tables in strategy.items():
        for step in tighten_bounds(
            without_tunnel(make_problem(make_policy_from_tables(tables), seat)), EFFORT
        ):
            progress(f"a responder without a tunnel against {seat.label}, {step.stage}")
        results[str(seat.value)] = _pair(step.bounds)
    return results


def without_tunnel(problem: ResponderProblem, cells: int = CELLS) -> ResponderProblem:
    """Return the problem for a responder that enters without its tunnel."""
    nodes = np.repeat(np.arange(len(problem.first_action) - 1), np.diff(problem.first_action))
    types = 2 * cells + 1  # the last is off the grid, and enters with its tunnel left
    enters = nodes % types == types - 1
    return problem._replace(afterstates=problem.afterstates - cells * enters)
