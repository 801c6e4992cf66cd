"""What a best responder can win against a fixed strategy that hides its state: certified bounds.

Against a strategy with a finite public memory the responder faces a partially observed decision problem:
its own node is known, the strategy's state hides behind a belief. Its value is convex in the belief and
homogeneous in the belief's mass, so it is bounded above by interpolation and below by any concrete play.

Why every step keeps an upper bound: it starts from certain victory; convex and homogeneous together mean
that a belief is worth no more than the parts it is cut into; and one exact round on top of upper bounds, the
responder taking the best option by them, is an upper bound again. Which beliefs are worked on, and with
which lower bounds in mind, decides how tight it gets, never whether it holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from duels.core.rules import Seat
from duels.games.hunt.certify.controller import Controller
from duels.games.hunt.certify.interpolation import Interpolation
from duels.games.hunt.certify.policies import policy_of_tables
from duels.games.hunt.certify.responder_problem import MOST_STATES, HiddenStrategy, folded, problem_of
from duels.games.hunt.strategy import Certificate, Strategy
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress

ROUNDING = 1e-9
"""What adding up floats may cost; both bounds give it away."""


@dataclass(frozen=True)
class Effort:
    """How much work goes into the bounds; more is tighter, any amount is valid."""

    sweeps: int = 3
    """Passes that bound every place at every set of hidden states."""
    trials: int = 0
    """Plays of the responder, to where the bounds are furthest apart, that add bounds on the way."""
    depth: int = 5
    """How often the responder's concrete play is improved, one turn further ahead each time."""


@dataclass(frozen=True)
class Step:
    """One step towards the tightest bounds."""

    stage: str
    done: float
    bounds: Bounds


BATCHES = 10
EFFORT = Effort(sweeps=7, trials=25_000, depth=8)
"""For the shipped certificate."""


def bounds(problem: HiddenStrategy, effort: Effort = Effort()) -> Iterator[Step]:
    """Tighten the bounds step by step; every yielded pair is valid, the last is the tightest."""
    table = Interpolation(problem)
    steps = 1 + effort.sweeps + BATCHES * bool(effort.trials)
    responder = Controller(problem).deepened(effort.depth)
    low = max(0.0, responder.value() - ROUNDING)

    def found() -> Bounds:
        return Bounds(low, min(1.0, table.value() + ROUNDING))

    yield Step("a concrete responder", 1 / steps, found())
    for number in range(1, effort.sweeps + 1):
        # Single states first: they are few, and every set's bound builds on them.
        table.sweep(1 if number <= effort.sweeps // 2 else MOST_STATES)
        yield Step(f"sweep {number} of {effort.sweeps}", (1 + number) / steps, found())
    for batch in range(BATCHES if effort.trials else 0):
        share = effort.trials * (batch + 1) // BATCHES - effort.trials * batch // BATCHES
        table.explore(share, responder)
        low = max(low, responder.value() - ROUNDING)
        yield Step(f"trials, part {batch + 1} of {BATCHES}", (2 + effort.sweeps + batch) / steps, found())


def at_least(problem: HiddenStrategy, effort: Effort = Effort()) -> float:
    """The lower bound alone, which a problem of any number of hidden states has."""
    return max(0.0, Controller(problem).deepened(effort.depth).value() - ROUNDING)


def certify(strategy: Strategy, effort: Effort = EFFORT) -> Iterator[tuple[Seat, Step]]:
    """Bound the best response to each seat's strategy, step by step; the last step of each seat counts."""
    for seat in Seat:
        for step in bounds(folded(problem_of(policy_of_tables(strategy[seat]), seat)), effort):
            yield seat, step


def certificate(strategy: Strategy, progress: Progress = no_progress) -> Certificate:
    """The certificate after all the effort; takes minutes."""
    found: dict[Seat, Bounds] = {}
    for seat, step in certify(strategy):
        found[seat] = step.bounds
        progress(f"best responder against {seat.label}: {step.bounds.in_words()}")
    return Certificate(found)
