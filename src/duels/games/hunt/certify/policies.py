"""Memory policies for hunt: a seat's actions depend on its token and a memory of both sides' observations.

They are made from tables of the shipped kind or from functions. Needs numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.memory import Memory, Window
from duels.games.hunt.rules import (
    NONE_NAMED,
    OFF_GRID,
    Action,
    Observe,
    Phase,
    QuantumHunt,
    State,
    View,
)
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, Tables

Array = np.ndarray[Any, Any]
Weigh = Callable[[View, Sequence[Action]], list[float]]
"""A memoryless policy: from a view and the legal actions to the weight of each action."""
NOWHERE = -1
"""The cell of a token off the grid, and of an observation that was not made."""


@dataclass(frozen=True)
class MemoryPolicy:
    """A policy by memory row. The own side's memory is the more significant part of a row's number."""

    own: Memory
    others: Memory
    cell: Array
    """By type: the token's cell. The last type is the first one in a match."""
    moves: Array
    """By row, type and new type: the probability of the movement."""
    names: Array
    """By row, type and cell: the probability of the observation."""


def make_policy_from_tables(tables: Tables, own: Memory = OWN, others: Memory = OTHERS) -> MemoryPolicy:
    """Return one seat's tables as a policy. They never tunnel, so a token's type is its cell."""
    cells, rows = own.cells, len(own.states) * len(others.states)
    places = cells + 1
    moves, names = np.zeros((rows, places, places)), np.zeros((rows, places, cells))
    moves[:, :, :cells] = normalize(np.array(tables.moves, float).reshape(rows, places, cells))
    names[:, :cells] = normalize(np.array(tables.names, float).reshape(rows, cells, cells))
    return MemoryPolicy(own, others, np.array([*range(cells), NOWHERE]), moves, names)


def make_policy_from_function(weigh: Weigh, seat: Seat, cells: int = CELLS) -> MemoryPolicy:
    """Return a policy from a function, which is evaluated at every view that its play can reach.

    A token's types are its cell with the tunnel spent, its cell with the tunnel left, and off the grid.
    """
    rules, last = QuantumHunt(cells), Window(cells, 1)
    types = [(cell, tunnel) for tunnel in (False, True) for cell in range(1, cells + 1)] + [(OFF_GRID, True)]
    rows = len(last.states) ** 2
    moves, names = np.zeros((rows, len(types), len(types))), np.zeros((rows, len(types), cells))
    waiting = _list_first_states(rules, seat)
    seen = set(waiting)
    for state in waiting:  # grows during the loop
        row, number = _find_row(last, state, seat), types.index(_get_type(state, seat))
        actions = rules.actions(state)
        weights = weigh(rules.view(state, seat), actions)
        for action, weight in zip(actions, weights, strict=True):
            if not weight:
                continue
            share = weight / sum(weights)
            after = rules.apply(state, action).state
            if isinstance(action, Observe):
                names[row, number, action.cell - 1] += share
                following = _list_replies(rules, after)
            else:
                moves[row, number, types.index(_get_type(after, seat))] += share
                following = [after]
            fresh = [new for new in following if new not in seen]
            waiting += fresh
            seen.update(fresh)
    return MemoryPolicy(last, last, np.array([cell - 1 for cell, _ in types]), moves, names)


def drop_tunnel(policy: MemoryPolicy) -> MemoryPolicy | None:
    """Return the policy by the token's cell alone, or None if it ever tunnels."""
    cells = policy.own.cells
    tunnel_left = slice(cells, None)
    if policy.moves[:, tunnel_left, :cells].any():
        return None
    return replace(
        policy,
        cell=policy.cell[tunnel_left],
        moves=policy.moves[:, tunnel_left, tunnel_left],
        names=policy.names[:, tunnel_left],
    )


def _list_first_states(rules: QuantumHunt, seat: Seat) -> list[State]:
    """Return the states of the first turn. The opponent's token does not matter and stays off the grid."""
    start = rules.initial()
    if seat is Seat.ONE:
        return [start]
    cells = [action.cell for action in rules.actions(replace(start, phase=Phase.OBSERVE))]
    return [replace(start, named=(cell, NONE_NAMED), mover=seat) for cell in cells]


def _list_replies(rules: QuantumHunt, state: State) -> list[State]:
    """Return the states after every observation of the opponent that misses."""
    naming = replace(state, phase=Phase.OBSERVE)
    answers = (rules.apply(naming, action).state for action in rules.actions(naming))
    return [answer for answer in answers if not answer.end]


def _get_type(state: State, seat: Seat) -> tuple[int, bool]:
    return state.cells[seat - 1], state.tunnels[seat - 1]


def _find_row(last: Window, state: State, seat: Seat) -> int:
    mine, theirs = (
        last.numbers[(named - 1,) if named else ()]
        for named in (state.named[seat - 1], state.named[seat.other - 1])
    )
    return mine * len(last.states) + theirs


def normalize(weights: Any) -> Any:
    """Divide weights by the sum of their row. Rows with sum 0 become 0."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
