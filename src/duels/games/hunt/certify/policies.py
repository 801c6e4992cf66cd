"""Memory policies for hunt: a seat's actions depend on its token and a memory of both sides' observations.

They are made from tables of the shipped kind or from functions. Needs numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.memory import Memory, Window
from duels.games.hunt.rules import NONE_OBSERVED, OFF_GRID, Action, Observe, Phase, QuantumHunt, State, View
from duels.games.hunt.strategy import CELLS, OTHER_MEMORY, OWN_MEMORY, Tables

Array = np.ndarray[Any, Any]
Weigh = Callable[[View, Sequence[Action]], list[float]]
"""A memoryless policy: maps a view and the legal actions to the weight of each action."""
NOWHERE = -1
"""The cell of a token off the grid, and of an observation that was not made."""


@dataclass(frozen=True)
class MemoryPolicy:
    """A policy in tables. A row is a pair of memory states, with the own side's as the major index."""

    own_memory: Memory
    other_memory: Window
    type_cells: Array
    """The token's cell, indexed [type]. The last type is off the grid, where a token starts."""
    move_probs: Array
    """Movement probabilities, indexed [row, type, new type]."""
    observation_probs: Array
    """Observation probabilities, indexed [row, type, cell]."""


def make_policy_from_tables(
    tables: Tables, own_memory: Memory = OWN_MEMORY, other_memory: Window = OTHER_MEMORY
) -> MemoryPolicy:
    """Return one seat's tables after the opening. They never tunnel, so a token's type is its cell."""
    cells, rows = own_memory.cells, len(own_memory.states) * len(other_memory.states)
    types = cells + 1
    moves = np.array(tables.moves[: rows * types * cells], float).reshape(rows, types, cells)
    observations = np.array(tables.observations[: rows * cells * cells], float).reshape(rows, cells, cells)
    move_probs, observation_probs = np.zeros((rows, types, types)), np.zeros((rows, types, cells))
    move_probs[:, :, :cells], observation_probs[:, :cells] = normalize(moves), normalize(observations)
    type_cells = np.array([*range(cells), NOWHERE])
    return MemoryPolicy(own_memory, other_memory, type_cells, move_probs, observation_probs)


def make_policy_from_function(weigh: Weigh, seat: Seat, cells: int = CELLS) -> MemoryPolicy:
    """Return a policy from a function, which is evaluated at every view that its play can reach.

    A token's types are its cell with the tunnel spent, its cell with the tunnel left, and off the grid.
    """
    rules, memory = QuantumHunt(cells), Window(cells, 1)
    types = [(cell, tunnel) for tunnel in (False, True) for cell in range(1, cells + 1)] + [(OFF_GRID, True)]
    rows = len(memory.states) ** 2
    move_probs = np.zeros((rows, len(types), len(types)))
    observation_probs = np.zeros((rows, len(types), cells))
    queue = _list_first_states(rules, seat)
    reached = set(queue)
    for state in queue:  # grows during the loop
        row, type_index = _find_row(memory, state, seat), types.index(_get_type(state, seat))
        actions = rules.actions(state)
        weights = weigh(rules.view(state, seat), actions)
        for action, weight in zip(actions, weights, strict=True):
            if not weight:
                continue
            share = weight / sum(weights)
            after = rules.apply(state, action).state
            if isinstance(action, Observe):
                observation_probs[row, type_index, action.cell - 1] += share
                successors = _list_replies(rules, after)
            else:
                move_probs[row, type_index, types.index(_get_type(after, seat))] += share
                successors = [after]
            new_states = [new for new in successors if new not in reached]
            queue += new_states
            reached.update(new_states)
    type_cells = np.array([cell - 1 for cell, _ in types])
    return MemoryPolicy(memory, memory, type_cells, move_probs, observation_probs)


def drop_tunnel(policy: MemoryPolicy) -> MemoryPolicy | None:
    """Return the policy with cells as types, or None if it ever tunnels."""
    cells = policy.own_memory.cells
    return None if policy.move_probs[:, cells:, :cells].any() else keep_tunnel_types(policy)


def keep_tunnel_types(policy: MemoryPolicy) -> MemoryPolicy:
    """Return the policy restricted to the types whose tunnel is left."""
    tunnel_left = slice(policy.own_memory.cells, None)
    return replace(
        policy,
        type_cells=policy.type_cells[tunnel_left],
        move_probs=policy.move_probs[:, tunnel_left, tunnel_left],
        observation_probs=policy.observation_probs[:, tunnel_left],
    )


def _list_first_states(rules: QuantumHunt, seat: Seat) -> list[State]:
    """Return the states of the first turn. The opponent's token does not matter and stays off the grid."""
    start = rules.initial()
    if seat is Seat.ONE:
        return [start]
    cells = [action.cell for action in rules.actions(replace(start, phase=Phase.OBSERVE))]
    return [replace(start, last_observed=(cell, NONE_OBSERVED), mover=seat) for cell in cells]


def _list_replies(rules: QuantumHunt, state: State) -> list[State]:
    """Return the states after every observation of the opponent that misses."""
    observing = replace(state, phase=Phase.OBSERVE)
    replies = (rules.apply(observing, action).state for action in rules.actions(observing))
    return [reply for reply in replies if not reply.end]


def _get_type(state: State, seat: Seat) -> tuple[int, bool]:
    return state.cells[seat - 1], state.tunnels[seat - 1]


def _find_row(memory: Window, state: State, seat: Seat) -> int:
    own, other = (
        memory.index((cell - 1,) if cell else ())
        for cell in (state.last_observed[seat - 1], state.last_observed[seat.other - 1])
    )
    return own * len(memory.states) + other


def normalize(weights: Any) -> Any:
    """Divide weights by the sum of their row. Rows with sum 0 become 0."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
