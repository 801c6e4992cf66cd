"""Quantum Flip for many games at once: a second form of its rules, for speed, as numbers that are looked up.

Its positions are too many for a table of them. A test plays it beside the rules, move by move.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.envs.batch import Batch, Bytes, Flags, Ints, Places
from duels.envs.kernels.flip import few
from duels.envs.kernels.flip.games import Games
from duels.envs.kernels.flip.looks import Looks
from duels.envs.kernels.flip.tables import LIFTED, MOVER_AT, ROW, ROW_BITS, flip_tables
from duels.envs.packed import ReadyPolicy
from duels.envs.results import Tally
from duels.games.flip.rules import QuantumTiles

if TYPE_CHECKING:
    from duels.envs.kernels.flip.stepper import Stepper

# Games: up to there one after the other is quicker than arrays, in rollouts and step by step.
_FEW = 32
_FEW_STEPPED = 16

_LIFTED_AT, _ONE = np.array(LIFTED.bit_length() - 1), np.array(1)


class FlipBatch(Batch):
    """Games of Quantum Flip; `state` has a column per environment, `tiles` a row."""

    rules: QuantumTiles

    def _prepare(self) -> None:
        self._tables = tables = flip_tables(self.rules)
        self._state = np.empty((4, self.num_envs), np.int64)
        self._tiles = np.empty((self.num_envs, ROW), np.uint8)
        self._games = Games(tables, self._state, self._tiles)
        self._looks = Looks(self.rules, self._games, self._tiles, self.running.compiled)
        layout = self._looks.layout
        self.observation_size, self.num_actions = layout.size, layout.actions
        self._no_tile, self._first_keep = np.array(tables.tiles), np.array(layout.actions - tables.tiles)
        each, none = np.arange(tables.tiles), np.full(len(tables.pair_sets), tables.tiles)
        self._tile_of = np.concatenate([each, none, each])
        """[action] the tile that it takes; no tile for a pair."""

    @cached_property
    def _stepper(self) -> "Stepper":
        from duels.envs.kernels.flip.stepper import Stepper

        return Stepper(self.rules, self._state, self._tiles, self._looks)

    @cached_property
    def _few(self) -> few.Few:
        return few.Few(self._tables, self._state, self._tiles, self._looks)

    def _position(self) -> tuple[Ints, NDArray[np.uint8]]:
        return self._state, self._tiles

    def _place(self, position: tuple[Ints, NDArray[np.uint8]]) -> None:
        # Into the same arrays: `Games` looks at their rows.
        self._state[:], self._tiles[:] = position
        self._looks.forget()

    def _begin(self, which: Places | None) -> None:
        places = slice(None) if which is None else which
        self._games.start(places)
        self._looks.begin(places)

    # -- playing -----------------------------------------------------------------------------------

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        games, looks = self._games, self._looks
        wrong = looks.forbidden(actions)
        if wrong is not None:
            if idle is not None:
                wrong &= ~idle
            if wrong.any():
                self._refuse(wrong, actions)
        if idle is None and self.num_envs <= _FEW_STEPPED:
            self._few.play(actions, chance)
            looks.show_masks()
            return games.results(), None
        tile = self._tile_of.take(actions)
        (places,) = (tile == self._no_tile).nonzero()
        pairs = actions.take(places)
        pairs -= self._no_tile
        (kept,) = (actions >= self._first_keep).nonzero()
        still = []
        if idle is not None:
            tile[idle] = self._tables.tiles
            still = [(part, part[idle]) for part in (self._state.T, looks.rows, looks.allowed)]
        codes, lifted = games.play(tile, places, pairs, chance)
        looks.play(tile, codes, kept, places, pairs, lifted)
        for part, was in still:
            part[idle] = was
        return games.results(), None

    def _first_illegal(self, actions: Ints) -> int:
        return self._stepper.first_illegal(actions)

    def _play_part(
        self, part: slice, actions: Ints, rewards: NDArray[np.float32], ended: Flags, cut: Flags
    ) -> None:
        cut[part] = False
        self._stepper.play(part, actions, self._streams, self.autoreset, rewards, ended)

    # -- looking -----------------------------------------------------------------------------------

    def _actor(self) -> Bytes:
        movers: Bytes = (self._games.standing >> (ROW_BITS + MOVER_AT) & 1).astype(np.int8)
        return movers

    def _masks(self) -> Bytes:
        return self._looks.masks().copy()

    def _masks_given(self) -> Bytes:
        masks = self._looks.masks()
        # Unpacked in NumPy they are a new array already, though not a contiguous one.
        return self._given("masks", masks) if self.running.copy or self.running.compiled else masks

    def _shown_to_mover(self) -> Bytes:
        return self._given("shown", self._looks.shown())

    def _observe(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        return self._looks.observe(seats, slice(None) if which is None else which)

    def sample(self, policy: ArrayLike | ReadyPolicy | None = None) -> Ints:
        if not self.running.compiled or self._ready(policy) is not None:
            return super().sample(policy)
        chosen = self._own_array("chosen", (self.num_envs,), np.int64)
        self._stepper.sample(self._streams, chosen)
        return chosen

    def _sample(self, bits: Ints, policy: ReadyPolicy | None) -> Ints:
        if self.num_envs <= _FEW_STEPPED:
            return self._few.choose(bits)
        actions, places, pairs = self._games.choose(bits, self._looks.legal_counts())
        pairs += self._no_tile
        actions[places] = pairs
        lifted = self._games.standing >> _LIFTED_AT
        lifted &= _ONE
        lifted *= self._first_keep
        actions += lifted
        return actions.copy() if self.running.copy else actions  # they are in a buffer

    # -- whole playouts ----------------------------------------------------------------------------

    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        state, tiles = self._state[:, part], self._tiles[part]
        tally = Tally.of(len(tiles), steps)
        self._looks.forget()
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
