"""Hunt's levels for many games at once: the shipped strategy as arrays, and a memory per game.

A test compares them with the players of the same names.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.games.hunt.features import features
from duels.games.hunt.rules import Observe, QuantumHunt
from duels.games.hunt.strategy import CELLS, OFF, OTHER_MEMORY, OWN_MEMORY, POSITIONS, ROWS, load_strategy

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class HuntLevels:
    """A level at one seat of every game, with a memory of the positions that both seats named."""

    def __init__(self, rules: QuantumHunt, share: float, envs: int) -> None:
        self._share = share
        self._own_memory = np.zeros(envs, np.int64)
        self._other_memory = np.zeros(envs, np.int64)
        self._next_own_memory = np.array(OWN_MEMORY.successors)
        self._next_other_memory = np.array(OTHER_MEMORY.successors)
        self._first_observe = rules.all_actions().index(Observe(1))
        encoding = Encoding(features(rules))
        self._cell_columns = encoding.find_slice("my_cell")
        self._observe_column = encoding.names.index("my_phase=observe")

    @staticmethod
    def fits(rules: QuantumHunt) -> bool:
        """Return whether these levels support the rules."""
        return rules.cells == CELLS

    def begin(self, env_mask: Flags) -> None:
        """Clear the memory of the games that `env_mask` selects."""
        self._own_memory[env_mask] = self._other_memory[env_mask] = 0

    def on_actions(self, movers: Ints, actions: Ints, seats: Ints, env_mask: Flags) -> None:
        """Update the memory with the positions named in the selected games. The level plays `seats`."""
        named = env_mask & (actions >= self._first_observe)
        by_level, cells = movers == seats, actions - self._first_observe
        envs = named & by_level
        self._own_memory[envs] = self._next_own_memory[self._own_memory[envs], cells[envs]]
        envs = named & ~by_level
        self._other_memory[envs] = self._next_other_memory[self._other_memory[envs], cells[envs]]

    def odds(
        self, observations: NDArray[np.int8], masks: NDArray[np.int8], seats: Ints, env_mask: Flags
    ) -> Floats:
        """Return the level's probabilities, indexed [game of `env_mask`, action]."""
        moves, observed = _load_weights()
        rows = self._own_memory[env_mask] * len(OTHER_MEMORY.states) + self._other_memory[env_mask]
        seats = seats[env_mask]
        cells = observations[:, self._cell_columns].argmax(axis=1)  # 0: off the grid
        observing = observations[:, self._observe_column] == 1
        positions = np.where(cells > 0, cells - 1, OFF)
        observe_weights = observed[seats, rows, np.maximum(cells - 1, 0)]
        weights = (
            np.where(observing[:, None], observe_weights, moves[seats, rows, positions])
            * masks.reshape(len(masks), 3, CELLS)[np.arange(len(masks)), 2 * observing]
        )
        weights = weights / weights.sum(axis=1, keepdims=True)
        odds: Floats = self._share * masks / masks.sum(axis=1, keepdims=True)
        columns = np.where(observing, self._first_observe, 0)[:, None] + np.arange(CELLS)
        odds[np.arange(len(masks))[:, None], columns] += (1 - self._share) * weights
        return odds


@cache
def _load_weights() -> tuple[Floats, Floats]:
    """Return the weights of moves and of observations, both indexed [seat, row, position, cell]."""
    tables = [load_strategy()[seat] for seat in Seat]
    moves = np.array([table.moves for table in tables], np.float64).reshape(2, ROWS, POSITIONS, CELLS)
    observed = np.array([table.observations for table in tables], np.float64).reshape(2, ROWS, CELLS, CELLS)
    return moves, observed
