"""One game of Quantum Flip, stepped quickly: the kernel, and what it shows, as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.engine import NOBODY, Engine
from duels.envs.kernels.flip import single
from duels.games.flip.features import features
from duels.games.flip.rules import Flip, Keep, QuantumFlip, QuantumTiles


class FlipEngine(Engine):
    """A game of Quantum Flip."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.rules = rules
        actions = rules.all_actions()
        self._moves = [action_of(action) for action in actions]
        self._tiles = rules.side**2
        self._keep = len(actions) - self._tiles
        # What is no longer possible once a tile is flipped: to flip it, alone or with a neighbour.
        self._closed = [
            np.array([a for a, move in enumerate(self._moves[: self._keep]) if tile in move[1:]])
            for tile in range(self._tiles)
        ]
        self.num_actions = len(actions)
        self.observation_size = Encoding(features(rules)).size
        self._face_marks = _marks(2 * rules.values + 1)
        self._points = _marks(rules.target + rules.values)
        self._game = [0] * single.size(self._tiles, rules.values)
        self.truncated = False
        self.reset()

    def reset(self) -> None:
        single.start(self._game, self._tiles, self.rules.values, self.rules.copies)
        self._faces = [self._face_marks[0]] * self._tiles
        self._open = np.array([1] * self._keep + [0] * self._tiles, np.int8)
        """[action] 1 where all tiles that a flip or a Quantum Flip takes are face down."""
        self.actor = 0
        self.winner = NOBODY

    def step(self, action: int, chance: int) -> None:
        kind, one, two = self._moves[action]
        game, values = self._game, self.rules.values
        self.winner = single.play(game, kind, one, two, chance, values, self.rules.target)
        if kind != single.PAIR:
            self._open[self._closed[one]] = 0
        for tile in (one, two):
            value, down = game[single.BAG + values + tile], game[single.DOWN] >> tile & 1
            self._faces[tile] = self._face_marks[value + values * down]
        self.actor = game[single.MOVER] if self.winner == NOBODY else NOBODY

    def allows(self, action: int) -> bool:
        game = self._game
        if self.actor == NOBODY or not 0 <= action < self.num_actions:
            return False
        if game[single.CHOOSING]:
            return action - self._keep in (game[single.ONE], game[single.TWO])
        if action >= self._tiles and not game[single.QUANTUM + self.actor]:
            return False
        return bool(self._open[action])

    def mask(self) -> NDArray[np.int8]:
        game = self._game
        if self.actor == NOBODY or game[single.CHOOSING]:
            mask = np.zeros(self.num_actions, np.int8)
            if self.actor != NOBODY:
                mask[self._keep + game[single.ONE]] = mask[self._keep + game[single.TWO]] = 1
            return mask
        mask = self._open.copy()
        if not game[single.QUANTUM + self.actor]:
            mask[self._tiles :] = 0
        return mask

    def observe(self, seat: int) -> NDArray[np.int8]:
        game, other = self._game, 1 - seat
        choosing = game[single.CHOOSING]
        lifted = bytearray(self._tiles)
        if choosing:
            lifted[game[single.ONE]] = lifted[game[single.TWO]] = 1
        shown = bytearray().join(
            [
                *self._faces,
                self._points[game[single.SCORES + seat]],
                self._points[game[single.SCORES + other]],
                bytes(
                    (
                        game[single.QUANTUM + seat],
                        game[single.QUANTUM + other],
                        game[single.MOVER] == seat,
                    )
                ),
                lifted,
                bytes((choosing,)),
            ]
        )
        return np.frombuffer(shown, np.int8)


def action_of(action: Any) -> tuple[int, int, int]:
    """An action as the kernel takes it: its kind, its tile, its second tile or the same."""
    if isinstance(action, QuantumFlip):
        return single.PAIR, action.first, action.second
    kinds = {Flip: single.FLIP, Keep: single.KEEP}
    return kinds[type(action)], action.tile, action.tile


def _marks(values: int) -> list[bytes]:
    """One-hot bytes, one for each of `values` values."""
    return [bytes(int(place == value) for place in range(values)) for value in range(values)]


ENGINE = FlipEngine
