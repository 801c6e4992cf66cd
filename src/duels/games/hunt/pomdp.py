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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duels.solving.bounds import Bounds

if TYPE_CHECKING:
    import numpy as np

ROUNDING = 1e-9
"""What adding up floats may cost; both bounds give it away."""
MOST_STATES = 8
"""How many hidden states there may be for bounds from above: they are kept for every set of states."""


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
    turned: "np.ndarray[Any, Any] | None" = None
    """Per option: whether the place that it goes to is the mirror image, with the states renamed."""
    mirror: "np.ndarray[Any, Any] | None" = None
    """By state: its name in the mirror."""

    def folded(self, places: "np.ndarray[Any, Any]", mirror: "np.ndarray[Any, Any]") -> "HiddenStrategy":
        """The same problem with mirror images as one, for a strategy that plays alike in the mirror.

        `places`: the mirror image of each place.
        """
        import numpy as np

        turned = places[self.goes] < self.goes
        return replace(
            self,
            goes=np.where(turned, places[self.goes], self.goes),
            support=np.where(places < np.arange(len(places)), 0, self.support),
            turned=turned,
            mirror=mirror,
        )

    @property
    def states(self) -> int:
        """How many hidden states there are."""
        return int(self.moves.shape[1])

    @property
    def tables(self) -> "tuple[Any, ...]":
        """What compiled code reads; the last is a tuple as long as there are hidden states.

        A tuple's length is part of its type: loops over the states are compiled for their number.
        """
        import numpy as np

        turned = np.zeros(len(self.goes), np.bool_) if self.turned is None else self.turned
        mirror = np.arange(self.states) if self.mirror is None else self.mirror
        return (
            self.first_option, self.wins, self.stays, self.goes, turned, self.kernel, self.caught,
            self.support, self.then, self.moves, self.signals, mirror, (0,) * self.states,
        )  # fmt: skip


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


def bounds(problem: HiddenStrategy, effort: Effort = Effort()) -> Iterator[Step]:  # noqa: B008
    """Tighten the bounds step by step; every yielded pair is valid, the last is the tightest."""
    from duels.games.hunt.kernels.controller import Controller
    from duels.games.hunt.kernels.interpolation import Interpolation

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


def at_least(problem: HiddenStrategy, effort: Effort = Effort()) -> float:  # noqa: B008
    """The lower bound alone, which a problem of any number of hidden states has."""
    from duels.games.hunt.kernels.controller import Controller

    return max(0.0, Controller(problem).deepened(effort.depth).value() - ROUNDING)


def tightest(problem: HiddenStrategy, effort: Effort = Effort()) -> Bounds:  # noqa: B008
    """The bounds after all the effort."""
    *_, last = bounds(problem, effort)
    return last.bounds
