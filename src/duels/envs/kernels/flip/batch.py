"""Quantum Flip for many games at once: a second form of its rules, for speed, as numbers that are looked up.

Its positions are too many for a table of them. A test plays it beside the rules, move by move.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.batch import Batch, Bytes, Flags, Ints, ReadyPolicy, Tally
from duels.envs.kernels.flip import few
from duels.envs.kernels.flip.engine import action_of
from duels.envs.kernels.flip.games import Games
from duels.envs.kernels.flip.single import KEEP, PAIR
from duels.envs.kernels.flip.tables import CODE, LIFTED, ROW, ROW_BITS, flip_tables, standing_of
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.tables import ONGOING

_FEW = 32  # games: up to there one after the other is quicker than arrays


class FlipBatch(Batch):
    """Games of Quantum Flip; `state` has a column per environment, `tiles` a row."""

    rules: QuantumTiles

    def _prepare(self) -> None:
        encoding = Encoding(features(self.rules))
        self.observation_size = encoding.size
        self._places = {feature.name: encoding.place(feature.name) for feature in encoding.features}
        self._tables = tables = flip_tables(self.rules)
        actions = self.rules.all_actions()
        self.num_actions = len(actions)
        kinds, ones, twos = np.array([action_of(action) for action in actions], np.int64).T
        self._kinds = kinds
        self._tile_of = np.where(kinds == PAIR, tables.tiles, ones)
        self._bits_of = (ROW << ones) | (ROW << twos)
        self._state = np.empty((4, self.num_envs), np.int64)
        self._tiles = np.empty((self.num_envs, ROW), np.uint8)
        self._games = Games(tables, self._state, self._tiles)

    def _position(self) -> tuple[Ints, NDArray[np.uint8]]:
        return self._state, self._tiles

    def _place(self, position: tuple[Ints, NDArray[np.uint8]]) -> None:
        # Into the same arrays: `Games` looks at their rows.
        self._state[:], self._tiles[:] = position

    def _begin(self, which: Flags | None) -> None:
        self._games.start(slice(None) if which is None else which)

    # -- playing -----------------------------------------------------------------------------------

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        kind, games = self._kinds.take(actions), self._games
        wrong = ~self._allowed(kind, self._bits_of.take(actions))
        pair = kind == PAIR
        if idle is not None:
            wrong &= ~idle
            pair &= ~idle
            still = self._state[:, idle]
        if wrong.any():
            self._refuse(wrong, actions)
        tile = self._tile_of.take(actions)
        places = np.flatnonzero(pair)
        if idle is not None:
            tile[idle] = self._tables.tiles
        games.play(tile, places, actions[places] - self._tables.tiles, chance)
        if idle is not None:
            self._state[:, idle] = still
        result = np.full(self.num_envs, ONGOING, np.int8)
        ended = games.ended()
        result[ended] = games.winners(ended)
        return result, None

    def _allowed(self, kind: Ints, bits: Ints) -> Flags:
        in_turn = np.where(kind == PAIR, self._games.standing < 0, (kind == KEEP) == self._choosing())
        allowed: Flags = in_turn & ((self._games.down & bits) == bits)
        return allowed

    def _choosing(self) -> Flags:
        """[env] whether two tiles are lifted, of which the mover keeps one."""
        lifted: Flags = (self._games.standing & LIFTED) != 0
        return lifted

    # -- looking -----------------------------------------------------------------------------------

    def _actor(self) -> Bytes:
        return standing_of(self._games.standing, self._tables.scores)[1].astype(np.int8)

    def _masks(self) -> Bytes:
        down, choosing = self._games.down[:, None], self._choosing()[:, None]
        pairs = self._tables.pair_sets & -ROW
        tiles = (down >> np.arange(ROW_BITS, ROW_BITS + self._tables.tiles)) & 1
        doubles = ((down & pairs) == pairs) & (self._games.standing[:, None] < 0)
        return np.concatenate([tiles * ~choosing, doubles, tiles * choosing], axis=1).astype(np.int8)

    def _sample(self, bits: Ints, policy: ReadyPolicy | None) -> Ints:
        tile, places, pairs = self._games.choose(bits)
        actions = tile + (self.num_actions - self._tables.tiles) * self._choosing()
        actions[places] = self._tables.tiles + pairs
        return actions

    def _observe(self, seats: int | Bytes, which: NDArray[np.intp] | None = None) -> Bytes:
        at: Any = slice(None) if which is None else which
        down, rest, _, standing = self._state[:, at]
        scores, mover, quantum = standing_of(standing, self._tables.scores)
        seat = np.full(len(down), seats) if isinstance(seats, int) else seats[at].astype(np.int64)
        choosing, my_turn, rows = (standing & LIFTED) != 0, mover == seat, np.arange(len(down))
        places = np.arange(ROW_BITS, ROW_BITS + self._tables.tiles)
        face_down = ((down + rest)[:, None] >> places & 1).astype(np.bool_)
        values = np.maximum(self._tiles[at, : self._tables.tiles] & CODE, self._tables.first_code)
        values -= np.uint8(self._tables.first_code)
        faces = values + (face_down & (values > 0)) * np.uint8(self.rules.values)
        shown = {
            "tiles": np.eye(2 * self.rules.values + 1, dtype=np.int8).take(faces, axis=0),
            "my_score": self._score_shown(scores[seat, rows]),
            "other_score": self._score_shown(scores[1 - seat, rows]),
            # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
            "my_quantum": quantum[seat, rows] | (choosing & my_turn),
            "other_quantum": quantum[1 - seat, rows] | (choosing & ~my_turn),
            "my_turn": my_turn,
            "lifted": (down[:, None] >> places & 1) * choosing[:, None],
            "choosing": choosing,
        }
        observation = np.empty((len(faces), self.observation_size), np.int8)
        for name, numbers in shown.items():
            place = self._places[name]
            # Of a feature with two values only the second is shown.
            observation[:, place] = numbers.reshape(len(faces), -1)[:, place.start - place.stop :]
        return observation

    def _score_shown(self, scores: Ints) -> Bytes:
        return np.eye(self._tables.scores, dtype=np.int8).take(scores, axis=0)

    # -- whole playouts ----------------------------------------------------------------------------

    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        state, tiles = self._state[:, part], self._tiles[part]
        tally = Tally.of(len(tiles), steps)
        if self.compiled:
            from duels.envs.kernels.flip import compiled

            compiled.roll(self._tables, state, tiles, self._streams[part], steps, tally.wins)
        else:
            games = Games(self._tables, state, tiles)
            for count in self._blocks(steps, len(tiles), steps):
                drawn = self._draw(part, count)
                if len(tiles) <= _FEW:
                    few.roll(self._tables, state, tiles, *drawn, tally.wins)
                else:
                    games.roll(*drawn, tally.wins)
        return tally


BATCH = FlipBatch
