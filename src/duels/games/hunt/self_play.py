"""Self-play values: the chance to win when both seats play the shipped strategy.

The value before an action is the mean of the values after it, weighted by the strategy. The strategy has a
finite memory, so self-play is a Markov chain. `certify.pair_values` solves the chain. The package ships the
result as a table, which this module reads without NumPy.
"""

import hashlib
from array import array
from functools import cache, lru_cache
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.strategy import CELLS, OFF, OWN_MEMORY, STRATEGY_FILE, Strategy, find_row
from duels.solving.store import DamagedTable, unpack_shorts, unpack_table

SELF_PLAY_FILE = STRATEGY_FILE.with_name("self_play.bin")
UNITS, STEP = 20_000, 10
"""Means are stored in units of 1 / UNITS, and differences in multiples of STEP units, up to MAX_STEPS."""
MAX_STEPS = 127
ROUNDING = (STEP / 2 + 0.001) / UNITS
"""The largest difference between a stored value and the solved one."""

STORED_CELLS = CELLS // 2 + 1
"""The number of latest cells of the mover in the table, which has only one of two mirror images."""
STATES_PER_CELL = (len(OWN_MEMORY.states) - 1) // CELLS
"""The number of memory states with the same latest cell."""
STATE_RANKS = [OWN_MEMORY.latest[:index].count(latest) for index, latest in enumerate(OWN_MEMORY.latest)]
"""The index of each memory state among those with the same latest cell."""
_MEANS_PER_SEAT = STORED_CELLS * CELLS * STATES_PER_CELL * CELLS * CELLS


def format_header(strategy: bytes) -> str:
    """Return the header of the table file of a packed strategy."""
    return f"hunt, self-play of {hashlib.sha256(strategy).hexdigest()}, layout 1"


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
    seat_size = len(table) // len(Seat)
    for index, seat in enumerate(Seat):
        section = memoryview(table)[index * seat_size : (index + 1) * seat_size]
        means, differences = section[: 4 * _MEANS_PER_SEAT], section[4 * _MEANS_PER_SEAT :]
        own_means, other_means = means[: 2 * _MEANS_PER_SEAT], means[2 * _MEANS_PER_SEAT :]
        sections[seat] = unpack_shorts(own_means, "h"), unpack_shorts(other_means, "h"), differences.cast("b")
    return sections


class PairValues:
    """The chances to win when both seats play the strategy from now on.

    A memory is an index of OWN_MEMORY.states. Cells and positions count from 0.
    """

    def __init__(self, strategy: Strategy, table: bytes) -> None:
        self._strategy = strategy
        # Explanations ask for the same values many times.
        self._first_turn = lru_cache(20_000)(self._compute_first_turn)
        self._sections = split_table(table)

    def before_turn(self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int) -> float:
        """Return the chance of `mover` at the start of its turn."""
        if not own_memory or not other_memory:
            return self._first_turn(mover, own_memory, other_memory, own, other)
        if OWN_MEMORY.latest[own_memory] >= STORED_CELLS:
            own_memory, other_memory = OWN_MEMORY.mirrored[own_memory], OWN_MEMORY.mirrored[other_memory]
            own, other = CELLS - 1 - own, CELLS - 1 - other
        own_means, other_means, differences = self._sections[mover]
        own_latest, other_latest = OWN_MEMORY.latest[own_memory], OWN_MEMORY.latest[other_memory]
        block = ((own_latest * CELLS + other_latest) * CELLS + own) * CELLS + other
        own_index = block * STATES_PER_CELL + STATE_RANKS[own_memory]
        other_index = block * STATES_PER_CELL + STATE_RANKS[other_memory]
        steps = differences[own_index * STATES_PER_CELL + STATE_RANKS[other_memory]]
        return (own_means[own_index] + other_means[other_index] + STEP * steps) / UNITS

    def after_move(self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int) -> float:
        """Return the chance of `mover` after it moved to `own`."""
        if own == other:
            return 0.0
        weights = self._strategy[mover].observation_weights(find_row(own_memory, other_memory), own)
        return sum(
            weight * self.after_observation(mover, own_memory, other_memory, own, other, cell)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)

    def after_observation(
        self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int, cell: int
    ) -> float:
        """Return the chance of `mover` on `own` after it observed `cell`."""
        if own == other:
            return 0.0
        if cell == other:
            return 1.0
        next_memory = OWN_MEMORY.successors[own_memory][cell]
        return 1.0 - self.before_turn(mover.other, other_memory, next_memory, other, own)

    def _compute_first_turn(
        self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int
    ) -> float:
        """Compute `before_turn` for a seat without observations, which the table omits."""
        weights = self._strategy[mover].move_weights(find_row(own_memory, other_memory), own)
        return sum(
            weight * self.after_move(mover, own_memory, other_memory, cell, other)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)


def to_position(cell: int) -> int:
    """Convert a cell of the rules, which counts from 1, to a position of the strategy."""
    return cell - 1 if cell else OFF
