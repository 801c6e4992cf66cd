"""Batches of Quantum Flip: a loop over games, compiled by Numba if it is installed."""

import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.envs.batch import ALL, Batch, Bytes, Flags, Indices, Ints, PreparedPolicy
from duels.envs.kernels.flip import step as kernel
from duels.envs.kernels.flip.engine import swap_perspective
from duels.envs.kernels.flip.step import ACTIONS, MASK, MOVER, OBSERVATION
from duels.games.flip.rules import QuantumTiles
from duels.solving.tables import ONGOING


@cache
def _compiled_loops() -> list[Any] | None:
    """Return `step_all` and `choose_all` compiled, or None without Numba."""
    if find_spec("numba") is None:
        warnings.warn("Without Numba, batches of flip are slow. Install the extra 'fast'.", stacklevel=2)
        return None
    from duels.solving.compiling import compile_functions

    entries = (kernel.step_all, kernel.choose_all)
    functions = {function.__name__: function for function in (*kernel.INLINED, *entries)}
    compiled = compile_functions(functions, [entry.__name__ for entry in entries], inline=True)
    return [compiled[entry.__name__] for entry in entries]


class FlipBatch(Batch):
    """A batch of Quantum Flip. The module `step` describes the row of each game."""

    rules: QuantumTiles

    def _prepare(self) -> None:
        layout, start = kernel.get_layout(self.rules), kernel.get_first_game(self.rules)
        self.num_actions, self.observation_size = layout[ACTIONS], layout[MASK] - layout[OBSERVATION]
        self._first_row = np.frombuffer(start, np.uint8)
        self._games = np.empty((self.num_envs, len(start)), np.uint8)
        self._observations = self._games[:, layout[OBSERVATION] : layout[MASK]].view(np.int8)
        self._legal = self._games[:, layout[MASK] :].view(np.int8)
        self._envs, self._no_idle = np.arange(self.num_envs), np.zeros(self.num_envs, np.bool_)
        loops = _compiled_loops()
        self._step_all: Any
        self._choose_all: Any
        self._step_all, self._choose_all = loops or (kernel.step_all, kernel.choose_all)
        # Plain Python reads memory views and lists faster than arrays.
        self._compiled = loops is not None
        self._rows: Any = self._games if loops else [game.data for game in self._games]
        self._layout: Any = np.array(layout) if loops else layout

    def _get_position(self) -> NDArray[np.uint8]:
        return self._games

    def _set_position(self, position: NDArray[np.uint8]) -> None:
        self._games[:] = position

    def _begin(self, indices: Indices) -> None:
        self._games[indices] = self._first_row

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        idle = self._no_idle if idle is None else idle
        illegal = (self._legal[self._envs, actions] == 0) & ~idle
        if illegal.any():
            self._reject(illegal, actions)
        results = np.full(self.num_envs, ONGOING, np.int8)
        self._step_all(self._rows, *map(self._loop_input, (actions, chance, idle)), self._layout, results)
        return results, None

    def _sample(self, bits: Ints, policy: PreparedPolicy | None) -> Ints:
        actions = np.empty(self.num_envs, np.int64)
        self._choose_all(self._rows, self._loop_input(bits), self._layout, actions)
        return actions

    def _loop_input(self, array: NDArray[Any]) -> Any:
        return array if self._compiled else array.tolist()

    def _actor(self) -> Bytes:
        return self._games[:, MOVER].astype(np.int8)

    def _masks(self) -> Bytes:
        return self._legal.copy()

    def _masks_view(self) -> Bytes:
        return self._copy_or_view(self._legal)

    def _observe_mover(self) -> Bytes:
        return self._copy_or_view(self._observations)

    def _copy_or_view(self, array: Bytes) -> Bytes:
        """Return a copy, or a read-only view with `copy=False`."""
        if self._copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    def _observe(self, seats: int | Bytes, indices: Indices = ALL) -> Bytes:
        observations: Bytes = self._observations[indices].copy()
        is_waiting = self._games[indices, MOVER] != (seats if isinstance(seats, int) else seats[indices])
        observations[is_waiting] = swap_perspective(observations[is_waiting], self.rules)
        return observations


BATCH = FlipBatch
