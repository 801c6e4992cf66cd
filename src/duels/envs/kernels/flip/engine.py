"""A single game of Quantum Flip, in plain Python."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.engine import Engine
from duels.envs.kernels.flip import step as kernel
from duels.envs.kernels.flip.step import ACTIONS, MASK, MOVER, OBSERVATION
from duels.envs.settings import DEFAULT_SETTINGS, EnvSettings
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.tables import NOBODY, ONGOING


class FlipEngine(Engine):
    """An engine for Quantum Flip."""

    rules: QuantumTiles

    def __init__(self, rules: QuantumTiles, settings: EnvSettings = DEFAULT_SETTINGS) -> None:
        self.rules, self.settings = rules, settings
        self._layout = layout = kernel.get_layout(rules)
        self.num_actions = layout[ACTIONS]
        self.observation_size = layout[MASK] - layout[OBSERVATION]
        self.truncated = False
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._game = bytearray(kernel.get_first_game(self.rules))
        self._set_result(ONGOING)

    def step(self, action: int, chance: int) -> None:
        self._set_result(kernel.step(self._game, action, chance, self._layout))

    def _set_result(self, result: int) -> None:
        self.result = result
        self.actor = self.next_actor = self._game[MOVER] if result == ONGOING else NOBODY

    def allows(self, action: int) -> bool:
        legal = self.actor != NOBODY and 0 <= action < self.num_actions
        return legal and self._game[self._layout[MASK] + action] == 1

    def mask(self) -> NDArray[np.int8]:
        if self.actor == NOBODY:
            return np.zeros(self.num_actions, np.int8)
        return np.frombuffer(self._game[self._layout[MASK] :], np.int8)

    def observe(self, seat: int) -> NDArray[np.int8]:
        features = np.frombuffer(self._game[self._layout[OBSERVATION] : self._layout[MASK]], np.int8)
        return features if seat == self._game[MOVER] else swap_perspective(features, self.rules)


def swap_perspective(observations: NDArray[np.int8], rules: QuantumTiles) -> NDArray[np.int8]:
    """Turn observations of the player to move into those of the other player."""
    order, my_turn = _swap_order(rules)
    swapped = observations.take(order, axis=-1)
    swapped[..., my_turn] = 0
    return swapped


@lru_cache(maxsize=16)
def _swap_order(rules: QuantumTiles) -> tuple[NDArray[np.intp], slice]:
    """Return the indices that swap both players' features, and the slice of `my_turn`."""
    encoding = Encoding(features(rules))
    indices = np.arange(encoding.size)
    order = indices.copy()
    for feature in ("score", "quantum"):
        own_slice, other_slice = (encoding.find_slice(f"{owner}_{feature}") for owner in ("my", "other"))
        order[own_slice], order[other_slice] = indices[other_slice], indices[own_slice]
    return order, encoding.find_slice("my_turn")
