"""One game of Quantum Flip, stepped in plain Python."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.engine import Engine
from duels.envs.form import PLAIN, Form
from duels.envs.kernels.flip import step as kernel
from duels.envs.kernels.flip.step import ACTIONS, MASK, MOVER, SHOWN
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.tables import NOBODY, ONGOING


class FlipEngine(Engine):
    """A game of Quantum Flip."""

    rules: QuantumTiles

    def __init__(self, rules: QuantumTiles, form: Form = PLAIN) -> None:
        self.rules, self.form = rules, form
        self._layout = layout = kernel.layout_of(rules)
        self.num_actions = layout[ACTIONS]
        self.observation_size = layout[MASK] - layout[SHOWN]
        self.truncated = False
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._place((bytearray(kernel.start_of(self.rules)), ONGOING))

    def _position(self) -> tuple[bytearray, int]:
        return self._game, self.result

    def _place(self, position: tuple[bytearray, int]) -> None:
        self._game, self.result = position
        self.actor = self.next_actor = self._game[MOVER] if self.result == ONGOING else NOBODY

    def step(self, action: int, chance: int) -> None:
        self._place((self._game, kernel.step(self._game, action, chance, self._layout)))

    def allows(self, action: int) -> bool:
        legal = self.actor != NOBODY and 0 <= action < self.num_actions
        return legal and self._game[self._layout[MASK] + action] == 1

    def mask(self) -> NDArray[np.int8]:
        if self.actor == NOBODY:
            return np.zeros(self.num_actions, np.int8)
        return np.frombuffer(self._game[self._layout[MASK] :], np.int8)

    def observe(self, seat: int) -> NDArray[np.int8]:
        shown = np.frombuffer(self._game[self._layout[SHOWN] : self._layout[MASK]], np.int8)
        return shown if seat == self._game[MOVER] else turn_around(shown, self.rules)


def turn_around(shown: NDArray[np.int8], rules: QuantumTiles) -> NDArray[np.int8]:
    """Return observations of the player to move as the other player sees them."""
    order, my_turn = _order_of_other(rules)
    turned = shown.take(order, axis=-1)
    turned[..., my_turn] = 0
    return turned


@lru_cache(maxsize=16)
def _order_of_other(rules: QuantumTiles) -> tuple[NDArray[np.intp], slice]:
    """Where the other player finds each number, and the feature `my_turn`."""
    encoding = Encoding(features(rules))
    numbers = np.arange(encoding.size)
    order = numbers.copy()
    for feature in ("score", "quantum"):
        mine, other = (encoding.place(f"{whose}_{feature}") for whose in ("my", "other"))
        order[mine], order[other] = numbers[other], numbers[mine]
    return order, encoding.place("my_turn")


ENGINE = FlipEngine
