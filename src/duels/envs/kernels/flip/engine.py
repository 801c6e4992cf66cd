"""One game of Quantum Flip, stepped quickly: the kernel, and what it shows, as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.envs.engine import Engine
from duels.envs.kernels.flip import single
from duels.envs.kernels.flip.single import (
    BAG,
    CHOOSING,
    DOWN,
    FLIP,
    KEEP,
    MOVER,
    ONE,
    PAIR,
    QUANTUM,
    SCORES,
    TWO,
    play,
)
from duels.games.flip.features import features
from duels.games.flip.rules import Flip, Keep, QuantumFlip, QuantumTiles
from duels.solving.tables import NOBODY, ONGOING

_BYTE = np.dtype(np.int8)


class FlipEngine(Engine):
    """A game of Quantum Flip; what both seats are shown is kept up to date move by move."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.rules = rules
        self._values, self._target = rules.values, rules.target
        actions = rules.all_actions()
        self._moves = [action_of(action) for action in actions]
        self._tiles = rules.side**2
        self._keep = len(actions) - self._tiles
        # What is no longer possible once a tile is flipped: to flip it with a neighbour.
        self._closed = [
            [a for a, move in enumerate(self._moves[: self._keep]) if a >= self._tiles and tile in move[1:]]
            for tile in range(self._tiles)
        ]
        self.num_actions = len(actions)
        encoding = Encoding(features(rules))
        self.observation_size = encoding.size
        place = {feature.name: encoding.place(feature.name) for feature in encoding.features}
        self._scores = place["my_score"], place["other_score"]
        self._quantum = place["my_quantum"].start, place["other_quantum"].start
        self._turn, self._lifted, self._choosing = (
            place[name].start for name in ("my_turn", "lifted", "choosing")
        )
        self._faces = _marks(2 * rules.values + 1)
        self._face_places = [
            slice(tile * len(self._faces), (tile + 1) * len(self._faces)) for tile in range(self._tiles)
        ]
        self._points = _marks(place["my_score"].stop - place["my_score"].start)
        self._start = [0] * single.size(self._tiles, rules.values)
        single.start(self._start, self._tiles, rules.values, rules.copies)
        self._shown_at_start = [encoding.encode(rules.initial(), seat) for seat in Seat]
        self._no_pairs = bytes(self.num_actions - self._tiles)
        self._open_at_start = bytes([1] * self._keep + [0] * self._tiles)
        self.truncated = False
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._game = self._start.copy()
        self._shown = [bytearray(shown) for shown in self._shown_at_start]
        self._open = bytearray(self._open_at_start)
        """[action] 1 where all tiles that a flip or a Quantum Flip takes are face down."""
        self.actor = self.next_actor = 0
        self.result = ONGOING

    def _position(self) -> Any:
        return self._game, self._shown, self._open, self.actor, self.result

    def _place(self, position: Any) -> None:
        self._game, self._shown, self._open, self.actor, self.result = position
        self.next_actor = self.actor

    def step(self, action: int, chance: int) -> None:
        kind, one, two = self._moves[action]
        game, mover = self._game, self.actor
        self.result = play(game, kind, one, two, chance, self._values, self._target)
        self.actor = self.next_actor = game[MOVER] if self.result == ONGOING else NOBODY
        self._show_tile(one)
        if kind == PAIR:
            self._show_tile(two)
            self._show_lifted(1)
            return
        still_open = self._open
        still_open[one] = 0
        if game[QUANTUM] or game[QUANTUM + 1]:  # pairs matter no more once both are spent
            for closed in self._closed[one]:
                still_open[closed] = 0
        mine, theirs = self._shown[mover], self._shown[1 - mover]
        mine[self._scores[0]] = theirs[self._scores[1]] = self._points[game[SCORES + mover]]
        mine[self._turn], theirs[self._turn] = 0, 1
        if kind == KEEP:
            mine[self._quantum[0]] = theirs[self._quantum[1]] = 0
            self._show_lifted(0)

    def _show_tile(self, tile: int) -> None:
        game, values = self._game, self._values
        place = self._face_places[tile]
        face = self._faces[game[BAG + values + tile] + values * (game[DOWN] >> tile & 1)]
        self._shown[0][place] = self._shown[1][place] = face

    def _show_lifted(self, lifted: int) -> None:
        """Mark the two tiles of a Quantum Flip as lifted, or as put down."""
        for shown in self._shown:
            shown[self._lifted + self._game[ONE]] = shown[self._lifted + self._game[TWO]] = lifted
            shown[self._choosing] = lifted

    def allows(self, action: int) -> bool:
        game = self._game
        if self.actor == NOBODY or not 0 <= action < self.num_actions:
            return False
        if game[CHOOSING]:
            return action - self._keep in (game[ONE], game[TWO])
        if action >= self._tiles and not game[QUANTUM + self.actor]:
            return False
        return bool(self._open[action])

    def mask(self) -> NDArray[np.int8]:
        game = self._game
        if self.actor == NOBODY or game[CHOOSING]:
            mask = bytearray(self.num_actions)
            if self.actor != NOBODY:
                mask[self._keep + game[ONE]] = mask[self._keep + game[TWO]] = 1
        elif game[QUANTUM + self.actor]:
            mask = bytearray(self._open)
        else:
            mask = self._open[: self._tiles] + self._no_pairs
        return np.frombuffer(mask, _BYTE)

    def observe(self, seat: int) -> NDArray[np.int8]:
        return np.frombuffer(bytearray(self._shown[seat]), _BYTE)


def action_of(action: Any) -> tuple[int, int, int]:
    """An action as the kernel takes it: its kind, its tile, its second tile or the same."""
    if isinstance(action, QuantumFlip):
        return PAIR, action.first, action.second
    kinds = {Flip: FLIP, Keep: KEEP}
    return kinds[type(action)], action.tile, action.tile


def _marks(values: int) -> list[bytes]:
    """One-hot bytes, one for each of `values` values."""
    return [bytes(int(place == value) for place in range(values)) for value in range(values)]


ENGINE = FlipEngine
