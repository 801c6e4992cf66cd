"""Hunt's levels in many games at once: the shipped strategy as arrays, with the memory of each game.

A test compares them with the players of the same names.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.games.hunt.features import features
from duels.games.hunt.rules import Observe, QuantumHunt
from duels.games.hunt.strategy import CELLS, OFF, OTHERS, OWN, PLACES, ROWS, load_strategy

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def fits(rules: QuantumHunt) -> bool:
    """Return whether these levels support the rules."""
    return True


class HuntLevels:
    """A level at one seat of every game, with a memory of the positions that both seats named."""

    def __init__(self, rules: QuantumHunt, share: float, envs: int) -> None:
        self._share = share
        self._own = np.zeros(envs, np.int64)
        self._others = np.zeros(envs, np.int64)
        self._observe = rules.all_actions().index(Observe(1))

    def begin(self, which: Flags) -> None:
        """Clear the memory of `which` games."""
        self._own[which] = self._others[which] = 0

    def on_actions(self, movers: Ints, actions: Ints, seats: Ints, which: Flags) -> None:
        """Update the memory with the positions named in `which` games; `seats` are the level's."""
        own, others = _following()
        named = which & (actions >= self._observe)
        mine, theirs = named & (movers == seats), named & (movers != seats)
        self._own[mine] = own[self._own[mine], actions[mine] - self._observe]
        self._others[theirs] = others[self._others[theirs], actions[theirs] - self._observe]

    def odds(
        self, observations: NDArray[np.int8], masks: NDArray[np.int8], seats: Ints, which: Flags
    ) -> Floats:
        """[game of `which`, action] the level's probabilities."""
        moves, names = _weights()
        rows, at = self._own[which] * len(OTHERS.states) + self._others[which], seats[which]
        cells, observing = _read(observations)
        place = np.where(cells > 0, cells - 1, OFF)
        raw = (
            np.where(observing[:, None], names[at, rows, np.maximum(cells - 1, 0)], moves[at, rows, place])
            * masks.reshape(len(masks), 3, CELLS)[np.arange(len(masks)), 2 * observing]
        )
        raw = raw / raw.sum(axis=1, keepdims=True)
        odds: Floats = self._share * masks / masks.sum(axis=1, keepdims=True)
        begin = np.where(observing, self._observe, 0)[:, None] + np.arange(CELLS)
        odds[np.arange(len(masks))[:, None], begin] += (1 - self._share) * raw
        return odds


def _read(observations: NDArray[np.int8]) -> tuple[Ints, Flags]:
    """Return the cell of the seat's token (0: off the grid), and whether it observes next."""
    cells, observing_at = _places()
    return observations[:, cells].argmax(axis=1), observations[:, observing_at] == 1


@cache
def _places() -> tuple[slice, int]:
    """Return the places of both in an observation."""
    encoding = Encoding(features(QuantumHunt()))
    return encoding.place("my_cell"), encoding.names.index("my_phase=observe")


@cache
def _following() -> tuple[Ints, Ints]:
    """[memory, cell] the memory after naming a cell, for the own seat and for the other."""
    return np.array(OWN.following), np.array(OTHERS.following)


@cache
def _weights() -> tuple[Floats, Floats]:
    """[seat, row, place, cell] the strategy's weights to go to the cell, and to name it."""
    tables = [load_strategy()[seat] for seat in Seat]
    moves = np.array([table.moves for table in tables], np.float64).reshape(2, ROWS, PLACES, CELLS)
    names = np.array([table.observations for table in tables], np.float64).reshape(2, ROWS, CELLS, CELLS)
    return moves, names


LEVELS = HuntLevels
