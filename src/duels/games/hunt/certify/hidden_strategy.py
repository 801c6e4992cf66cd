"""The decision problem of a best responder: a fixed strategy that hides its state from its opponent."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

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
