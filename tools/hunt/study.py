"""Analyse the behaviour and the value of hunt's shipped strategy.

This takes minutes. The result is plain data; docs/solved has a copy with the strategy's fingerprint.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from duels.core.match import EarlyEnd, Match
from duels.core.rules import Seat, Sight
from duels.games.hunt.certify.agents import bound_responder
from duels.games.hunt.certify.certificate import Effort, certify
from duels.games.hunt.certify.policies import Weigh, make_policy_from_function
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.rules import Action, End, QuantumHunt, State, View
from duels.games.hunt.strategy import (
    CELLS,
    CERTIFICATE_FILE,
    OFF,
    STRATEGY_FILE,
    PublicState,
    Strategy,
    load_certificate,
    load_strategy,
)
from duels.solving.best_response import Policy
from duels.solving.oracle import Bounds, Progress, no_progress
from tools.hunt.naive import NAIVE
from tools.hunt.simulation import mean_length, mean_score, simulate

Study = dict[str, Any]
HuntMatch = Match[State, Action, View]
LONG = 10
"""A game of more turns than this is called long."""
SHOWN_TURNS = 20
GAMES = 5000
TUNNEL_EFFORT = Effort(batches=10)
HABIT_GAMES = 2500
"""The number of matches of each seat against a naive policy."""


def fingerprint() -> str:
    """Return a digest of the strategy and its certificate."""
    return hashlib.sha256(STRATEGY_FILE.read_bytes() + CERTIFICATE_FILE.read_bytes()).hexdigest()


def study(progress: Progress = no_progress) -> Study:
    """Return the whole study."""
    strategy = load_strategy()
    claim = load_certificate()
    oracle = HuntOracle(QuantumHunt(), strategy)
    matches = simulate(oracle.rules, dict.fromkeys(Seat, oracle.weights), GAMES, "hunt", progress)
    return {
        "strategy": fingerprint(),
        "certificate": {str(seat.value): _pair(bound) for seat, bound in claim.against.items()},
        "gives_away": _pair(claim.nash_conv),
        "value": _pair(claim.value),
        "long": LONG,
        "won": oracle.pair.before_turn(PublicState(), (), ()),
        **describe_self_play(matches),
        "habits": _play_against_naive_policies(oracle, progress),
        "tunnel": _measure_tunnel(strategy, progress),
    }


def _pair(bound: Bounds) -> list[float]:
    return [bound.low, bound.high]


@dataclass(frozen=True)
class Turn:
    """One turn of a match. All cells count from 0."""

    seat: Seat
    start: int
    """The token's position before the move, which may be OFF."""
    cell: int
    observed: int
    own_last: int | None
    """The previous observation of the same seat."""
    other_last: int | None


def list_turns(match: HuntMatch) -> list[Turn]:
    """Return the turns of a finished match."""
    cells = [turn.action.cell - 1 for turn in match.turns if not isinstance(turn.action, EarlyEnd)]
    turns: list[Turn] = []
    for cell, observed in zip(cells[::2], cells[1::2], strict=True):
        own, other = turns[-2] if len(turns) > 1 else None, turns[-1] if turns else None
        turns.append(
            Turn(
                Seat.TWO if len(turns) % 2 else Seat.ONE,
                own.cell if own else OFF,
                cell,
                observed,
                own.observed if own else None,
                other.observed if other else None,
            )
        )
    return turns


def describe_self_play(matches: list[HuntMatch]) -> Study:
    """Describe how simulated matches end, and the conduct of both seats."""
    won, length = mean_score(matches, Seat.ONE), mean_length(matches)
    lengths = [len(match.turns) // 2 for match in matches]
    turns = [turn for match in matches for turn in list_turns(match)]
    return {
        "simulated": {
            "games": len(matches),
            "won": [won.mean, won.error],
            "turns": [length.mean, length.error],
            "long": _share(length > LONG for length in lengths),
            "collisions": _share(match.state.end is End.COLLISION for match in matches),
            "lengths": [_share(length == turn for length in lengths) for turn in range(1, SHOWN_TURNS + 1)],
        },
        "seats": {
            str(seat.value): _summarize_conduct([turn for turn in turns if turn.seat is seat])
            for seat in Seat
        },
    }


def _summarize_conduct(turns: list[Turn]) -> Study:
    """Return how one seat enters, moves and observes, as shares of its turns."""
    entries = [turn for turn in turns if turn.start == OFF]
    later = [turn for turn in turns if turn.start != OFF]
    informed = [turn for turn in turns if turn.other_last is not None]
    return {
        "enters": _shares([turn.cell for turn in entries], CELLS),
        "enters_where_named": _share(turn.cell == turn.other_last for turn in entries),
        "stays": _share(turn.cell == turn.start for turn in later),
        "stands_where_named": _share(turn.cell == turn.other_last for turn in informed),
        "names": _shares([turn.observed for turn in turns], CELLS),
        "names_far": _shares(
            [abs(t.observed - t.own_last) - 1 for t in turns if t.own_last is not None], CELLS - 1
        ),
        "names_where_named": _share(turn.observed == turn.other_last for turn in informed),
    }


def _share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))


def _shares(values: list[int], count: int) -> list[float]:
    """Return how often each number below `count` occurs."""
    return [float(share) for share in np.bincount(values, minlength=count) / len(values)]


def _play_against_naive_policies(oracle: HuntOracle, progress: Progress) -> Study:
    """Return the result of simulated matches against each naive policy, and bounds for a best responder."""
    results: Study = {}
    for name, weigh in NAIVE.items():
        won = []
        for seat in Seat:
            policies = {seat: oracle.weights, seat.other: make_policy(weigh)}
            matches = simulate(oracle.rules, policies, HABIT_GAMES, f"{name} {seat.value}", progress)
            won.append(mean_score(matches, seat))
        mean, error = sum(w.mean for w in won) / 2, sum(w.error**2 for w in won) ** 0.5 / 2
        both = [
            bound_responder(make_policy_from_function(weigh, seat), seat, progress=progress) for seat in Seat
        ]
        responder = [sum(b.low for b in both) / 2, sum(b.high for b in both) / 2]
        results[name] = {
            "games": HABIT_GAMES,
            "won": [w.mean for w in won],
            "mean": mean,
            "error": error,
            "responder": responder,
        }
    return results


def make_policy(weigh: Weigh) -> Policy[Action, View]:
    def weigh_sight(sight: Sight[Action, View]) -> list[float]:
        return weigh(sight.view, sight.actions)

    return weigh_sight


def _measure_tunnel(strategy: Strategy, progress: Progress) -> Study:
    """Return a best responder's result against each seat without its tunnel."""
    results: Study = {}
    for seat, step in certify(strategy, TUNNEL_EFFORT, may_tunnel=False):
        progress(f"a responder without a tunnel against {seat.label}, {step.stage}")
        results[str(seat.value)] = _pair(step.bounds)
    return results
