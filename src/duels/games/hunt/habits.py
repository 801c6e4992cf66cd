"""hunt's shipped strategy and some plain habits, as tables that can be played against each other exactly.

A habit is a function of what a seat sees at once, so that the same one can sit at a real match.
"""

from array import array
from collections.abc import Callable, Sequence
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
from duels.games.hunt.strategy import CELLS, OTHERS, OWN, PLACES, SCALE, Tables
from duels.solving.memory import Window

if TYPE_CHECKING:
    from duels.solving.pairs import Habit

Weigh = Callable[[Known, Sequence[Action]], list[float]]
"""The weight of each legal action, from what a seat has before its eyes."""
LAST = Window(CELLS, 1)
"""All that a habit here remembers of either side's naming."""


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


def of_strategy(tables: Tables) -> "Habit":
    """One seat's shipped tables."""
    import numpy as np

    from duels.solving.pairs import NOWHERE, Habit

    rows = len(OWN.states) * len(OTHERS.states)
    moves, names = np.zeros((rows, PLACES, PLACES)), np.zeros((rows, PLACES, CELLS))
    moves[:, :, :CELLS] = _shares(tables.moves, (rows, PLACES, CELLS))
    names[:, :CELLS] = _shares(tables.names, (rows, CELLS, CELLS))
    return Habit(OWN, OTHERS, np.array([*range(CELLS), NOWHERE]), moves, names)


def of_weights(weigh: Weigh, seat: Seat) -> "Habit":
    """A habit as tables, by asking the rules what it may do wherever it can be."""
    import numpy as np

    from duels.solving.pairs import Habit

    rules = QuantumHunt(CELLS)
    types = [(cell, tunnel) for tunnel in (False, True) for cell in range(1, CELLS + 1)] + [(OFF_GRID, True)]
    rows = len(LAST.states) ** 2
    moves, names = np.zeros((rows, len(types), len(types))), np.zeros((rows, len(types), CELLS))
    for row in range(rows):
        mine, theirs = (
            state[0] + 1 if state else NONE_NAMED
            for state in (LAST.states[part] for part in divmod(row, len(LAST.states)))
        )
        named = (mine, theirs) if seat is Seat.ONE else (theirs, mine)
        for number, (cell, tunnel) in enumerate(types):
            cells = (cell, OFF_GRID) if seat is Seat.ONE else (OFF_GRID, cell)
            for phase in Phase:
                state = State(cells, (tunnel, tunnel), named, seat, phase)
                actions = rules.actions(state)
                weights = weigh(rules.sight(state, seat).view, actions)
                for action, weight in zip(actions, weights, strict=True):
                    share = weight / sum(weights)
                    if isinstance(action, Observe):
                        names[row, number, action.cell - 1] += share
                    else:
                        after = rules.apply(state, action).state
                        to = types.index((after.cells[seat - 1], after.tunnels[seat - 1]))
                        moves[row, number, to] += share
    return Habit(LAST, LAST, np.array([cell - 1 for cell, _ in types]), moves, names)


def as_tables(habit: "Habit") -> Tables:
    """A habit that keeps its tunnel, as a strategy is stored: what a best responder wins can be bounded."""
    kept = slice(CELLS, None)
    moves, names = habit.moves[:, kept, kept][:, :, :CELLS], habit.names[:, kept][:, :CELLS]

    def whole(shares: Any) -> "array[int]":
        return array("H", (shares * SCALE).round().astype("uint16").tobytes())

    return Tables(whole(moves), whole(names))


def _shares(weights: "array[int]", shape: tuple[int, ...]) -> Any:
    import numpy as np

    shaped = np.array(weights, float).reshape(shape)
    total = shaped.sum(axis=-1, keepdims=True)
    return np.divide(shaped, total, out=np.zeros_like(shaped), where=total > 0)
