"""Single games of Quantum Flip in plain Python, and batches, whose loop Numba compiles if installed."""

import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.envs.batch import ALL, Batch, Bytes, Flags, Indices, Ints, PreparedPolicy
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


@cache
def _compile_loops() -> dict[str, Any]:
    """Return `step_all` and `choose_all` compiled, or an empty dictionary without Numba."""
    if find_spec("numba") is None:
        warnings.warn("Without Numba, batches of flip are slow. Install the extra 'fast'.", stacklevel=2)
        return {}
    from duels.solving.compiling import compile_functions

    entries = ("step_all", "choose_all")
    functions = {name: getattr(kernel, name) for name in entries}
    inlined = {function.__name__: function for function in kernel.INLINED}
    return compile_functions(inlined | functions, entries, inline=True)


class FlipBatch(Batch):
    """A batch of Quantum Flip. The module `step` describes the row of each game."""

    rules: QuantumTiles

    def _prepare(self) -> None:
        layout, start = kernel.get_layout(self.rules), kernel.get_first_game(self.rules)
        self.num_actions, self.observation_size = layout[ACTIONS], layout[MASK] - layout[OBSERVATION]
        self._layout, self._first_row = np.array(layout), np.frombuffer(start, np.uint8)
        self._games = np.empty((self.num_envs, len(start)), np.uint8)
        _compile_loops()  # now, not in the first step

    def _begin(self, indices: Indices) -> None:
        self._games[indices] = self._first_row

    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        idle = np.zeros(self.num_envs, np.bool_) if idle is None else idle
        illegal = (self._legal[np.arange(self.num_envs), actions] == 0) & ~idle
        if illegal.any():
            self._reject(illegal, actions)
        results = np.full(self.num_envs, ONGOING, np.int8)
        self._run(kernel.step_all, actions, chance, idle, output=results)
        return results, None

    def _sample(self, bits: Ints, policy: PreparedPolicy | None) -> Ints:
        actions = np.empty(self.num_envs, np.int64)
        self._run(kernel.choose_all, bits, output=actions)
        return actions

    def _run(self, loop: Callable[..., None], *inputs: NDArray[Any], output: NDArray[Any]) -> None:
        compiled = _compile_loops().get(loop.__name__)
        if compiled:
            compiled(self._games, *inputs, self._layout, output)
        else:
            # Plain Python reads memory views and lists faster than arrays.
            rows, columns = [game.data for game in self._games], [array.tolist() for array in inputs]
            loop(rows, *columns, kernel.get_layout(self.rules), output)

    def _actor(self) -> Bytes:
        return self._games[:, MOVER].astype(np.int8)

    @property
    def _legal(self) -> Bytes:
        return self._games[:, self._layout[MASK] :].view(np.int8)

    def _masks(self) -> Bytes:
        return self._copy_or_view(self._legal)

    def _observe(self, seats: int | Bytes, indices: Indices = ALL) -> Bytes:
        games = self._games[indices]
        observations = games[:, self._layout[OBSERVATION] : self._layout[MASK]].view(np.int8)
        is_waiting = games[:, MOVER] != (seats if isinstance(seats, int) else seats[indices])
        if not is_waiting.any():
            return self._copy_or_view(observations)
        observations = observations.copy()
        observations[is_waiting] = swap_perspective(observations[is_waiting], self.rules)
        return observations

    def _copy_or_view(self, array: Bytes) -> Bytes:
        """Return a copy, or a read-only view with `copy=False`."""
        if self._copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view


def swap_perspective(observations: NDArray[np.int8], rules: QuantumTiles) -> NDArray[np.int8]:
    """Turn observations of the player to move into observations of the other player."""
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
