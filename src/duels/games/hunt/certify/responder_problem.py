"""The decision problem of a best responder: a fixed strategy of hunt that hides its state. Needs numpy."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import Array, MemoryPolicy
from duels.games.hunt.memory import Memory
from duels.games.hunt.strategy import CELLS, OTHERS, OWN

LEFT = 1
"""The responder's own type: its cell, plus `CELLS` while its tunnel is left; the last one is off the grid."""
TYPES = 2 * CELLS + 1
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

    first_option: Array
    """Options of node n are `first_option[n]` up to `first_option[n + 1]`."""
    wins: Array
    stays: Array
    goes: Array
    """Per option: the place where the strategy acts next."""
    kernel: Array
    """Per place: its row in `moves` and `signals`."""
    caught: Array
    support: Array
    """Per place: mask of the states that can be there; 0 where the place is never met."""
    then: Array
    """Per place and signal: the responder's next node, -1 where the signal beats it."""
    moves: Array
    """Per kernel: probability of the new state, by old state."""
    signals: Array
    """Per kernel and signal: its probability, by new state."""
    start: tuple[tuple[int, tuple[float, ...]], ...]
    """Nodes where the responder may have its first turn, each with its share of belief."""
    turned: Array | None = None
    """Per option: whether the place that it goes to is the mirror image, with the states renamed."""
    mirror: Array | None = None
    """By state: its name in the mirror."""

    @property
    def states(self) -> int:
        """How many hidden states there are."""
        return int(self.moves.shape[1])

    @property
    def tables(self) -> tuple[Any, ...]:
        """What compiled code reads; the last is a tuple as long as there are hidden states.

        A tuple's length is part of its type: loops over the states are compiled for their number.
        """
        turned = np.zeros(len(self.goes), np.bool_) if self.turned is None else self.turned
        mirror = np.arange(self.states) if self.mirror is None else self.mirror
        return (
            self.first_option, self.wins, self.stays, self.goes, turned, self.kernel, self.caught,
            self.support, self.then, self.moves, self.signals, mirror, (0,) * self.states,
        )  # fmt: skip


def type_after(own: int, cell: int, cells: int = CELLS) -> int | None:
    """The responder's type once it is on `cell`; None where it cannot go there.

    Tunnelling where a step would do is left out: whoever keeps the tunnel can do all that one without it can.
    """
    if own == 2 * cells:
        return cells + cell
    tunnel, here = divmod(own, cells)
    if abs(here - cell) <= 1:
        return own - here + cell
    return cell if tunnel == LEFT else None


def problem_of(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """The responder's problem against `seat`'s policy, of whose token the type is hidden."""
    cells, off = policy.own.cells, len(policy.cell) - 1
    rows = len(policy.own.states) * len(policy.others.states)
    hidden = max(off + 1, MOST_STATES)
    moves = np.zeros((rows, hidden, hidden))
    moves[:, : off + 1, : off + 1] = policy.moves
    signals = np.zeros((rows, cells, hidden))
    signals[:, :, : off + 1] = policy.names.transpose(0, 2, 1)
    # The responder's first turn, before it has named anything: at these nodes if it is the second to move.
    width, types = len(policy.others.states), 2 * cells + 1
    entries = [after * width * types + 2 * cells for after in policy.own.following[0]]
    support, caught, then = _list_places(policy, seat)
    start: tuple[tuple[int, tuple[float, ...]], ...] = (
        (2 * cells, tuple(float(place == off) for place in range(hidden))),
    )
    if seat is Seat.ONE:
        support[2 * cells], then[2 * cells] = 1 << off, entries  # where the strategy enters
        entered = moves[0, off]
        start = tuple(
            (node, tuple(entered * signal)) for node, signal in zip(entries, signals[0], strict=True)
        )
    return HiddenStrategy(
        *_list_options(policy, hidden),
        kernel=np.repeat(np.arange(rows), types),
        caught=caught,
        support=support,
        then=then,
        moves=moves,
        signals=signals,
        start=start,
    )


def _types_on(policy: MemoryPolicy) -> list[int]:
    """By cell: the mask of the hidden types that stand on it."""
    types = range(len(policy.cell) - 1)
    return [sum(1 << kind for kind in types if policy.cell[kind] == cell) for cell in range(policy.own.cells)]


def _list_options(policy: MemoryPolicy, hidden: int) -> tuple[Any, Any, Any, Any]:
    """The responder's options at every node: to go to a cell and name another, row by row, type by type."""
    cells, width = policy.own.cells, len(policy.others.states)
    types, at, everywhere = 2 * cells + 1, _types_on(policy), (1 << hidden) - 1
    latest, following = policy.others.latest, policy.others.following
    first_option, wins, stays, goes = [0], [], [], []
    for row, kind in product(range(len(policy.own.states) * width), range(types)):
        own, other = divmod(row, width)  # the strategy's naming, the responder's
        nameable = [cell for cell in range(cells) if cell != latest[other]]
        types_after = [(cell, type_after(kind, cell, cells)) for cell in range(cells)]
        for (cell, new), named in product(types_after, nameable):
            if new is not None:
                wins.append(at[named] & ~at[cell])
                stays.append(everywhere & ~(at[named] | at[cell]))
                goes.append((own * width + following[other][named]) * types + new)
        first_option.append(len(wins))
    return np.array(first_option), np.array(wins), np.array(stays), np.array(goes)


def _list_places(policy: MemoryPolicy, seat: Seat) -> tuple[Any, Any, Any]:
    """By place: the states that can be there, those that are caught there, and the node after each signal."""
    cells, off, width = policy.own.cells, len(policy.cell) - 1, len(policy.others.states)
    types, at = 2 * cells + 1, _types_on(policy)
    after_own, last_own, last_other = policy.own.following, policy.own.latest, policy.others.latest
    places = len(policy.own.states) * width * types
    support, caught = np.zeros((2, places), np.int64)
    then = np.full((places, cells), -1, np.int64)
    for row, kind in product(sorted(_met(policy.own, policy.others, seat)), range(2 * cells)):
        own, other = divmod(row, width)
        place, here = row * types + kind, kind % cells
        on_grid = (1 << off) - 1 & ~(at[here] | at[last_other[other]])
        # On two cells nobody may be left anywhere. The option that leads there wins outright and must be
        # one to choose: any states will do, since none of them ever has a chance.
        support[place] = (on_grid or (1 << off) - 1) if last_own[own] >= 0 else 1 << off
        caught[place] = at[here]
        for named in range(cells):
            if named not in (here, last_own[own]):
                then[place, named] = (after_own[own][named] * width + other) * types + kind
    return support, caught, then


def folded(
    problem: HiddenStrategy, own_memory: Memory = OWN, other_memory: Memory = OTHERS
) -> HiddenStrategy:
    """The problem with mirror images as one if the strategy plays alike in both, else as it is."""
    cells = own_memory.cells
    rows = mirrored_rows(own_memory, other_memory)
    kinds = [*range(cells - 1, -1, -1), *range(2 * cells - 1, cells - 1, -1), 2 * cells]
    states = [*range(cells - 1, -1, -1), *range(cells, MOST_STATES)]
    moves, signals = (
        problem.moves[rows][:, states][:, :, states],
        problem.signals[rows][:, ::-1][:, :, states],
    )
    if not (np.array_equal(moves, problem.moves) and np.array_equal(signals, problem.signals)):
        return problem
    places = (np.array(rows)[:, None] * len(kinds) + np.array(kinds)).ravel()
    turned = places[problem.goes] < problem.goes
    return replace(
        problem,
        goes=np.where(turned, places[problem.goes], problem.goes),
        support=np.where(places < np.arange(len(places)), 0, problem.support),
        turned=turned,
        mirror=np.array(states),
    )


def mirrored_rows(own_memory: Memory = OWN, other_memory: Memory = OTHERS) -> list[int]:
    """By memory row: the row of the same naming on the grid seen from the other end."""
    width = len(other_memory.states)
    return [own * width + other for own in own_memory.mirrored for other in other_memory.mirrored]


def _met(own_memory: Memory, other_memory: Memory, seat: Seat) -> set[int]:
    """The rows at which a strategy at `seat` can be to act once the responder has named a cell."""
    own_names, other_names = own_memory.following, other_memory.following
    last_own, last_other = own_memory.latest, other_memory.latest
    found: set[tuple[int, int]] = set()
    fresh = {(0, 0)} if seat is Seat.TWO else {(own, 0) for own in own_names[0]}
    while fresh:
        acting = {
            (own, other_names[other][c])
            for own, other in fresh
            for c in range(own_memory.cells)
            if c != last_other[other]
        } - found
        found |= acting
        fresh = {
            (own_names[own][c], other)
            for own, other in acting
            for c in range(own_memory.cells)
            if c != last_own[own]
        }
    return {own * len(other_names) + other for own, other in found}
