"""One game of Quantum Flip, stepped quickly: the kernel, and what it shows, as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.engine import NOBODY, Engine
from duels.envs.kernels.flip import single
from duels.games.flip.features import features
from duels.games.flip.rules import Flip, Keep, QuantumFlip, QuantumTiles, neighbours


class FlipEngine(Engine):
    """A game of Quantum Flip."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.rules = rules
        actions = rules.all_actions()
        self._moves = [action_of(action) for action in actions]
        self._tiles = rules.side**2
        self._pairs = [(1 << a | 1 << b, 1 << number) for number, (a, b) in enumerate(neighbours(rules.side))]
        self._keep = len(actions) - self._tiles
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
        self.actor = 0
        self.winner = NOBODY
        self._legal: int | None = None

    def step(self, action: int, chance: int) -> None:
        kind, one, two = self._moves[action]
        game, values = self._game, self.rules.values
        self.winner = single.play(game, kind, one, two, chance, values, self.rules.target)
        for tile in (one, two):
            value, down = game[single.BAG + values + tile], game[single.DOWN] >> tile & 1
            self._faces[tile] = self._face_marks[value + values * down]
        self._legal = None
        self.actor = game[single.MOVER] if self.winner == NOBODY else NOBODY

    def allows(self, action: int) -> bool:
        return action >= 0 and bool(self._legal_bits() >> action & 1)

    def _legal_bits(self) -> int:
        """The legal actions, a bit each."""
        if self._legal is None:
            self._legal = self._find_legal()
        return self._legal

    def _find_legal(self) -> int:
        game = self._game
        down = game[single.DOWN]
        if self.actor == NOBODY:
            return 0
        if game[single.CHOOSING]:
            return (1 << game[single.ONE] | 1 << game[single.TWO]) << self._keep
        if game[single.QUANTUM + self.actor]:
            pairs = sum([bit for both, bit in self._pairs if both & down == both])
            return down | pairs << self._tiles
        return down

    def mask(self) -> NDArray[np.int8]:
        packed = np.frombuffer(self._legal_bits().to_bytes(-(-self.num_actions // 8), "little"), np.uint8)
        return np.unpackbits(packed, count=self.num_actions, bitorder="little").view(np.int8)

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
