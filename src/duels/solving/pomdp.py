"""What a best responder can win against a fixed strategy that hides its state: certified bounds.

Against a strategy with a finite public memory the responder faces a partially observed decision problem:
its own node is known, the strategy's state hides behind a belief. Its value is convex in the belief and
homogeneous in the belief's mass, so it is bounded above by interpolation and below by any concrete play.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

ROUNDING = 1e-9
"""What adding up floats may cost; both bounds give it away."""
MOST_STATES = 8
"""How many hidden states a problem may have: bounds are kept for every set of them."""


@dataclass(frozen=True)
class HiddenStrategy:
    """A fixed strategy as its opponent, the responder, meets it; numpy arrays, states as bits of masks.

    The responder stands at a node and picks one of its options; hidden states in `wins` are beaten at once,
    those in `stays` go on, the rest have beaten the responder. Then the strategy acts: its state changes by
    a kernel, new states in `caught` are beaten, and the others send a signal, which beats the responder or
    leads to its next node.
    """

    first_option: "np.ndarray[Any, Any]"
    """Options of node n are `first_option[n]` up to `first_option[n + 1]`."""
    wins: "np.ndarray[Any, Any]"
    stays: "np.ndarray[Any, Any]"
    goes: "np.ndarray[Any, Any]"
    """Per option: the place where the strategy acts next."""
    kernel: "np.ndarray[Any, Any]"
    """Per place: its row in `moves` and `signals`."""
    caught: "np.ndarray[Any, Any]"
    support: "np.ndarray[Any, Any]"
    """Per place: mask of the states that can be there; 0 where the place is never met."""
    then: "np.ndarray[Any, Any]"
    """Per place and signal: the responder's next node, -1 where the signal beats it."""
    moves: "np.ndarray[Any, Any]"
    """Per kernel: probability of the new state, by old state."""
    signals: "np.ndarray[Any, Any]"
    """Per kernel and signal: its probability, by new state."""
    start: "tuple[tuple[int, tuple[float, ...]], ...]"
    """Nodes where the responder may have its first turn, each with its share of belief."""


@dataclass(frozen=True)
class Bounds:
    """What the best responder wins: at least `low`, at most `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class Effort:
    """How much work goes into the bounds; more is tighter, any amount is valid."""

    sweeps: int = 3
    """Passes that bound every place at every set of hidden states."""
    trials: int = 0
    """Plays of the responder that add bounds at the beliefs they meet."""
    depth: int = 5
    """Turns of the responder's concrete play that are followed exactly for the lower bound."""


@dataclass(frozen=True)
class Progress:
    """One step of a long computation, told in words."""

    stage: str
    done: float
    bounds: Bounds


def bounds(problem: HiddenStrategy, effort: Effort = Effort(), seed: int = 0) -> Iterator[Progress]:  # noqa: B008
    """Tighten the bounds step by step; every yielded pair is valid, the last is the tightest."""
    from duels.solving.pomdp_kernels import Interpolation

    table = Interpolation(problem)
    low = 0.0
    rounds = effort.sweeps + 1
    for number in range(1, effort.sweeps + 1):
        # Single states first: they are few, and every set's bound builds on them.
        table.sweep(1 if number <= effort.sweeps // 3 else MOST_STATES)
        yield Progress(
            f"sweep {number} of {effort.sweeps}", number / rounds, Bounds(low, table.value() + ROUNDING)
        )
    batch = max(1, effort.trials // 10)
    for start in range(0, effort.trials, batch):
        table.explore(min(batch, effort.trials - start), seed + start)
        yield Progress(
            f"trial {min(start + batch, effort.trials)}",
            effort.sweeps / rounds,
            Bounds(low, table.value() + ROUNDING),
        )
    low = max(0.0, table.follow(effort.depth) - ROUNDING)
    yield Progress("done", 1.0, Bounds(low, table.value() + ROUNDING))


def tightest(problem: HiddenStrategy, effort: Effort = Effort(), seed: int = 0) -> Bounds:  # noqa: B008
    """The bounds after all the effort."""
    *_, last = bounds(problem, effort, seed)
    return last.bounds
