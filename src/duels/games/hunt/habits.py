"""hunt's shipped strategy and some plain habits, as tables that can be played against each other exactly.

A habit is a function of what a seat sees at once, so that the same one can sit at a real match.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt.rules import (
    NONE_NAMED,
    OFF_GRID,
    Action,
    Known,
    Move,
    Observe,
    Phase,
    QuantumHunt,
    State,
    Tunnel,
)
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, Tables
from duels.solving.memory import Memory, Window

if TYPE_CHECKING:
    from duels.solving.pairs import Habit

Weigh = Callable[[Known, Sequence[Action]], list[float]]
"""The weight of each legal action, from what a seat has before its eyes."""


def uniform(view: Known, actions: Sequence[Action]) -> list[float]:
    """Any legal action, each as likely."""
    return [1.0] * len(actions)


def never_tunnels(view: Known, actions: Sequence[Action]) -> list[float]:
    """Any legal action but the tunnel."""
    return [float(not isinstance(action, Tunnel)) for action in actions]


def always_stays(view: Known, actions: Sequence[Action]) -> list[float]:
    """Enters anywhere and never moves again; names anything."""
    here = view.cell
    return [
        float(isinstance(a, Observe) or a == Move(here) or (not here and isinstance(a, Move)))
        for a in actions
    ]


def sweeps(view: Known, actions: Sequence[Action]) -> list[float]:
    """Moves anywhere but through the tunnel; names 1, 2, 3 … and begins anew."""
    if view.phase is not Phase.OBSERVE:
        return never_tunnels(view, actions)
    following = view.named[view.seat - 1] % CELLS + 1
    return [float(action.cell == following) for action in actions]


def stays_and_sweeps(view: Known, actions: Sequence[Action]) -> list[float]:
    """Both at once."""
    return (always_stays if view.phase is not Phase.OBSERVE else sweeps)(view, actions)


HABITS: dict[str, Weigh] = {
    "uniform": uniform,
    "never tunnels": never_tunnels,
    "always stays": always_stays,
    "sweeps": sweeps,
    "stays and sweeps": stays_and_sweeps,
}


def of_strategy(tables: Tables, own: Memory = OWN, others: Memory = OTHERS) -> "Habit":
    """One seat's tables, as the shipped ones are."""
    import numpy as np

    from duels.solving.pairs import NOWHERE, Habit

    cells, rows = own.cells, len(own.states) * len(others.states)
    places = cells + 1
    moves, names = np.zeros((rows, places, places)), np.zeros((rows, places, cells))
    moves[:, :, :cells] = shares(np.array(tables.moves, float).reshape(rows, places, cells))
    names[:, :cells] = shares(np.array(tables.names, float).reshape(rows, cells, cells))
    return Habit(own, others, np.array([*range(cells), NOWHERE]), moves, names)


def of_weights(weigh: Weigh, seat: Seat, cells: int = CELLS) -> "Habit":
    """A habit as tables, by asking the rules what it may do wherever it can come to, and asking it there.

    A token's types: its cell with the tunnel spent, its cell with the tunnel left, off the grid.
    """
    import numpy as np

    from duels.solving.pairs import Habit

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
    return Habit(last, last, np.array([cell - 1 for cell, _ in types]), moves, names)


def keeping_the_tunnel(habit: "Habit") -> "Habit | None":
    """The same habit by the token's cell alone, if it never tunnels; else None."""
    cells = habit.own.cells
    kept = slice(cells, None)
    if habit.moves[:, kept, :cells].any():
        return None
    return replace(habit, cell=habit.cell[kept], moves=habit.moves[:, kept, kept], names=habit.names[:, kept])


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


def shares(weights: Any) -> Any:
    """Weights as parts of the sum of their row, 0 where that is 0."""
    import numpy as np

    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
