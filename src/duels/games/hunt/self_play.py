"""Self-play values: the chance to win when both seats play the shipped strategy.

The value before an action is the mean of the values after it, weighted by the strategy. After the opening,
the strategy has a finite memory, so self-play is a Markov chain. `certify.pair_values` solves the chain, and
then the opening from its end. The package ships the results as a table. This module reads it without NumPy.
"""

import hashlib
from array import array
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.strategy import (
    CELLS,
    FOLDED_CELLS,
    OPENING_TURNS,
    OWN_MEMORY,
    PATH_INDICES,
    PATHS,
    STRATEGY_FILE,
    Cells,
    PublicState,
    Strategy,
    count_histories,
    get_position,
    is_folded,
    mirror_cells,
    number_history,
)
from duels.solving.store import DamagedTable, unpack_shorts, unpack_table

SELF_PLAY_FILE = STRATEGY_FILE.with_name("self_play.bin")
UNITS, STEP = 20_000, 10
"""Means are stored in units of 1 / UNITS, and differences in multiples of STEP units, up to MAX_STEPS."""
MAX_STEPS = 127
ROUNDING = (STEP / 2 + 0.001) / UNITS
"""The largest difference between a stored value and the solved one."""

STATES_PER_CELL = (len(OWN_MEMORY.states) - 1) // CELLS
"""The number of memory states with the same latest cell."""
STATE_RANKS = [OWN_MEMORY.latest[:index].count(latest) for index, latest in enumerate(OWN_MEMORY.latest)]
"""The index of each memory state among those with the same latest cell."""
STORED_DIGITS = tuple(range(1, 2 * OPENING_TURNS - 1, 2))
"""The lengths of the opening's histories with stored values: before Player 2's turns, except the last one."""
OPENING_SHAPES = {
    digits: (count_histories(digits), len(PATHS[digits // 2]), len(PATHS[digits // 2 + 1]))
    for digits in STORED_DIGITS
}
"""The shape of the opening's values: [history, path of Player 2's token, path of Player 1's token]."""
_OPENING_VALUES = sum(prod(shape) for shape in OPENING_SHAPES.values())
_MEANS_PER_SEAT = FOLDED_CELLS * CELLS * STATES_PER_CELL * CELLS * CELLS


def format_header(strategy: bytes) -> str:
    """Return the header of the table file of a packed strategy."""
    return f"hunt, self-play of {hashlib.sha256(strategy).hexdigest()}, layout 2"


@cache
def load_table(path: Path = SELF_PLAY_FILE) -> bytes:
    """Load the shipped table. Raises DuelsError if it is missing, damaged or made for another strategy."""
    try:
        return unpack_table(path.read_bytes(), format_header(STRATEGY_FILE.read_bytes()))
    except (DamagedTable, OSError) as error:
        raise DuelsError("hunt's self-play table is missing or damaged: reinstall duels.") from error


def split_table(table: bytes) -> "dict[Seat, tuple[array[int], array[int], memoryview]]":
    """Return each seat's means by its own memory, means by the other's memory, and differences."""
    sections = {}
    seat_size = (len(table) - 2 * _OPENING_VALUES) // len(Seat)
    for index, seat in enumerate(Seat):
        section = memoryview(table)[index * seat_size : (index + 1) * seat_size]
        means, differences = section[: 4 * _MEANS_PER_SEAT], section[4 * _MEANS_PER_SEAT :]
        own_means, other_means = means[: 2 * _MEANS_PER_SEAT], means[2 * _MEANS_PER_SEAT :]
        sections[seat] = unpack_shorts(own_means, "h"), unpack_shorts(other_means, "h"), differences.cast("b")
    return sections


def split_opening(table: bytes) -> "dict[int, array[int]]":
    """Return the opening's values by the length of the history."""
    values = unpack_shorts(memoryview(table)[len(table) - 2 * _OPENING_VALUES :])
    ends = accumulate((prod(shape) for shape in OPENING_SHAPES.values()), initial=0)
    return {
        digits: values[start:end] for digits, (start, end) in zip(STORED_DIGITS, pairwise(ends), strict=True)
    }


class PairValues:
    """The chances to win when both seats play the strategy from now on.

    `own` and `other` are the paths of the mover's token and of the other one.
    """

    def __init__(self, strategy: Strategy, table: bytes) -> None:
        self._strategy = strategy
        # Turns of the opening share many successors, and explanations ask for the same values many times.
        self._average_turn = lru_cache(50_000)(self._compute_average)
        self._sections, self._opening = split_table(table), split_opening(table)

    def before_turn(self, public: PublicState, own: Cells, other: Cells) -> float:
        """Return the mover's chance at the start of its turn."""
        digits = len(public.observations)
        if digits >= 2 * OPENING_TURNS:
            return self._find_value(public, own[-1], other[-1])
        if digits in STORED_DIGITS:
            return self._find_opening_value(public.observations, own, other)
        return self._average_turn(public, own, other)

    def after_move(self, public: PublicState, own: Cells, other: Cells) -> float:
        """Return the mover's chance after it moved to the end of `own`."""
        if own[-1] == get_position(other):
            return 0.0
        weights = self._strategy[public.mover].observation_weights(public, own)
        return sum(
            weight * self.after_observation(public, own, other, cell)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)

    def after_observation(self, public: PublicState, own: Cells, other: Cells, cell: int) -> float:
        """Return the mover's chance after it observed `cell`."""
        if own[-1] == get_position(other):
            return 0.0
        if cell == get_position(other):
            return 1.0
        return 1.0 - self.before_turn(public.observe(cell), other, public.shorten_path(own))

    def _find_value(self, public: PublicState, own: int, other: int) -> float:
        """Look up a value after the opening. `own` and `other` are cells."""
        own_memory, other_memory = public.own_memory, public.other_memory
        if OWN_MEMORY.latest[own_memory] >= FOLDED_CELLS:
            own_memory, other_memory = OWN_MEMORY.mirrored[own_memory], OWN_MEMORY.mirrored[other_memory]
            own, other = CELLS - 1 - own, CELLS - 1 - other
        own_means, other_means, differences = self._sections[public.mover]
        own_latest, other_latest = OWN_MEMORY.latest[own_memory], OWN_MEMORY.latest[other_memory]
        block = ((own_latest * CELLS + other_latest) * CELLS + own) * CELLS + other
        own_index = block * STATES_PER_CELL + STATE_RANKS[own_memory]
        other_index = block * STATES_PER_CELL + STATE_RANKS[other_memory]
        steps = differences[own_index * STATES_PER_CELL + STATE_RANKS[other_memory]]
        return (own_means[own_index] + other_means[other_index] + STEP * steps) / UNITS

    def _find_opening_value(self, observations: Cells, own: Cells, other: Cells) -> float:
        if is_folded(observations):
            observations, own, other = map(mirror_cells, (observations, own, other))
        _, own_paths, other_paths = OPENING_SHAPES[len(observations)]
        index = number_history(observations) * own_paths + PATH_INDICES[own]
        return self._opening[len(observations)][index * other_paths + PATH_INDICES[other]] / UNITS

    def _compute_average(self, public: PublicState, own: Cells, other: Cells) -> float:
        """Compute `before_turn` from the values after the mover's turn."""
        weights = self._strategy[public.mover].move_weights(public, own)
        return sum(
            weight * self.after_move(public, public.extend_path(own, cell), other)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)
