"""The shipped strategy for hunt: who remembers what, the tables, and how they are stored.

Plain integers throughout: what is certified is exactly what is played.
"""

import hashlib
import json
import zlib
from array import array
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.memory import Round, Window
from duels.solving.bounds import Bounds
from duels.solving.store import unpack_shorts

CELLS = 7
OWN = Round(CELLS, 5)
OTHERS = Window(CELLS, 1)
ROWS = len(OWN.states) * len(OTHERS.states)
OFF = CELLS
"""The place of a token that has not entered, in tables that count cells from 0."""
PLACES = CELLS + 1
SCALE = 60_000
"""Weights of one decision sum to about this."""
DATA = Path(__file__).parent / "data" / "strategy.bin"
CLAIM = DATA.with_name("certificate.json")
CERTIFIED = "6ea9fddcac1965e4af0eafbcee578c640729c8181b704509cf46a783c9ae3836"
"""The checksum of the claim that is shipped: to alter that, and the strategy, the program must be altered."""
CHECKSUM = "checksum"
_SIZES = (PLACES * CELLS, CELLS * CELLS, PLACES * PLACES)


@dataclass(frozen=True)
class Tables:
    """One seat's strategy, by memory row: integer weights, and estimates of winning in 65535ths.

    The estimates are those against the adversary that the strategy was trained against, by own place and
    the other's place, when the seat waits for the other.
    """

    moves: "array[int]"
    names: "array[int]"
    waiting: "array[int]" = field(default_factory=lambda: array("H"))

    def move_weights(self, row: int, place: int) -> "array[int]":
        start = (row * PLACES + place) * CELLS
        return self.moves[start : start + CELLS]

    def name_weights(self, row: int, cell: int) -> "array[int]":
        start = (row * CELLS + cell) * CELLS
        return self.names[start : start + CELLS]


Strategy = dict[Seat, Tables]


@lru_cache(10_000)
def row_of(own_names: tuple[int, ...], other_names: tuple[int, ...]) -> int:
    """The row of what a seat remembers of both sides' naming (cells from 0, oldest first)."""
    return OWN.index(own_names) * len(OTHERS.states) + OTHERS.index(other_names)


def unpack(data: bytes) -> Strategy:
    """Read the file of a strategy."""
    values = unpack_shorts(zlib.decompress(data))
    ends = list(accumulate(ROWS * size for size in _SIZES * len(Seat)))
    cut = [values[start:end] for start, end in pairwise([0, *ends])]
    each = len(_SIZES)
    return {seat: Tables(*cut[number * each :][:each]) for number, seat in enumerate(Seat)}


@cache
def shipped() -> Strategy:
    """The strategy that comes with the package, if it is the one that was certified."""
    certified = read_claim()["strategy"]
    try:
        data = DATA.read_bytes()
    except OSError as error:
        raise DuelsError("hunt's strategy is missing: install duels again.") from error
    if hashlib.sha256(data).hexdigest() != certified:
        raise DuelsError("hunt's strategy is not the one that was certified: install duels again.")
    return unpack(data)


def read_claim() -> dict[str, Any]:
    """Read what is claimed of the strategy, and which strategy that is."""
    try:
        stored = json.loads(CLAIM.read_text(encoding="utf-8"))
        if stored.pop(CHECKSUM) == digest_claim(stored) == CERTIFIED:
            return dict(stored)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # whatever it is, it is not what was stored
    raise DuelsError("hunt's certificate is missing or damaged: install duels again.")


@dataclass(frozen=True)
class Certificate:
    """What a best responder with full memory wins against each seat's strategy."""

    against: dict[Seat, Bounds]

    @property
    def nash_conv(self) -> Bounds:
        """The sum of what both best responders gain over the value of the game."""
        pair = self.against.values()
        return Bounds(max(0.0, sum(b.low for b in pair) - 1), sum(b.high for b in pair) - 1)

    @property
    def value(self) -> Bounds:
        """Player 1's chance of winning when both play perfectly."""
        return Bounds(1 - self.against[Seat.ONE].high, self.against[Seat.TWO].high)


def claimed() -> Certificate:
    """The certificate that is shipped with the strategy; `HuntOracle.verify` recomputes it."""
    stored = read_claim()
    return Certificate({seat: Bounds(*stored[str(seat.value)]) for seat in Seat})


def digest_claim(claim: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(claim, sort_keys=True).encode()).hexdigest()
