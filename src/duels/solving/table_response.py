"""The best answer to a policy, in a game that has tables and no secrets, by value iteration on arrays."""

import numpy as np
from numpy.typing import NDArray

from duels.solving.tables import NOBODY, Tables

Table = NDArray[np.float64]
Flags = NDArray[np.bool_]

CLOSE = 1e-12  # a sweep that changes no value by more ends the search
MOST_SWEEPS = 100_000


def best_response_value(tables: Tables, policy: Table, responder: int, limit: int | None = None) -> float:
    """The probability that the best `responder` (0 or 1) wins against `policy`.

    `policy` is [state, action], the other seat's probabilities. Never-ending play, and play that is
    cut off at `limit` ticks of the clock, counts one half.
    """
    response = _Response(tables, policy, responder)
    if limit is None:
        return float(response.values(None)[0])
    after_tick = np.where(tables.actor == NOBODY, response.ended, 0.5)
    for _ in range(limit):  # from the last tick back to the first
        after_tick = response.values(after_tick)
    return float(after_tick[0])


class _Response:
    """A game against a fixed policy: what is left is one player's, the responder's."""

    def __init__(self, tables: Tables, policy: Table, responder: int) -> None:
        self._over = tables.actor == NOBODY
        self.ended = (tables.winner == responder).astype(np.float64)
        self._deciding = np.flatnonzero(~self._over)
        chooses = tables.actor == responder
        # Every move that can be taken, state by state.
        state, action = np.nonzero(tables.legal & (chooses[:, None] | (policy > 0)))
        self._first = np.searchsorted(state, self._deciding)
        moves = tables.successor[state, action]
        self._after, self._ticks = moves >> 1, (moves & 1).astype(np.bool_)
        self._weights = policy[state, action]
        self._chooses = chooses[self._deciding]

    def values(self, after_tick: Table | None) -> Table:
        """The value of every state, given those after a tick of the clock (None: a tick changes nothing).

        Swept up from below: a state is worth at least one half if the responder can make the game last
        for ever, and as much as its best move. (To sweep from one half everywhere would be wrong: near
        the end of so many sweeps it pays to be losing slowly, however many they are.)
        """
        least = np.where(self._safe(after_tick is None), 0.5, 0.0)
        values = np.where(self._over, self.ended, least)
        for _ in range(MOST_SWEEPS):
            swept = np.maximum(self._backup(values, after_tick), least[self._deciding])
            moved = float(np.abs(swept - values[self._deciding]).max())
            values[self._deciding] = swept
            if moved <= CLOSE:
                return values
        raise ArithmeticError(f"values still move by {moved} after {MOST_SWEEPS} sweeps")

    def _backup(self, values: Table, after_tick: Table | None) -> Table:
        turns_out = values[self._after]
        if after_tick is not None:
            turns_out = np.where(self._ticks, after_tick[self._after], turns_out)
        worth = turns_out.mean(axis=1)
        best = np.maximum.reduceat(worth, self._first)
        expected = np.add.reduceat(worth * self._weights, self._first)
        return np.where(self._chooses, best, expected)

    def _safe(self, ticks_are_safe: bool) -> Flags:
        """Where the responder can make the game last for ever, whatever policy and chance do."""
        safe: Flags = ~self._over
        while True:
            stays = safe[self._after] & (ticks_are_safe | ~self._ticks)
            stays = stays.all(axis=1)
            kept = np.where(
                self._chooses,
                np.logical_or.reduceat(stays, self._first),
                np.logical_and.reduceat(stays, self._first),
            )
            if (safe[self._deciding] == kept).all():
                return safe
            safe = safe.copy()
            safe[self._deciding] = kept
