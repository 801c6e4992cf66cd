"""The POMDP of a best responder to a fixed strategy of hunt, whose state is hidden. Needs numpy."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import Array, MemoryPolicy
from duels.games.hunt.memory import Memory
from duels.games.hunt.strategy import CELLS, OTHERS, OWN

TUNNEL_LEFT = 1
"""The responder's type is its cell, plus `CELLS` while its tunnel is left. The last type is off the grid."""
TYPES = 2 * CELLS + 1
MAX_STATES = 8
"""The maximum number of hidden states for upper bounds, which are stored for every set of states."""


@dataclass(frozen=True)
class HiddenStrategy:
    """The responder's POMDP as numpy arrays. Sets of hidden states are bit masks.

    At a node, the responder picks an option. It wins against the states in `win_masks`, play continues with
    those in `continue_masks`, and it loses to the rest. Then the strategy acts at a place: its state changes
    by a kernel, the responder wins against new states in `caught_masks`, and the others send a signal,
    which leads to the next node or beats the responder.
    """

    first_option: Array
    """The options of node n are `first_option[n]` up to, not including, `first_option[n + 1]`."""
    win_masks: Array
    continue_masks: Array
    next_places: Array
    """Per option: the place where the strategy acts next."""
    kernel: Array
    """Per place: its row in `moves` and `signals`."""
    caught_masks: Array
    support: Array
    """Per place: the mask of possible states, 0 if the place is never reached."""
    next_nodes: Array
    """Per place and signal: the responder's next node, -1 if the signal beats it."""
    moves: Array
    """Transition probabilities, indexed [kernel, old state, new state]."""
    signals: Array
    """Signal probabilities, indexed [kernel, signal, new state]."""
    start: tuple[tuple[int, tuple[float, ...]], ...]
    """The responder's first nodes, each with its belief."""
    is_mirrored: Array | None = None
    """Per option: whether it leads to the mirror image of its place, with the states mirrored."""
    mirror: Array | None = None
    """Per state: its mirror image."""

    @property
    def states(self) -> int:
        """The number of hidden states."""
        return int(self.moves.shape[1])

    @property
    def tables(self) -> tuple[Any, ...]:
        """The arrays for compiled code, and a tuple with one entry per hidden state.

        The length of a tuple is part of its type, so loops over the states are compiled for their number.
        """
        is_mirrored = (
            np.zeros(len(self.next_places), np.bool_) if self.is_mirrored is None else self.is_mirrored
        )
        mirror = np.arange(self.states) if self.mirror is None else self.mirror
        return (
            self.first_option, self.win_masks, self.continue_masks, self.next_places, is_mirrored,
            self.kernel, self.caught_masks, self.support, self.next_nodes,
            self.moves, self.signals, mirror, (0,) * self.states,
        )  # fmt: skip


def find_type_after(own: int, cell: int, cells: int = CELLS) -> int | None:
    """Return the responder's type after it moves to `cell`, or None if it cannot.

    A tunnel to a neighbouring cell is never needed: a step keeps the tunnel for later.
    """
    if own == 2 * cells:
        return cells + cell
    tunnel, here = divmod(own, cells)
    if abs(here - cell) <= 1:
        return own - here + cell
    return cell if tunnel == TUNNEL_LEFT else None


def make_problem(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """Return the POMDP of a responder to `seat`'s policy. The type of its token is the hidden state."""
    cells, off_grid_index = policy.own.cells, len(policy.cell) - 1
    rows = len(policy.own.states) * len(policy.others.states)
    hidden = max(off_grid_index + 1, MAX_STATES)
    moves = np.zeros((rows, hidden, hidden))
    moves[:, : off_grid_index + 1, : off_grid_index + 1] = policy.moves
    signals = np.zeros((rows, cells, hidden))
    signals[:, :, : off_grid_index + 1] = policy.observation_probs.transpose(0, 2, 1)
    # The responder's first nodes if it moves second.
    other_states, types = len(policy.others.states), 2 * cells + 1
    entry_nodes = [after * other_states * types + 2 * cells for after in policy.own.following[0]]
    support, caught_masks, next_nodes = _list_places(policy, seat)
    start: tuple[tuple[int, tuple[float, ...]], ...] = (
        (2 * cells, tuple(float(place == off_grid_index) for place in range(hidden))),
    )
    if seat is Seat.ONE:
        support[2 * cells], next_nodes[2 * cells] = 1 << off_grid_index, entry_nodes  # the strategy enters
        entered = moves[0, off_grid_index]
        start = tuple(
            (node, tuple(entered * signal)) for node, signal in zip(entry_nodes, signals[0], strict=True)
        )
    return HiddenStrategy(
        *_list_options(policy, hidden),
        kernel=np.repeat(np.arange(rows), types),
        caught_masks=caught_masks,
        support=support,
        next_nodes=next_nodes,
        moves=moves,
        signals=signals,
        start=start,
    )


def _list_type_masks(policy: MemoryPolicy) -> list[int]:
    """Return each cell's mask of hidden types."""
    types = range(len(policy.cell) - 1)
    return [sum(1 << kind for kind in types if policy.cell[kind] == cell) for cell in range(policy.own.cells)]


def _list_options(policy: MemoryPolicy, hidden: int) -> tuple[Any, Any, Any, Any]:
    """Return the responder's options at every node: each moves to a cell and observes another."""
    cells, other_states = policy.own.cells, len(policy.others.states)
    types, type_masks, all_states = 2 * cells + 1, _list_type_masks(policy), (1 << hidden) - 1
    latest, following = policy.others.latest, policy.others.following
    first_option, win_masks, continue_masks, next_places = [0], [], [], []
    for row, kind in product(range(len(policy.own.states) * other_states), range(types)):
        own, other = divmod(row, other_states)  # the strategy's memory state and the responder's
        observable = [cell for cell in range(cells) if cell != latest[other]]
        types_after = [(cell, find_type_after(kind, cell, cells)) for cell in range(cells)]
        for (cell, new_type), observed in product(types_after, observable):
            if new_type is not None:
                win_masks.append(type_masks[observed] & ~type_masks[cell])
                continue_masks.append(all_states & ~(type_masks[observed] | type_masks[cell]))
                next_places.append((own * other_states + following[other][observed]) * types + new_type)
        first_option.append(len(win_masks))
    return np.array(first_option), np.array(win_masks), np.array(continue_masks), np.array(next_places)


def _list_places(policy: MemoryPolicy, seat: Seat) -> tuple[Any, Any, Any]:
    """Return each place's possible states, caught states, and node after each signal."""
    cells, off_grid_index, other_states = policy.own.cells, len(policy.cell) - 1, len(policy.others.states)
    types, type_masks = 2 * cells + 1, _list_type_masks(policy)
    next_own, last_own, last_other = policy.own.following, policy.own.latest, policy.others.latest
    places = len(policy.own.states) * other_states * types
    support, caught_masks = np.zeros((2, places), np.int64)
    next_nodes = np.full((places, cells), -1, np.int64)
    for row, kind in product(sorted(_find_reached_rows(policy.own, policy.others, seat)), range(2 * cells)):
        own, other = divmod(row, other_states)
        place, here = row * types + kind, kind % cells
        on_grid = (1 << off_grid_index) - 1 & ~(type_masks[here] | type_masks[last_other[other]])
        # On two cells, no state may be possible. The option that leads there wins at once and must remain
        # available, so the place gets some states: they have probability 0.
        support[place] = (on_grid or (1 << off_grid_index) - 1) if last_own[own] >= 0 else 1 << off_grid_index
        caught_masks[place] = type_masks[here]
        for observed in range(cells):
            if observed not in (here, last_own[own]):
                next_nodes[place, observed] = (next_own[own][observed] * other_states + other) * types + kind
    return support, caught_masks, next_nodes


def merge_mirror_images(
    problem: HiddenStrategy, own_memory: Memory = OWN, other_memory: Memory = OTHERS
) -> HiddenStrategy:
    """Return the problem with mirror images merged if the strategy is symmetric, else unchanged."""
    cells = own_memory.cells
    rows = list_mirrored_rows(own_memory, other_memory)
    mirrored_types = [*range(cells - 1, -1, -1), *range(2 * cells - 1, cells - 1, -1), 2 * cells]
    states = [*range(cells - 1, -1, -1), *range(cells, MAX_STATES)]
    moves, signals = (
        problem.moves[rows][:, states][:, :, states],
        problem.signals[rows][:, ::-1][:, :, states],
    )
    if not (np.array_equal(moves, problem.moves) and np.array_equal(signals, problem.signals)):
        return problem
    places = (np.array(rows)[:, None] * len(mirrored_types) + np.array(mirrored_types)).ravel()
    is_mirrored = places[problem.next_places] < problem.next_places
    return replace(
        problem,
        next_places=np.where(is_mirrored, places[problem.next_places], problem.next_places),
        support=np.where(places < np.arange(len(places)), 0, problem.support),
        is_mirrored=is_mirrored,
        mirror=np.array(states),
    )


def list_mirrored_rows(own_memory: Memory = OWN, other_memory: Memory = OTHERS) -> list[int]:
    """Return the mirror image of each memory row."""
    other_states = len(other_memory.states)
    return [own * other_states + other for own in own_memory.mirrored for other in other_memory.mirrored]


def _find_reached_rows(own_memory: Memory, other_memory: Memory, seat: Seat) -> set[int]:
    """Return the memory rows at which `seat` can be to act after the responder observed a cell."""
    next_own, next_other = own_memory.following, other_memory.following
    last_own, last_other = own_memory.latest, other_memory.latest
    reached: set[tuple[int, int]] = set()
    frontier = {(0, 0)} if seat is Seat.TWO else {(own, 0) for own in next_own[0]}
    while frontier:
        acting = {
            (own, next_other[other][c])
            for own, other in frontier
            for c in range(own_memory.cells)
            if c != last_other[other]
        } - reached
        reached |= acting
        frontier = {
            (next_own[own][c], other)
            for own, other in acting
            for c in range(own_memory.cells)
            if c != last_own[own]
        }
    return {own * len(next_other) + other for own, other in reached}
