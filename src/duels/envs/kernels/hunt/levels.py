"""Hunt's levels for many games at once: the shipped strategy as arrays, and the public state of every game.

A test compares them with the players of the same names.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.games.hunt.features import features
from duels.games.hunt.rules import Observe, QuantumHunt
from duels.games.hunt.strategy import (
    CELLS,
    OPENING_TURNS,
    OTHER_MEMORY,
    OWN_MEMORY,
    PATH_INDICES,
    PATHS,
    POSITIONS,
    PublicState,
    count_histories,
    find_opening_row,
    load_strategy,
    mirror_cells,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
OPENING_DIGITS = 2 * OPENING_TURNS


class HuntLevels:
    """A level at one seat of every game. It tracks the observations of both seats and its token's path."""

    def __init__(self, rules: QuantumHunt, share: float, envs: int) -> None:
        self._share = share
        self._own_memory = np.zeros(envs, np.int64)
        self._other_memory = np.zeros(envs, np.int64)
        self._digits = np.zeros(envs, np.int64)
        """The number of observations, at most OPENING_DIGITS."""
        self._history = np.zeros(envs, np.int64)
        """The opening's observations as the digits of a number."""
        self._path = np.zeros(envs, np.int64)
        """The index of the token's path in the opening."""
        self._next_own_memory = np.array(OWN_MEMORY.successors)
        self._next_other_memory = np.array(OTHER_MEMORY.successors)
        self._first_observe = rules.all_actions().index(Observe(1))
        encoding = Encoding(features(rules))
        self._cell_columns = encoding.find_slice("my_cell")
        self._observe_column = encoding.names.index("my_phase=observe")

    @staticmethod
    def fits(rules: QuantumHunt) -> bool:
        """Return whether these levels support the rules."""
        return rules.cells == CELLS

    def begin(self, env_mask: Flags) -> None:
        """Reset the games that `env_mask` selects."""
        for numbers in (self._own_memory, self._other_memory, self._digits, self._history, self._path):
            numbers[env_mask] = 0

    def on_actions(self, movers: Ints, actions: Ints, seats: Ints, env_mask: Flags) -> None:
        """Update the histories and memories of the selected games. The level plays `seats`."""
        by_level, cells = movers == seats, actions % CELLS
        is_opening = env_mask & (self._digits < OPENING_DIGITS)
        is_observation = actions >= self._first_observe
        envs = is_opening & by_level & ~is_observation
        self._path[envs] = _list_path_successors()[self._digits[envs] // 2, self._path[envs], cells[envs]]
        observed = env_mask & is_observation
        envs = observed & by_level
        self._own_memory[envs] = self._next_own_memory[self._own_memory[envs], cells[envs]]
        envs = observed & ~by_level
        self._other_memory[envs] = self._next_other_memory[self._other_memory[envs], cells[envs]]
        envs = is_opening & is_observation
        self._history[envs] = CELLS * self._history[envs] + cells[envs]
        self._digits[envs] += 1

    def odds(
        self, observations: NDArray[np.int8], masks: NDArray[np.int8], seats: Ints, env_mask: Flags
    ) -> Floats:
        """Return the level's probabilities, indexed [game of `env_mask`, action]."""
        seats = seats[env_mask]
        cells = observations[:, self._cell_columns].argmax(axis=1)  # 0: off the grid
        observing = observations[:, self._observe_column] == 1
        weights = (
            self._find_weights(seats, cells - 1, observing, env_mask)
            * masks.reshape(len(masks), 3, CELLS)[np.arange(len(masks)), 2 * observing]
        )
        weights = weights / weights.sum(axis=1, keepdims=True)
        odds: Floats = self._share * masks / masks.sum(axis=1, keepdims=True)
        columns = np.where(observing, self._first_observe, 0)[:, None] + np.arange(CELLS)
        odds[np.arange(len(masks))[:, None], columns] += (1 - self._share) * weights
        return odds

    def _find_weights(self, seats: Ints, cells: Ints, observing: Flags, env_mask: Flags) -> Floats:
        """Return the strategy's weights, indexed [game of `env_mask`, cell]."""
        memory_rows = self._own_memory[env_mask] * len(OTHER_MEMORY.states) + self._other_memory[env_mask]
        rows = memory_rows * np.where(observing, CELLS, POSITIONS) + cells
        digits, history, path = self._digits[env_mask], self._history[env_mask], self._path[env_mask]
        is_opening = digits < OPENING_DIGITS
        has_moved = observing.astype(np.int64)
        first_rows, path_counts, mirrored_paths, history_counts = _list_opening_rows()
        digits = np.minimum(digits, OPENING_DIGITS - 1)
        lengths = digits // 2 + has_moved
        is_mirrored = is_opening & (history >= history_counts[digits])
        history = np.where(is_mirrored, CELLS**digits - 1 - history, history)
        path = np.where(is_mirrored, mirrored_paths[lengths, path], path)
        opening_rows = first_rows[digits, has_moved] + history * path_counts[lengths] + path
        weights, first_rows_of_tables = _load_weights()
        rows = first_rows_of_tables[seats, has_moved] + np.where(is_opening, opening_rows, rows)
        return np.where(is_mirrored[:, None], weights[rows, ::-1], weights[rows]).astype(np.float64)


@cache
def _load_weights() -> tuple[NDArray[np.uint16], Ints]:
    """Return the rows of all tables, and the first row of each table, indexed [seat, has moved]."""
    tables = [
        np.array(table, np.uint16).reshape(-1, CELLS)
        for seat in Seat
        for table in (load_strategy()[seat].moves, load_strategy()[seat].observations)
    ]
    first_rows = np.cumsum([0, *(len(table) for table in tables[:-1])]).reshape(len(Seat), 2)
    return np.concatenate(tables), first_rows


@cache
def _list_path_successors() -> Ints:
    """Return the index of the path after a move, indexed [length, path, cell]."""
    successors = np.zeros((OPENING_TURNS, len(PATHS[-1]), CELLS), np.int64)
    public = PublicState()
    for length, paths in enumerate(PATHS[:-1]):
        for index, path in enumerate(paths):
            successors[length, index] = [PATH_INDICES[public.extend_path(path, c)] for c in range(CELLS)]
    return successors


@cache
def _list_opening_rows() -> tuple[Ints, Ints, Ints, Ints]:
    """Return numbers to find a row of the opening.

    They are the first row of each turn, indexed [digits, has moved]; the number of paths of each length; the
    mirror image of each path, indexed [length, path]; and the number of histories, indexed by digits.
    """
    all_digits = range(OPENING_DIGITS)
    first_rows = [
        [find_opening_row(digits, has_moved) for has_moved in (False, True)] for digits in all_digits
    ]
    mirrored = np.zeros((len(PATHS), len(PATHS[-1])), np.int64)
    for length, paths in enumerate(PATHS):
        mirrored[length, : len(paths)] = [PATH_INDICES[mirror_cells(path)] for path in paths]
    histories = [count_histories(digits) for digits in all_digits]
    return np.array(first_rows), np.array([len(paths) for paths in PATHS]), mirrored, np.array(histories)
