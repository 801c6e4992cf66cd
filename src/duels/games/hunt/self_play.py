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
"""Only one of two mirror images is stored: the number of cells that the mover's latest cell can be."""
RANKS = (len(OWN.states) - 1) // CELLS
"""The number of memory states with the same latest cell."""
_FOLLOWING, _LATEST, _MIRRORED = OWN.following, OWN.latest, OWN.mirrored
RANK = [_LATEST[:number].count(latest) for number, latest in enumerate(_LATEST)]
"""By memory state: its index among those with the same latest cell."""
_OTHERS_STATE = [
    OTHERS.numbers[state[:1]] for state in OWN.states
]  # the same observations in the opponent's memory
_ONE_SIDE = FOLDED * CELLS * RANKS * CELLS * CELLS


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
        each = 4 * _ONE_SIDE + RANKS * _ONE_SIDE
        for number, seat in enumerate(Seat):
            section = memoryview(table)[number * each : (number + 1) * each]
            means, rest = section[: 4 * _ONE_SIDE], section[4 * _ONE_SIDE :]
            mine, theirs = means[: 2 * _ONE_SIDE], means[2 * _ONE_SIDE :]
            self._sections[seat] = unpack_shorts(mine, "h"), unpack_shorts(theirs, "h"), rest.cast("b")

    def before_turn(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """Return the chance of `mover` at the start of its turn."""
        if not mine or not theirs:
            return self._first_turn(mover, mine, theirs, own, other)
        if _LATEST[mine] >= FOLDED:
            mine, theirs = _MIRRORED[mine], _MIRRORED[theirs]
            own, other = CELLS - 1 - own, CELLS - 1 - other
        means, others_means, rest = self._sections[mover]
        block = ((_LATEST[mine] * CELLS + _LATEST[theirs]) * CELLS + own) * CELLS + other
        at, others_at = block * RANKS + RANK[mine], block * RANKS + RANK[theirs]
        return (means[at] + others_means[others_at] + STEP * rest[at * RANKS + RANK[theirs]]) / UNITS

    def after_move(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """Return the chance of `mover` after it moved to `own`."""
        if own == other:
            return 0.0
        weights = self._strategy[mover].name_weights(mine * len(OTHERS.states) + _OTHERS_STATE[theirs], own)
        return sum(
            weight * self.after_naming(mover, mine, theirs, own, other, cell)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)

    def after_naming(self, mover: Seat, mine: int, theirs: int, own: int, other: int, cell: int) -> float:
        """Return the chance of `mover` on `own` after it observed `cell`."""
        if own == other:
            return 0.0
        if cell == other:
            return 1.0
        return 1.0 - self.before_turn(mover.other, theirs, _FOLLOWING[mine][cell], other, own)

    def _compute_first_turn(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """Compute `before_turn` while a side has observed nothing yet: the table omits these states."""
        weights = self._strategy[mover].move_weights(mine * len(OTHERS.states) + _OTHERS_STATE[theirs], own)
        return sum(
            weight * self.after_move(mover, mine, theirs, cell, other)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)


@lru_cache(10_000)
def index_memory(names: tuple[int, ...]) -> int:
    """Return the number in OWN of the memory of a side's observations (cells from 0, oldest first)."""
    return OWN.index(names)


def to_place(cell: int) -> int:
    """Return the place of a token from its cell in the rules."""
    return cell - 1 if cell else OFF
