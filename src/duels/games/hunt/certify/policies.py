"""Memory policies: what a seat of hunt does, by its token and by what it remembers of both sides' naming.

Tables of the shipped kind and policies given as functions both become one; that needs numpy.
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
    Known,
    Observe,
    Phase,
    QuantumHunt,
    State,
)
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, Tables

Array = np.ndarray[Any, Any]
Weigh = Callable[[Known, Sequence[Action]], list[float]]
"""The weight of each legal action, from what a seat sees now: a policy without memory of its own."""
NOWHERE = -1
"""The cell of a token that is off the grid, and of a naming that has not been."""


@dataclass(frozen=True)
class MemoryPolicy:
    """Rows are numbered by what is remembered of both sides' naming, the own side's first."""

    own: Memory
    others: Memory
    cell: Array
    """By type: the token's cell. The last type is the one it starts with."""
    moves: Array
    """By row, type and type: the chance to become the other."""
    names: Array
    """By row, type and cell: the chance to name it."""


def policy_of_tables(tables: Tables, own: Memory = OWN, others: Memory = OTHERS) -> MemoryPolicy:
    """One seat's tables. They never tunnel, so a token's type is its cell."""
    cells, rows = own.cells, len(own.states) * len(others.states)
    places = cells + 1
    moves, names = np.zeros((rows, places, places)), np.zeros((rows, places, cells))
    moves[:, :, :cells] = normalized(np.array(tables.moves, float).reshape(rows, places, cells))
    names[:, :cells] = normalized(np.array(tables.names, float).reshape(rows, cells, cells))
    return MemoryPolicy(own, others, np.array([*range(cells), NOWHERE]), moves, names)


def policy_of_weights(weigh: Weigh, seat: Seat, cells: int = CELLS) -> MemoryPolicy:
    """A policy given as a function: it is asked wherever the rules say that it can come to.

    A token's types: its cell with the tunnel spent, its cell with the tunnel left, off the grid.
    """
    rules, last = QuantumHunt(cells), Window(cells, 1)
    types = [(cell, tunnel) for tunnel in (False, True) for cell in range(1, cells + 1)] + [(OFF_GRID, True)]
    rows = len(last.states) ** 2
    moves, names = np.zeros((rows, len(types), len(types))), np.zeros((rows, len(types), cells))
    waiting = _first_turns(rules, seat)
    met = set(waiting)
    for state in waiting:  # grows while it is read
        row, number = _row(last, state, seat), types.index(_type(state, seat))
        actions = rules.actions(state)
        weights = weigh(rules.view(state, seat), actions)
        for action, weight in zip(actions, weights, strict=True):
            if not weight:
                continue
            share = weight / sum(weights)
            after = rules.apply(state, action).state
            if isinstance(action, Observe):
                names[row, number, action.cell - 1] += share
                following = _answered(rules, after)
            else:
                moves[row, number, types.index(_type(after, seat))] += share
                following = [after]
            fresh = [then for then in following if then not in met]
            waiting += fresh
            met.update(fresh)
    return MemoryPolicy(last, last, np.array([cell - 1 for cell, _ in types]), moves, names)


def keeping_the_tunnel(policy: MemoryPolicy) -> MemoryPolicy | None:
    """The same policy by the token's cell alone, if it never tunnels; else None."""
    cells = policy.own.cells
    kept = slice(cells, None)
    if policy.moves[:, kept, :cells].any():
        return None
    return replace(
        policy, cell=policy.cell[kept], moves=policy.moves[:, kept, kept], names=policy.names[:, kept]
    )


def _first_turns(rules: QuantumHunt, seat: Seat) -> list[State]:
    """What `seat` can meet when it first moves; the other's token never matters here, and stays off."""
    start = rules.initial()
    if seat is Seat.ONE:
        return [start]
    heard = [action.cell for action in rules.actions(replace(start, phase=Phase.OBSERVE))]
    return [replace(start, named=(cell, NONE_NAMED), mover=seat) for cell in heard]


def _answered(rules: QuantumHunt, state: State) -> list[State]:
    """All that the other can have named in answer, without a hit."""
    naming = replace(state, phase=Phase.OBSERVE)
    answers = (rules.apply(naming, action).state for action in rules.actions(naming))
    return [answer for answer in answers if not answer.end]


def _type(state: State, seat: Seat) -> tuple[int, bool]:
    return state.cells[seat - 1], state.tunnels[seat - 1]


def _row(last: Window, state: State, seat: Seat) -> int:
    mine, theirs = (
        last.numbers[(named - 1,) if named else ()]
        for named in (state.named[seat - 1], state.named[seat.other - 1])
    )
    return mine * len(last.states) + theirs


def normalized(weights: Any) -> Any:
    """Weights as shares of the sum of their row, 0 where that is 0."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
