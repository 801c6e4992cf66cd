"""The best answer to a policy, in a game that has tables and no secrets, by value iteration on arrays."""

import numpy as np
from numpy.typing import NDArray

from duels.solving.tables import NOBODY, Tables

Table = NDArray[np.float64]

CLOSE = 1e-10  # a sweep that changes no value by more ends the search
MOST_SWEEPS = 100_000


def best_response_value(tables: Tables, policy: Table, responder: int, limit: int | None = None) -> float:
    """The probability that the best `responder` (0 or 1) wins against `policy`.

    `policy` is [state, action], the other seat's probabilities. Never-ending play, and play that is
    cut off at `limit` ticks of the clock, counts one half.
    """
    values = np.where(tables.actor == NOBODY, tables.winner == responder, 0.5)
    if limit is None:
        return float(_sweep(tables, policy, responder, values, None)[0])
    cut_off = values
    for _ in range(limit):  # from the last tick back to the first
        values = _sweep(tables, policy, responder, values.copy(), cut_off)
        cut_off = values
    return float(values[0])


def _sweep(tables: Tables, policy: Table, responder: int, values: Table, after_tick: Table | None) -> Table:
    """The values from which nothing moves, given those after a tick of the clock (None: the same).

    They are swept from one half inwards: after n sweeps they are what the best responder gets if a
    game that is still on after n moves counts one half. Where games end they soon stop changing.
    """
    deciding = np.flatnonzero(tables.actor != NOBODY)
    state, action = np.nonzero(tables.legal)  # every legal move, state by state
    first = np.searchsorted(state, deciding)
    moves = tables.successor[state, action]
    after, ticks = moves >> 1, (moves & 1).astype(np.bool_)
    weights = policy[state, action]
    chooses = tables.actor[deciding] == responder
    for _ in range(MOST_SWEEPS):
        turns_out = values[after]
        if after_tick is not None:
            turns_out = np.where(ticks, after_tick[after], turns_out)
        worth = turns_out.mean(axis=1)
        best = np.maximum.reduceat(worth, first)
        expected = np.add.reduceat(worth * weights, first)
        swept = np.where(chooses, best, expected)
        moved = float(np.abs(swept - values[deciding]).max())
        values[deciding] = swept
        if moved <= CLOSE:
            return values
    raise ArithmeticError(f"values still move by {moved} after {MOST_SWEEPS} sweeps")
