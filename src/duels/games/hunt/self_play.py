"""What the shipped pair of strategies wins when it plays itself, from where both tokens are.

One value for both seats: the chances of the two add up to one, and the value before an entry is the mean, by
the strategy, of the values after it. The pair remembers little, so its play is a Markov chain, solved once
(`certify.pair_values`) and shipped as a table, which standard Python reads.
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
"""Means are stored in UNITS of a chance, differences from them in STEPs of a unit, up to MOST."""
MOST = 127
ROUNDING = (STEP / 2 + 0.001) / UNITS
"""How far a value may be from the solved one."""

FOLDED = CELLS // 2 + 1
"""Of mirror images one is stored: the mover's latest cell is one of so many, from the end of the grid."""
RANKS = (len(OWN.states) - 1) // CELLS
"""So many states of memory share a latest cell."""
_FOLLOWING, _LATEST, _MIRRORED = OWN.following, OWN.latest, OWN.mirrored
RANK = [_LATEST[:number].count(latest) for number, latest in enumerate(_LATEST)]
"""By state of memory: its place among those with the same latest cell."""
_HEARD = [OTHERS.numbers[state[:1]] for state in OWN.states]  # what the other side keeps of it
_ONE_SIDE = FOLDED * CELLS * RANKS * CELLS * CELLS


def described(strategy: bytes) -> str:
    """What a file with the table of this strategy says it holds."""
    return f"hunt, self-play of {hashlib.sha256(strategy).hexdigest()}, layout 1"


@cache
def shipped_table(path: Path = TABLE) -> bytes:
    """The table that comes with the package, if it is the strategy's."""
    try:
        return unpack_table(path.read_bytes(), described(DATA.read_bytes()))
    except (DamagedTable, OSError) as error:
        raise DuelsError("hunt's table of self-play is missing or damaged: install duels again.") from error


class PairValues:
    """Chances to win when both seats play the strategy from now on.

    What a side has named is given by its number in OWN; cells and places count from 0.
    """

    def __init__(self, strategy: Strategy, table: bytes) -> None:
        self._strategy = strategy
        # What one match and its reasons ask for again and again.
        self._first_turn = lru_cache(20_000)(self._of_first_turn)
        self._parts: dict[Seat, tuple[array[int], array[int], memoryview]] = {}
        each = 4 * _ONE_SIDE + RANKS * _ONE_SIDE
        for number, seat in enumerate(Seat):
            part = memoryview(table)[number * each : (number + 1) * each]
            means, rest = part[: 4 * _ONE_SIDE], part[4 * _ONE_SIDE :]
            mine, theirs = means[: 2 * _ONE_SIDE], means[2 * _ONE_SIDE :]
            self._parts[seat] = unpack_shorts(mine, "h"), unpack_shorts(theirs, "h"), rest.cast("b")

    def before_turn(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """The chance of `mover`, whose turn begins."""
        if not mine or not theirs:
            return self._first_turn(mover, mine, theirs, own, other)
        if _LATEST[mine] >= FOLDED:
            mine, theirs = _MIRRORED[mine], _MIRRORED[theirs]
            own, other = CELLS - 1 - own, CELLS - 1 - other
        means, others_means, rest = self._parts[mover]
        block = ((_LATEST[mine] * CELLS + _LATEST[theirs]) * CELLS + own) * CELLS + other
        at, others_at = block * RANKS + RANK[mine], block * RANKS + RANK[theirs]
        return (means[at] + others_means[others_at] + STEP * rest[at * RANKS + RANK[theirs]]) / UNITS

    def after_move(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """The chance of `mover`, which has moved to `own` and will name a cell."""
        if own == other:
            return 0.0
        weights = self._strategy[mover].name_weights(mine * len(OTHERS.states) + _HEARD[theirs], own)
        return sum(
            weight * self.after_naming(mover, mine, theirs, own, other, cell)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)

    def after_naming(self, mover: Seat, mine: int, theirs: int, own: int, other: int, cell: int) -> float:
        """The chance of `mover`, which stands on `own` and has named `cell`."""
        if own == other:
            return 0.0
        if cell == other:
            return 1.0
        return 1.0 - self.before_turn(mover.other, theirs, _FOLLOWING[mine][cell], other, own)

    def _of_first_turn(self, mover: Seat, mine: int, theirs: int, own: int, other: int) -> float:
        """`before_turn` while a side has named nothing yet, which the table leaves out."""
        weights = self._strategy[mover].move_weights(mine * len(OTHERS.states) + _HEARD[theirs], own)
        return sum(
            weight * self.after_move(mover, mine, theirs, cell, other)
            for cell, weight in enumerate(weights)
            if weight
        ) / sum(weights)


@lru_cache(10_000)
def round_of(names: tuple[int, ...]) -> int:
    """What is remembered of a side's naming (cells from 0, oldest first), as its number in OWN."""
    return OWN.index(names)


def place_of(cell: int) -> int:
    """The place of a token by its cell in the rules."""
    return cell - 1 if cell else OFF
