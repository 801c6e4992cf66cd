"""Quantum Flip for many games at once: a second form of its rules, for speed, as numbers that are looked up.

Its positions are too many for a table of them. A test plays it beside the rules, move by move.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core.features import Encoding
from duels.envs.batch import Batch, Bytes, Flags, Ints
from duels.envs.kernels.flip import few
from duels.envs.kernels.flip.engine import action_of
from duels.envs.kernels.flip.games import Games
from duels.envs.kernels.flip.single import KEEP, PAIR
from duels.envs.kernels.flip.tables import CODE, LIFTED, MOVER_AT, ROW, ROW_BITS, flip_tables, standing_of
from duels.envs.packed import ReadyPolicy
from duels.envs.results import Tally
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.tables import ONGOING

if TYPE_CHECKING:
    from duels.envs.kernels.flip.stepper import Stepper

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
        self._faces = 2 * self.rules.values + 1
        self._board: Bytes | None = None
        """[env, number] what is shown of the tiles, kept up to date by steps; None: to be worked out anew."""

    @cached_property
    def _stepper(self) -> "Stepper":
        from duels.envs.kernels.flip.stepper import Stepper

        return Stepper(self.rules, self._state, self._tiles, self.observation_size, self.num_actions)

    def _forget_looks(self) -> None:
        """What is shown has changed by more than a step."""
        self._board = None
        if self.running.compiled:
            self._stepper.forget()

    def _position(self) -> tuple[Ints, NDArray[np.uint8]]:
        return self._state, self._tiles

    def _place(self, position: tuple[Ints, NDArray[np.uint8]]) -> None:
        # Into the same arrays: `Games` looks at their rows.
        self._state[:], self._tiles[:] = position
        self._forget_looks()

    def _begin(self, which: Flags | None) -> None:
        self._games.start(slice(None) if which is None else which)
        if self._board is not None:
            self._board[slice(None) if which is None else which] = self._all_unknown
        if self.running.compiled:
            self._stepper.forget()

    @cached_property
    def _all_unknown(self) -> Bytes:
        shown = np.zeros((self._tables.tiles, self._faces), np.int8)
        shown[:, 0] = 1
        return shown.ravel()

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
        if self.running.compiled:
            self._stepper.forget()
        pairs = actions[places] - self._tables.tiles
        games.play(tile, places, pairs, chance)
        if idle is not None:
            self._state[:, idle] = still
        if self._board is not None:
            taken = np.flatnonzero(tile < self._tables.tiles)
            self._turn_up(taken, tile[taken], face_down=False)
            for lifted in self._tables.pair_tiles:
                self._turn_up(places, lifted[pairs], face_down=True)
        result = np.full(self.num_envs, ONGOING, np.int8)
        ended = games.ended()
        result[ended] = games.winners(ended)
        return result, None

    def _turn_up(self, envs: NDArray[np.intp], tiles: Ints, face_down: bool) -> None:
        """Show the values of tiles, a tile a game, that have just been seen or taken."""
        assert self._board is not None
        shown = self._board.reshape(-1)
        place = envs * self._board.shape[1] + tiles * self._faces
        up = place + self._value_of(self._tiles[envs, tiles])
        shown[place] = 0
        shown[up] = not face_down
        shown[up + self.rules.values] = face_down

    def _value_of(self, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The values of tiles, 0 where nobody has seen them."""
        first = np.uint8(self._tables.first_code)
        values: NDArray[np.uint8] = np.maximum(codes & np.uint8(CODE), first) - first
        return values

    def _first_illegal(self, actions: Ints) -> int:
        return self._stepper.first_illegal(actions)

    def _play_part(
        self, part: slice, actions: Ints, rewards: NDArray[np.float32], ended: Flags, cut: Flags
    ) -> None:
        cut[part] = False
        self._stepper.play(part, actions, self._streams, self.autoreset, rewards, ended)

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
        movers: Bytes = (self._games.standing >> (ROW_BITS + MOVER_AT) & 1).astype(np.int8)
        return movers

    def _masks(self) -> Bytes:
        if self.running.compiled:
            return self._stepper.work_out_masks()
        tables, down, choosing = self._tables, self._games.down, self._choosing()
        masks = np.empty((self.num_envs, self.num_actions), np.int8)
        masks[:, : tables.tiles] = self._bits(np.where(choosing, 0, down))
        masks[:, self.num_actions - tables.tiles :] = self._bits(np.where(choosing, down, 0))
        # Where no Quantum Flip is left there are no pairs, as with no tiles.
        tiles = np.where(self._games.standing < 0, down >> ROW_BITS, 0)
        upper, lower = tables.pair_masks
        middle = tables.tiles + upper.shape[1]
        masks[:, tables.tiles : middle] = upper.take(tiles & tables.upper, axis=0)
        masks[:, middle : middle + lower.shape[1]] = lower.take(
            tiles >> (tables.lower_shift - ROW_BITS), axis=0
        )
        return masks

    def _bits(self, sets: Ints) -> NDArray[np.uint8]:
        """[env, tile] 1 where the tile is in the set."""
        numbers = (sets >> ROW_BITS).astype("<u4").view(np.uint8).reshape(len(sets), 4)
        return np.unpackbits(numbers, axis=1, count=self._tables.tiles, bitorder="little")

    def sample(self, policy: ArrayLike | ReadyPolicy | None = None) -> Ints:
        if not self.running.compiled or self._ready(policy) is not None:
            return super().sample(policy)
        chosen = self._own_array("chosen", (self.num_envs,), np.int64)
        self._stepper.sample(self._streams, chosen)
        return chosen

    def _sample(self, bits: Ints, policy: ReadyPolicy | None) -> Ints:
        tile, places, pairs = self._games.choose(bits)
        actions = tile + (self.num_actions - self._tables.tiles) * self._choosing()
        actions[places] = self._tables.tiles + pairs
        return actions

    def _shown_to_mover(self) -> Bytes:
        if not self.running.compiled:
            return super()._shown_to_mover()
        return self._given(self._stepper.shown())

    def _masks_given(self) -> Bytes:
        if not self.running.compiled:
            return super()._masks_given()
        return self._given(self._stepper.masks())

    def _observe(self, seats: int | Bytes, which: NDArray[np.intp] | None = None) -> Bytes:
        if self.running.compiled and which is None:
            each = np.full(self.num_envs, seats, np.int8) if isinstance(seats, int) else seats
            return self._stepper.observe(each)
        at: Any = slice(None) if which is None else which
        down, _, _, standing = self._state[:, at]
        scores, mover, quantum = standing_of(standing, self._tables.scores)
        seat = np.full(len(down), seats) if isinstance(seats, int) else seats[at].astype(np.int64)
        choosing, my_turn, rows = (standing & LIFTED) != 0, mover == seat, np.arange(len(down))
        parts = {
            "tiles": self._tiles_shown(at),
            "my_score": self._score_shown(scores[seat, rows]),
            "other_score": self._score_shown(scores[1 - seat, rows]),
            # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
            "my_quantum": quantum[seat, rows] | (choosing & my_turn),
            "other_quantum": quantum[1 - seat, rows] | (choosing & ~my_turn),
            "my_turn": my_turn,
            "lifted": self._bits(np.where(choosing, down, 0)),
            "choosing": choosing,
        }
        observation = np.empty((len(down), self.observation_size), np.int8)
        for name, numbers in parts.items():
            place = self._places[name]
            # Of a feature with two values only the second is shown.
            observation[:, place] = numbers.reshape(len(down), -1)[:, place.start - place.stop :]
        return observation

    def _tiles_shown(self, at: Any) -> Bytes:
        """[env, number] what is shown of the tiles; steps in compiled code do not keep it up to date."""
        if self.running.compiled:
            return self._work_out_tiles(at)
        if self._board is None:
            self._board = self._work_out_tiles(slice(None))
        board: Bytes = self._board[at]
        return board

    def _work_out_tiles(self, at: Any) -> Bytes:
        down, rest, _, _ = self._state[:, at]
        face_down = self._bits(down + rest).astype(np.bool_)
        values = self._value_of(self._tiles[at, : self._tables.tiles])
        faces = values + (face_down & (values > 0)) * np.uint8(self.rules.values)
        return np.eye(self._faces, dtype=np.int8).take(faces, axis=0).reshape(len(faces), -1)

    def _score_shown(self, scores: Ints) -> Bytes:
        return np.eye(self._tables.scores, dtype=np.int8).take(scores, axis=0)

    # -- whole playouts ----------------------------------------------------------------------------

    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        state, tiles = self._state[:, part], self._tiles[part]
        tally = Tally.of(len(tiles), steps)
        self._forget_looks()
        if self.running.compiled:
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
