"""The shipped strategy for hunt: its memory, its tables and their file format.

All weights are integers, so the certified strategy is exactly the one that is played.
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
"""The place of a token off the grid, in tables that count cells from 0."""
PLACES = CELLS + 1
SCALE = 60_000
"""The approximate sum of the weights of one decision."""
DATA = Path(__file__).parent / "data" / "strategy.bin"
CERTIFICATE = DATA.with_name("certificate.json")
CERTIFIED = "6ea9fddcac1965e4af0eafbcee578c640729c8181b704509cf46a783c9ae3836"
"""The checksum of the shipped certificate. A changed certificate or strategy needs a change here."""
CHECKSUM = "checksum"
_SIZES = (PLACES * CELLS, CELLS * CELLS, PLACES * PLACES)


@dataclass(frozen=True)
class Tables:
    """One seat's strategy: integer weights, and estimated chances in units of 1 / 65535.

    Moves and observations are indexed [memory row, place, cell]. The chances, indexed [memory row, own place,
    opponent's place], hold while the seat waits, against the adversary of the training.
    """

    moves: "array[int]"
    observations: "array[int]"
    waiting: "array[int]" = field(default_factory=lambda: array("H"))

    def move_weights(self, row: int, place: int) -> "array[int]":
        start = (row * PLACES + place) * CELLS
        return self.moves[start : start + CELLS]

    def observation_weights(self, row: int, cell: int) -> "array[int]":
        start = (row * CELLS + cell) * CELLS
        return self.observations[start : start + CELLS]


Strategy = dict[Seat, Tables]


@lru_cache(10_000)
def find_row(own_observations: tuple[int, ...], other_observations: tuple[int, ...]) -> int:
    """Return the memory row after both sides' observations (cells from 0, oldest first)."""
    return OWN.index(own_observations) * len(OTHERS.states) + OTHERS.index(other_observations)


def decode_strategy(data: bytes) -> Strategy:
    values = unpack_shorts(zlib.decompress(data))
    ends = list(accumulate(ROWS * size for size in _SIZES * len(Seat)))
    sections = [values[start:end] for start, end in pairwise([0, *ends])]
    size = len(_SIZES)
    return {seat: Tables(*sections[index * size :][:size]) for index, seat in enumerate(Seat)}


@cache
def load_strategy() -> Strategy:
    """Load the shipped strategy. Raises DuelsError if it is not the certified one."""
    certified = read_certificate_file()["strategy"]
    try:
        data = DATA.read_bytes()
    except OSError as error:
        raise DuelsError("hunt's strategy is missing: reinstall duels.") from error
    if hashlib.sha256(data).hexdigest() != certified:
        raise DuelsError("hunt's strategy is not the certified one: reinstall duels.")
    return decode_strategy(data)


def read_certificate_file() -> dict[str, Any]:
    """Read the certificate file. Raises DuelsError if it is missing or damaged."""
    try:
        stored = json.loads(CERTIFICATE.read_text(encoding="utf-8"))
        if stored.pop(CHECKSUM) == digest_certificate(stored) == CERTIFIED:
            return dict(stored)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # any error means a damaged file
    raise DuelsError("hunt's certificate is missing or damaged: reinstall duels.")


@dataclass(frozen=True)
class Certificate:
    """Bounds on the value of a best response, with full memory, to each seat's strategy."""

    against: dict[Seat, Bounds]

    @property
    def nash_conv(self) -> Bounds:
        """The sum of both best responders' gains over the value of the game."""
        pair = self.against.values()
        return Bounds(max(0.0, sum(b.low for b in pair) - 1), sum(b.high for b in pair) - 1)

    @property
    def value(self) -> Bounds:
        """Player 1's chance to win under perfect play."""
        return Bounds(1 - self.against[Seat.ONE].high, self.against[Seat.TWO].high)


def load_certificate() -> Certificate:
    """Load the shipped certificate. `HuntOracle.verify` recomputes it."""
    stored = read_certificate_file()
    return Certificate({seat: Bounds(*stored[str(seat.value)]) for seat in Seat})


def digest_certificate(certificate: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(certificate, sort_keys=True).encode()).hexdigest()
