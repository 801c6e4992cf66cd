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

from duels.games.hunt.certify.controller import Controller
from duels.games.hunt.certify.interpolation import Interpolation
from duels.games.hunt.certify.responder_problem import MAX_STATES, ResponderProblem
from duels.solving.oracle import Bounds

ROUNDING = 1e-9
"""The allowance for floating-point errors in both bounds."""


@dataclass(frozen=True)
class Effort:
    """The amount of work for the bounds. More work gives tighter bounds; any amount gives valid ones."""

    sweeps: int = 3
    """The number of sweeps over all afterstates and sets of hidden states."""
    trials: int = 0
    """The number of trials towards the beliefs with the widest gap."""
    depth: int = 5
    """The number of improvements of the concrete responder, each one turn further ahead."""


@dataclass(frozen=True)
class BoundsStep:
    """The bounds after one step of the work."""

    stage: str
    finished_share: float
    bounds: Bounds


TRIAL_BATCHES = 10


def tighten_bounds(problem: ResponderProblem, effort: Effort = Effort()) -> Iterator[BoundsStep]:
    """Tighten the bounds step by step. All yielded bounds are valid; the last are the tightest."""
    upper_bounds = Interpolation(problem)
    steps = 1 + effort.sweeps + TRIAL_BATCHES * bool(effort.trials)
    responder = Controller(problem).improve(effort.depth)
    low = max(0.0, responder.value() - ROUNDING)

    def get_bounds() -> Bounds:
        return Bounds(low, min(1.0, upper_bounds.value() + ROUNDING))

    yield BoundsStep("a concrete responder", 1 / steps, get_bounds())
    for sweep in range(1, effort.sweeps + 1):
        # Single states first: the bounds of all sets depend on them.
        upper_bounds.sweep(1 if sweep <= effort.sweeps // 2 else MAX_STATES)
        yield BoundsStep(f"sweep {sweep} of {effort.sweeps}", (1 + sweep) / steps, get_bounds())
    for batch in range(TRIAL_BATCHES if effort.trials else 0):
        share = effort.trials * (batch + 1) // TRIAL_BATCHES - effort.trials * batch // TRIAL_BATCHES
        upper_bounds.run_trials(share, responder)
        low = max(low, responder.value() - ROUNDING)
        yield BoundsStep(
            f"trials, part {batch + 1} of {TRIAL_BATCHES}", (2 + effort.sweeps + batch) / steps, get_bounds()
        )


def find_lower_bound(problem: ResponderProblem, effort: Effort = Effort()) -> float:
    """Return only the lower bound. This works for any number of hidden states."""
    return max(0.0, Controller(problem).improve(effort.depth).value() - ROUNDING)
