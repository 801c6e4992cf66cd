"""The shipped strategy for hunt: its memory, its tables and their file format.

All weights are integers, so the players use exactly the certified strategy.
"""

import hashlib
import json
import zlib
from array import array
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt.memory import Round, Window
from duels.solving.oracle import Bounds
from duels.solving.store import unpack_shorts

CELLS = 7
OWN_MEMORY = Round(CELLS, 5)
OTHER_MEMORY = Window(CELLS, 1)
_SHORTENED_STATES = OTHER_MEMORY.shorten(OWN_MEMORY)
ROWS = len(OWN_MEMORY.states) * len(OTHER_MEMORY.states)
OFF = CELLS
"""The position of a token off the grid. Other positions are cells, counted from 0."""
POSITIONS = CELLS + 1
SCALE = 60_000
"""The approximate sum of the weights of one decision."""
STRATEGY_FILE = Path(__file__).parent / "data" / "strategy.bin"
CERTIFICATE_FILE = STRATEGY_FILE.with_name("certificate.json")
CERTIFICATE_DIGEST = "6ea9fddcac1965e4af0eafbcee578c640729c8181b704509cf46a783c9ae3836"
"""The checksum of the shipped certificate. Update it whenever the strategy or the certificate changes."""
CHECKSUM = "checksum"
_SIZES = (POSITIONS * CELLS, CELLS * CELLS, POSITIONS * POSITIONS)


@dataclass(frozen=True)
class Tables:
    """One seat's strategy. `moves` and `observations` are weights, indexed [memory row, position, cell].

    `waiting` has estimated chances to win before the opponent's turn, in units of 1 / 65535. It is
    indexed [memory row, own position, opponent's position].
    """

    moves: "array[int]"
    observations: "array[int]"
    waiting: "array[int]" = field(default_factory=lambda: array("H"))

    def move_weights(self, row: int, position: int) -> "array[int]":
        start = (row * POSITIONS + position) * CELLS
        return self.moves[start : start + CELLS]

    def observation_weights(self, row: int, cell: int) -> "array[int]":
        start = (row * CELLS + cell) * CELLS
        return self.observations[start : start + CELLS]


Strategy = dict[Seat, Tables]


def find_row(own_memory: int, other_memory: int) -> int:
    """Return the table row for two memories, which are indices of OWN_MEMORY.states."""
    return own_memory * len(OTHER_MEMORY.states) + _SHORTENED_STATES[other_memory]


def decode_strategy(data: bytes) -> Strategy:
    """Decode the compressed weights of both seats."""
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
        data = STRATEGY_FILE.read_bytes()
    except OSError as error:
        raise DuelsError("hunt's strategy is missing: reinstall duels.") from error
    if hashlib.sha256(data).hexdigest() != certified:
        raise DuelsError("hunt's strategy is not the certified one: reinstall duels.")
    return decode_strategy(data)


def read_certificate_file() -> dict[str, Any]:
    """Read the certificate file. Raises DuelsError if it is missing or damaged."""
    try:
        stored = json.loads(CERTIFICATE_FILE.read_text(encoding="utf-8"))
        if stored.pop(CHECKSUM) == digest_certificate(stored) == CERTIFICATE_DIGEST:
            return dict(stored)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # each of these errors means a damaged file
    raise DuelsError("hunt's certificate is missing or damaged: reinstall duels.")


@dataclass(frozen=True)
class Certificate:
    """Bounds on the best-response value against each seat's strategy. The responder remembers everything."""

    against: dict[Seat, Bounds]

    @property
    def nash_conv(self) -> Bounds:
        """The sum of both best responders' gains over the value of the game."""
        bounds = self.against.values()
        return Bounds(max(0.0, sum(b.low for b in bounds) - 1), sum(b.high for b in bounds) - 1)

    @property
    def value(self) -> Bounds:
        """Bounds on Player 1's chance to win under perfect play."""
        return Bounds(1 - self.against[Seat.ONE].high, self.against[Seat.TWO].high)


def load_certificate() -> Certificate:
    """Load the shipped certificate. `HuntOracle.verify` recomputes it."""
    stored = read_certificate_file()
    return Certificate({seat: Bounds(*stored[str(seat.value)]) for seat in Seat})


def digest_certificate(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 digest of a certificate, without regard to the order of keys."""
    return hashlib.sha256(json.dumps(certificate, sort_keys=True).encode()).hexdigest()
