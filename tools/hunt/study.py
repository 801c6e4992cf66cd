"""What the shipped strategy of hunt does and what it is worth, in numbers.

Takes minutes. The result is plain data: docs/solved keeps a copy with the fingerprint of the strategy.
"""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.agents import responder_bounds
from duels.games.hunt.certify.policies import MemoryPolicy, policy_of_tables, policy_of_weights
from duels.games.hunt.certify.pomdp import EFFORT, bounds
from duels.games.hunt.certify.responder_problem import HiddenStrategy, problem_of
from duels.games.hunt.certify.verify import simulate
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import CELLS, CLAIM, DATA, OFF, Strategy, claimed, shipped
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress
from tools.hunt.evaluation import Evaluation, Turn, evaluate
from tools.hunt.naive import NAIVE

Study = dict[str, Any]
LONG = 10
"""A game of more turns than this is called long."""
SHOWN_TURNS = 20
GAMES = 5000


def fingerprint() -> str:
    """Which tables, and which certificate of them, a study is about."""
    return hashlib.sha256(DATA.read_bytes() + CLAIM.read_bytes()).hexdigest()


def study(progress: Progress = no_progress) -> Study:
    """Everything."""
    strategy = shipped()
    claim = claimed()
    found: Study = {
        "strategy": fingerprint(),
        "certificate": {str(seat.value): _pair(bound) for seat, bound in claim.against.items()},
        "gives_away": _pair(claim.nash_conv),
        "value": _pair(claim.value),
        "long": LONG,
    }
    sides = {seat: policy_of_tables(tables) for seat, tables in strategy.items()}
    found |= played_out(sides, progress)
    rules = QuantumHunt()
    played = dict.fromkeys(Seat, HuntOracle(rules, strategy).weights)
    won, entries = simulate(rules, played, GAMES, "hunt", progress)
    found["simulated"] = {
        "games": GAMES,
        "won": [won.mean, won.error],
        "turns": [entries.mean / 2, entries.error / 2],
    }
    found["habits"] = _against_naive_policies(sides, progress)
    found["tunnel"] = _worth_of_the_tunnel(strategy, progress)
    return found


def played_out(sides: dict[Seat, MemoryPolicy], progress: Progress = no_progress) -> Study:
    """What happens, and what both seats do, when they play each other."""
    found = evaluate(sides[Seat.ONE], sides[Seat.TWO], progress=progress)
    conduct = {str(seat.value): _conduct(found, seat) for seat in Seat}
    return {"pair": _course(found), "seats": conduct}


def _pair(bound: Bounds) -> list[float]:
    return [bound.low, bound.high]


def _course(found: Evaluation) -> Study:
    """Who wins, how, and when."""
    lengths = found.lengths
    return {
        "won": found.won,
        "left": found.left,
        "turns": found.turns_on_average,
        "long": 1 - sum(lengths[:LONG]),
        "collisions": sum(turn.collided for turn in found.turns),
        "lengths": list(lengths[:SHOWN_TURNS]),
    }


def _conduct(found: Evaluation, seat: Seat) -> Study:
    """How one seat enters, moves and looks, over the whole game; chances of turns that are played."""
    turns = [turn for turn in found.turns if turn.seat is seat]
    moved, named = _total(turns, "moved"), _total(turns, "named")
    on_grid = moved[:OFF, :OFF]
    return {
        "enters": moved[OFF, :OFF].tolist(),
        "enters_where_named": _diagonal(turns[:1], "answered"),
        "stays": float(on_grid.trace() / on_grid.sum()),
        "stands_where_named": _diagonal(turns, "answered"),
        "names": _shares(named.sum(axis=0)),
        "names_far": _by_distance(named),
        "names_where_named": _diagonal(turns, "echoed"),
    }


def _total(turns: list[Turn], field: str) -> Any:
    return sum(getattr(turn, field) for turn in turns)


def _diagonal(turns: list[Turn], field: str) -> float | None:
    """How often a seat answers a naming with the same cell; None before anybody has named one."""
    table = _total(turns, field)[:CELLS]
    return float(table.trace() / table.sum()) if table.any() else None


def _by_distance(named: Any) -> list[float]:
    """How far from its last naming the next one is, from 1 cell up."""
    far = [0.0] * CELLS
    for last in range(CELLS):
        for cell in range(CELLS):
            far[abs(last - cell)] += float(named[last, cell])
    return _shares(far[1:])


def _shares(values: Any) -> list[float]:
    total = float(sum(values))
    return [float(value) / total for value in values]


def _against_naive_policies(sides: dict[Seat, MemoryPolicy], progress: Progress) -> Study:
    """What the strategy wins of each, exactly; what a best responder would, in bounds."""
    found: Study = {}
    for name, weigh in NAIVE.items():
        progress(f"against '{name}'")
        naive = {seat: policy_of_weights(weigh, seat) for seat in Seat}
        as_one = evaluate(sides[Seat.ONE], naive[Seat.TWO])
        as_two = evaluate(naive[Seat.ONE], sides[Seat.TWO])
        won = [as_one.won, 1 - as_two.won]
        both = [responder_bounds(policy, seat, progress=progress) for seat, policy in naive.items()]
        responder = [sum(b.low for b in both) / 2, sum(b.high for b in both) / 2]
        found[name] = {"won": won, "mean": sum(won) / 2, "responder": responder}
    return found


def _worth_of_the_tunnel(strategy: Strategy, progress: Progress) -> Study:
    """What a best responder wins of each seat's strategy if it must not tunnel."""
    found: Study = {}
    for seat, tables in strategy.items():
        for step in bounds(without_tunnel(problem_of(policy_of_tables(tables), seat)), EFFORT):
            progress(f"a responder without a tunnel against {seat.label}, {step.stage}")
        found[str(seat.value)] = _pair(step.bounds)
    return found


def without_tunnel(problem: HiddenStrategy, cells: int = CELLS) -> HiddenStrategy:
    """The same problem for a responder whose tunnel is spent as it enters."""
    nodes = np.repeat(np.arange(len(problem.first_option) - 1), np.diff(problem.first_option))
    types = 2 * cells + 1  # the last is off the grid, and enters with its tunnel left
    enters = nodes % types == types - 1
    return replace(problem, goes=problem.goes - cells * enters)
