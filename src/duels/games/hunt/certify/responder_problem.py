"""The POMDP of a best responder to a fixed strategy of hunt, whose state is hidden. Needs numpy."""

from itertools import product
from typing import NamedTuple

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import Array, MemoryPolicy
from duels.games.hunt.memory import Memory
from duels.games.hunt.strategy import CELLS, OTHER_MEMORY, OWN_MEMORY

TYPES = 2 * CELLS + 1
"""The number of types of a responder: its cell, plus `CELLS` if its tunnel is left; last, off the grid."""
MAX_STATES = 8
"""The maximum number of hidden states for upper bounds, which are stored for every set of states."""


class ResponderProblem(NamedTuple):
    """The responder's POMDP as arrays, for compiled code. Sets of hidden states are bit masks.

    At a node, the responder takes an action. It wins against the states in `win_masks`, play continues with
    those in `continue_masks`, and it loses to the rest. The action leads to an afterstate, at which the
    strategy acts. The hidden state changes by a kernel. The responder wins against new states in
    `collision_masks`. The others emit an observation, which leads to the next node or beats the responder.
    """

    first_action: Array
    """The actions of node n are `first_action[n]` up to, not including, `first_action[n + 1]`."""
    win_masks: Array
    continue_masks: Array
    afterstates: Array
    """The afterstate of each action."""
    kernels: Array
    """Per afterstate: its index in `transition_probs` and `observation_probs`."""
    collision_masks: Array
    support: Array
    """Per afterstate: the mask of possible states, 0 if it is never reached."""
    next_nodes: Array
    """The responder's next node, indexed [afterstate, observation]; -1 if the observation beats it."""
    transition_probs: Array
    """Transition probabilities, indexed [kernel, old state, new state]."""
    observation_probs: Array
    """Observation probabilities, indexed [kernel, observation, new state]."""
    start_nodes: Array
    """The responder's first nodes."""
    start_beliefs: Array
    """Beliefs at the first nodes, indexed [first node, state]."""
    is_mirrored: Array
    """Per action: whether the hidden states at its afterstate are mirror images."""
    mirror: Array
    """The mirror image of each state."""
    states: tuple[int, ...]
    """The hidden states. A tuple's length is part of its type, so loops are compiled for this number."""


def find_next_type(token_type: int, cell: int, cells: int = CELLS) -> int | None:
    """Return the responder's type after it moves to `cell`, or None if it cannot.

    A tunnel to a neighbouring cell is never needed: a step keeps the tunnel for later.
    """
    if token_type == 2 * cells:
        return cells + cell
    has_tunnel, old_cell = divmod(token_type, cells)
    if abs(old_cell - cell) <= 1:
        return token_type - old_cell + cell
    return cell if has_tunnel else None


def make_problem(policy: MemoryPolicy, seat: Seat) -> ResponderProblem:
    """Return the POMDP of a responder to `seat`'s policy. The type of its token is the hidden state."""
    cells, off_grid = policy.own_memory.cells, len(policy.type_cells) - 1
    rows = len(policy.own_memory.states) * len(policy.other_memory.states)
    state_count = max(off_grid + 1, MAX_STATES)
    transition_probs = np.zeros((rows, state_count, state_count))
    transition_probs[:, : off_grid + 1, : off_grid + 1] = policy.move_probs
    observation_probs = np.zeros((rows, cells, state_count))
    observation_probs[:, :, : off_grid + 1] = policy.observation_probs.transpose(0, 2, 1)
    # The responder's first nodes if it moves second.
    other_states, types = len(policy.other_memory.states), 2 * cells + 1
    entry_nodes = np.array(policy.own_memory.successors[0]) * other_states * types + 2 * cells
    support, collision_masks, next_nodes = _list_afterstates(policy, seat)
    start_nodes, start_beliefs = np.array([2 * cells]), np.eye(state_count)[[off_grid]]
    if seat is Seat.ONE:
        support[2 * cells], next_nodes[2 * cells] = 1 << off_grid, entry_nodes  # the strategy enters
        start_nodes, start_beliefs = entry_nodes, transition_probs[0, off_grid] * observation_probs[0]
    first_action, win_masks, continue_masks, afterstates = _list_actions(policy, state_count)
    return ResponderProblem(
        first_action,
        win_masks,
        continue_masks,
        afterstates,
        np.repeat(np.arange(rows), types),
        collision_masks,
        support,
        next_nodes,
        transition_probs,
        observation_probs,
        start_nodes,
        start_beliefs,
        is_mirrored=np.zeros(len(afterstates), np.bool_),
        mirror=np.arange(state_count),
        states=tuple(range(state_count)),
    )


def _list_type_masks(policy: MemoryPolicy) -> list[int]:
    """Return each cell's mask of hidden types."""
    on_grid = policy.type_cells[:-1]
    return [
        sum(1 << int(state) for state in np.nonzero(on_grid == cell)[0])
        for cell in range(policy.own_memory.cells)
    ]


def _list_actions(policy: MemoryPolicy, state_count: int) -> tuple[Array, Array, Array, Array]:
    """Return the responder's actions at every node: each moves to a cell and observes another."""
    cells, other_states = policy.own_memory.cells, len(policy.other_memory.states)
    types, type_masks, all_states = 2 * cells + 1, _list_type_masks(policy), (1 << state_count) - 1
    latest, successors = policy.other_memory.latest, policy.other_memory.successors
    first_action, win_masks, continue_masks, afterstates = [0], [], [], []
    for own, other, token_type in product(
        range(len(policy.own_memory.states)), range(other_states), range(types)
    ):
        observable = [cell for cell in range(cells) if cell != latest[other]]
        next_types = [(cell, find_next_type(token_type, cell, cells)) for cell in range(cells)]
        for (cell, next_type), observed in product(next_types, observable):
            if next_type is not None:
                win_masks.append(type_masks[observed] & ~type_masks[cell])
                continue_masks.append(all_states & ~(type_masks[observed] | type_masks[cell]))
                afterstates.append((own * other_states + successors[other][observed]) * types + next_type)
        first_action.append(len(win_masks))
    return np.array(first_action), np.array(win_masks), np.array(continue_masks), np.array(afterstates)


def _list_afterstates(policy: MemoryPolicy, seat: Seat) -> tuple[Array, Array, Array]:
    """Return each afterstate's possible states, collisions, and node after each observation."""
    own_memory, other_memory = policy.own_memory, policy.other_memory
    cells, on_grid, other_states = own_memory.cells, len(policy.type_cells) - 1, len(other_memory.states)
    types, type_masks, on_grid_mask = 2 * cells + 1, _list_type_masks(policy), (1 << on_grid) - 1
    own_successors, own_latest, other_latest = own_memory.successors, own_memory.latest, other_memory.latest
    count = len(own_memory.states) * other_states * types
    support, collision_masks = np.zeros((2, count), np.int64)
    next_nodes = np.full((count, cells), -1, np.int64)
    # The strategy acts after an observation by the responder and, except on Player 2's first turn, its own.
    own_states = range(1 if seat is Seat.ONE else 0, len(own_memory.states))
    for own, other, token_type in product(own_states, range(1, other_states), range(2 * cells)):
        row = own * other_states + other
        afterstate, cell = row * types + token_type, token_type % cells
        possible = on_grid_mask & ~(type_masks[cell] | type_masks[other_latest[other]])
        # On two cells, no state may be possible. The action that leads there wins at once and must remain
        # available, so the afterstate gets some states: they have probability 0.
        support[afterstate] = (possible or on_grid_mask) if own_latest[own] >= 0 else 1 << on_grid
        collision_masks[afterstate] = type_masks[cell]
        for observed in range(cells):
            if observed not in (cell, own_latest[own]):
                next_row = own_successors[own][observed] * other_states + other
                next_nodes[afterstate, observed] = next_row * types + token_type
    return support, collision_masks, next_nodes


def merge_mirror_images(
    problem: ResponderProblem, own_memory: Memory = OWN_MEMORY, other_memory: Memory = OTHER_MEMORY
) -> ResponderProblem:
    """Return the problem with mirror images merged if the strategy is symmetric, else unchanged."""
    cells = own_memory.cells
    rows = np.array(list_mirrored_rows(own_memory, other_memory))
    types = np.array([*range(cells - 1, -1, -1), *range(2 * cells - 1, cells - 1, -1), 2 * cells])
    states = np.array([*range(cells - 1, -1, -1), *range(cells, MAX_STATES)])
    transition_probs = problem.transition_probs[rows][:, states][:, :, states]
    observation_probs = problem.observation_probs[rows][:, ::-1][:, :, states]
    if not (
        np.array_equal(transition_probs, problem.transition_probs)
        and np.array_equal(observation_probs, problem.observation_probs)
    ):
        return problem
    images = (rows[:, None] * len(types) + types).ravel()
    is_mirrored = images[problem.afterstates] < problem.afterstates
    return problem._replace(
        afterstates=np.where(is_mirrored, images[problem.afterstates], problem.afterstates),
        support=np.where(images < np.arange(len(images)), 0, problem.support),
        is_mirrored=is_mirrored,
        mirror=states,
    )


def list_mirrored_rows(own_memory: Memory = OWN_MEMORY, other_memory: Memory = OTHER_MEMORY) -> list[int]:
    """Return the mirror image of each memory row."""
    other_states = len(other_memory.states)
    return [own * other_states + other for own in own_memory.mirrored for other in other_memory.mirrored]
