"""The shipped strategy for hunt: who remembers what, the tables, and how they are stored.

Plain integers throughout: what is certified is exactly what is played.
"""

import hashlib
import json
import sys
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
_CHECKSUM = "checksum"
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


def row_of(own_names: tuple[int, ...], other_names: tuple[int, ...]) -> int:
    """The row of what a seat remembers of both sides' naming (cells from 0, oldest first)."""
    return OWN.index(own_names) * len(OTHERS.states) + OTHERS.index(other_names)


def pack(strategy: Strategy) -> bytes:
    """The strategy as the bytes that are shipped."""
    parts: list[bytes] = []
    for seat in Seat:
        tables = strategy[seat]
        for values in (tables.moves, tables.names, tables.waiting):
            little = array("H", values)
            if sys.byteorder == "big":
                little.byteswap()
            parts.append(little.tobytes())
    return zlib.compress(b"".join(parts), 9)


def unpack(data: bytes) -> Strategy:
    """Read what `pack` wrote."""
    values = array("H", zlib.decompress(data))
    if sys.byteorder == "big":
        values.byteswap()
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
    """What is stored about the strategy, as `claim_as_stored` has it."""
    try:
        stored = json.loads(CLAIM.read_text(encoding="utf-8"))
        if stored.pop(_CHECKSUM) == _checksum(stored) == CERTIFIED:
            return dict(stored)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # whatever it is, it is not what was stored
    raise DuelsError("hunt's certificate is missing or damaged: install duels again.")


def claim_as_stored(claim: dict[str, Any], strategy: bytes) -> bytes:
    """What is claimed of a strategy, and which strategy that is; its checksum goes into CERTIFIED."""
    claim = {**claim, "strategy": hashlib.sha256(strategy).hexdigest()}
    return f"{json.dumps({**claim, _CHECKSUM: _checksum(claim)})}\n".encode()


def _checksum(claim: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(claim, sort_keys=True).encode()).hexdigest()
