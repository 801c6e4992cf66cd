"""Certified bounds on the value of a best response to a fixed strategy with a hidden state.

Against a strategy with a finite public memory, the responder faces a POMDP: it knows its own node and has a
belief about the strategy's state. The value is convex in the belief and homogeneous in its mass.
Interpolation gives an upper bound, and any concrete play a lower bound.

Every step preserves the upper bound. It starts at 1. Convexity and homogeneity make the value subadditive: a
belief is worth at most the sum of its parts. And an exact backup of upper bounds is an upper bound again. The
choice of beliefs to work on affects only how tight the bounds are, not whether they are valid.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from duels.core.rules import Seat
from duels.games.hunt.certify.controller import Controller
from duels.games.hunt.certify.interpolation import Interpolation
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.responder_problem import (
    MAX_STATES,
    HiddenStrategy,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import Certificate, Strategy
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress

ROUNDING = 1e-9
"""The allowance for floating-point errors in both bounds."""


@dataclass(frozen=True)
class Effort:
    """The amount of work for the bounds. More work gives tighter bounds; any amount gives valid ones."""

    sweeps: int = 3
    """The number of sweeps over all places and sets of hidden states."""
    trials: int = 0
    """The number of trials towards the beliefs with the widest gap."""
    depth: int = 5
    """The number of improvements of the concrete responder, each one turn further ahead."""


@dataclass(frozen=True)
class Step:
    """The bounds after one step of the work."""

    stage: str
    done: float
    bounds: Bounds


BATCHES = 10
EFFORT = Effort(sweeps=7, trials=25_000, depth=8)
"""The effort for the shipped certificate."""


def bounds(problem: HiddenStrategy, effort: Effort = Effort()) -> Iterator[Step]:
    """Tighten the bounds step by step. All yielded bounds are valid; the last are the tightest."""
    table = Interpolation(problem)
    steps = 1 + effort.sweeps + BATCHES * bool(effort.trials)
    responder = Controller(problem).improve(effort.depth)
    low = max(0.0, responder.value() - ROUNDING)

    def get_bounds() -> Bounds:
        return Bounds(low, min(1.0, table.value() + ROUNDING))

    yield Step("a concrete responder", 1 / steps, get_bounds())
    for sweep in range(1, effort.sweeps + 1):
        # Single states first: the bounds of all sets depend on them.
        table.sweep(1 if sweep <= effort.sweeps // 2 else MAX_STATES)
        yield Step(f"sweep {sweep} of {effort.sweeps}", (1 + sweep) / steps, get_bounds())
    for batch in range(BATCHES if effort.trials else 0):
        share = effort.trials * (batch + 1) // BATCHES - effort.trials * batch // BATCHES
        table.explore(share, responder)
        low = max(low, responder.value() - ROUNDING)
        yield Step(
            f"trials, part {batch + 1} of {BATCHES}", (2 + effort.sweeps + batch) / steps, get_bounds()
        )


def find_lower_bound(problem: HiddenStrategy, effort: Effort = Effort()) -> float:
    """Return only the lower bound. This works for any number of hidden states."""
    return max(0.0, Controller(problem).improve(effort.depth).value() - ROUNDING)


def certify(strategy: Strategy, effort: Effort = EFFORT) -> Iterator[tuple[Seat, Step]]:
    """Yield bounds on the best response to each seat's strategy, tighter with each step."""
    for seat in Seat:
        for step in bounds(
            merge_mirror_images(make_problem(make_policy_from_tables(strategy[seat]), seat)), effort
        ):
            yield seat, step


def make_certificate(strategy: Strategy, progress: Progress = no_progress) -> Certificate:
    """Compute the certificate of a strategy. This takes minutes."""
    against: dict[Seat, Bounds] = {}
    for seat, step in certify(strategy):
        against[seat] = step.bounds
        progress(f"best responder against {seat.label}: {step.bounds.in_words()}")
    return Certificate(against)
