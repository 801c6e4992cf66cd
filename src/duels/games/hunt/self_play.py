"""Values of self-play: the chance to win when both seats play the shipped strategy.

The two seats' chances add up to one, and the value before an entry is the mean of the values after it,
weighted by the strategy. The strategy has a finite memory, so its play is a Markov chain.
`certify.pair_values` solves the chain; the result is shipped as a table that standard Python reads.
"""

import hashlib
from array import array
from functools import cache, lru_cache
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.strategy import CELLS, DATA, OFF, OTHERS, OWN, Strategy
from duels.solving.store import DamagedTable, unpack_shorts, unpack_table

TABLE = DATA.with_name("self_play.bin")
UNITS, STEP = 20_000, 10
"""Means are stored in units of 1 / UNITS; differences from them in STEPs of a unit, up to MAX_STEPS."""
MAX_STEPS = 127
ROUNDING = (STEP / 2 + 0.001) / UNITS
"""The largest difference between a stored value and the solved one."""

FOLDED = CELLS // 2 + 1
"""The number of stored latest cells of the mover: only one of two mirror images is stored."""
RANKS = (len(OWN.states) - 1) // CELLS
"""The number of memory states with the same latest cell."""
_NEXT_STATE, _LATEST, _MIRRORED = OWN.following, OWN.latest, OWN.mirrored
RANK = [_LATEST[:index].count(latest) for index, latest in enumerate(_LATEST)]
"""The index of each memory state among those with the same latest cell."""
# The same observations in the opponent's memory.
_OPPONENT_STATE = [OTHERS.numbers[state[:1]] for state in OWN.states]
_MEANS_PER_SIDE = FOLDED * CELLS * RANKS * CELLS * CELLS


def format_header(strategy: bytes) -> str:
    """Return the header of a file with the table of this strategy."""
    return f"hunt, self-play of {hashlib.sha256(strategy).hexdigest()}, layout 1"


@cache
def load_table(path: Path = TABLE) -> bytes:
    """Load the shipped table. Raises DuelsError if it is missing, damaged or of another strategy."""
    try:
        return unpack_table(path.read_bytes(), format_header(DATA.read_bytes()))
    except (DamagedTable, OSError) as error:
        raise DuelsError("hunt's self-play table is missing or damaged: reinstall duels.") from error


class PairValues:
    """The chances to win when both seats play the strategy from now on.

    A side's observations are given by their memory state's number in OWN. Cells and places count from 0.
    """

    def __init__(self, strategy: Strategy, table: bytes) -> None:
        self._strategy = strategy
        # One match and its explanations need these values many times.
        self._first_turn = lru_cache(20_000)(self._compute_first_turn)
        self._sections: dict[Seat, tuple[array[int], array[int], memoryview]] = {}
        seat_size = 4 * _MEANS_PER_SIDE + RANKS * _MEANS_PER_SIDE
        for index, seat in enumerate(Seat):
            section = memoryview(table)[index * seat_size : (index + 1) * seat_size]
            means, rest = section[: 4 * _MEANS_PER_SIDE], section[4 * _MEANS_PER_SIDE :]
            own_means, other_means = means[: 2 * _MEANS_PER_SIDE], means[2 * _MEANS_PER_SIDE :]
            self._sections[seat] = (
                unpack_shorts(own_means, "h"),
                unpack_shorts(other_means, "h"),
                rest.cast("b"),
            )

    def before_turn(self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int) -> float:
        """Return the chance of `mover` at the start of its turn."""
        if not own_memory or not other_memory:
            return self._first_turn(mover, own_memory, other_memory, own, other)
        if _LATEST[own_memory] >= FOLDED:
            own_memory, other_memory = _MIRRORED[own_memory], _MIRRORED[other_memory]
            own, other = CELLS - 1 - own, CELLS - 1 - other
        own_means, other_means, rest = self._sections[mover]
        block = ((_LATEST[own_memory] * CELLS + _LATEST[other_memory]) * CELLS + own) * CELLS + other
        own_index, other_index = block * RANKS + RANK[own_memory], block * RANKS + RANK[other_memory]
        steps = rest[own_index * RANKS + RANK[other_memory]]
        return (own_means[own_index] + other_means[other_index] + STEP * steps) / UNITS

    def after_move(self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int) -> float:
        """Return the chance of `mover` after it moved to `own`."""
        if own == other:
            return 0.0
        weights = self._strategy[mover].observation_weights(_find_row(own_memory, other_memory), own)
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
        return 1.0 - self.before_turn(mover.other, other_memory, _NEXT_STATE[own_memory][cell], other, own)

    def _compute_first_turn(
        self, mover: Seat, own_memory: int, other_memory: int, own: int, other: int
    ) -> float:
        """Compute `before_turn` if a side has no observations: the table omits these states."""
        weights = self._strategy[mover].move_weights(_find_row(own_memory, other_memory), own)
        return sum(
            weight * self.after_move(mover, own_memory, other_memory, cell, other)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)


def _find_row(own_memory: int, other_memory: int) -> int:
    return own_memory * len(OTHERS.states) + _OPPONENT_STATE[other_memory]


@lru_cache(10_000)
def index_memory(observations: tuple[int, ...]) -> int:
    """Return the number in OWN of the memory of a side's observations (cells from 0, oldest first)."""
    return OWN.index(observations)


def to_place(cell: int) -> int:
    """Return the place of a token from its cell in the rules."""
    return cell - 1 if cell else OFF
