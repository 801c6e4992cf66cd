"""flip's solved table at play time: found or made, looked up without any package but the standard library."""

import sys
from array import array
from collections.abc import Callable
from pathlib import Path

from duels.games.flip.abstraction import Abstraction
from duels.games.flip.fill import SCALE, fill
from duels.games.flip.rules import QuantumTiles
from duels.solving.progress import Progress, quiet
from duels.solving.store import Shipped, key_of, obtain

ROUNDING = 0.5 / SCALE
"""How far a looked-up value may be from the solved one; a step of the recurrence does not add to it."""
MEMORY = 200_000  # states between stored ones that are remembered at a time
SHIPPED = Path(__file__).with_name("table.bin")
DIGEST = "94ecd52f38f15cb607ceab7da902863092cdf2ce971ea09141390cf19b3df647"
"""SHA-256 of the table in it, unpacked: what solving gives."""
# What a table depends on.
_SOURCES = [Path(__file__).with_name(f"{name}.py") for name in ("rules", "abstraction", "fill")]


def described(abstraction: Abstraction) -> str:
    """What a file with this table says it holds; a table laid out otherwise must say something else."""
    values, copies, target = abstraction.values, abstraction.copies, abstraction.target
    return f"flip, {copies} tiles each of 1 to {values}, target {target}, layout 1"


def pack(numbers: "array[int]") -> bytes:
    """The numbers as they are stored: 16 bits each, the lower 8 first on every machine."""
    return _little_endian(numbers).tobytes()


def unpack(stored: bytes) -> "array[int]":
    """Undo `pack`."""
    return _little_endian(array("H", stored))


def _little_endian(numbers: "array[int]") -> "array[int]":
    if sys.byteorder == "little":
        return numbers
    swapped = array("H", numbers)
    swapped.byteswap()
    return swapped


class Table:
    """The value of every abstract state to its mover, within ROUNDING."""

    def __init__(self, abstraction: Abstraction, numbers: "array[int]") -> None:
        self.abstraction = abstraction
        self.places = abstraction.places
        self.numbers = numbers
        self._between: dict[tuple[int, int, int], float] = {}
        self._until: dict[tuple[int, int, int, int, bool], float] = {}

    @classmethod
    def of(cls, rules: QuantumTiles, progress: Progress = quiet) -> "Table":
        """The table for these rules: shipped, cached, or solved now."""
        abstraction = Abstraction(rules)
        holds = described(abstraction)
        book = QuantumTiles()
        usual = (abstraction.values, abstraction.copies, abstraction.target) == (
            book.values,
            book.copies,
            book.target,
        )
        stored = obtain(
            f"{holds}, made by {key_of(holds, _SOURCES)}",
            f"flip-{abstraction.values}x{abstraction.copies}-{abstraction.target}.bin",
            lambda: pack(fill(abstraction, progress)),
            Shipped(SHIPPED, holds, DIGEST) if usual else None,
        )
        return cls(abstraction, unpack(stored))

    def value(self, row: int, code: int, score: int) -> float:
        """The value of `row` to a mover with `score`, when `code` has been flipped."""
        start = self.places.start.get(code)
        if start is not None and row < self.abstraction.stored_rows:
            return self.numbers[row * self.places.size + start + score] / SCALE
        key = (row, code, score)
        found = self._between.get(key)
        if found is None:
            if len(self._between) > MEMORY:
                self._between.clear()
            found = self._between[key] = self.step(row, code, score)
        return found

    def step(self, row: int, code: int, score: int) -> float:
        """The same value, by one step of the recurrence."""
        return self._step(row, code, score, self.value)

    def value_until(self, row: int, code: int, score: int, turns: int, mover: bool) -> float:
        """The value to the mover if one player, the mover or the other, will lose the Quantum Flip.

        It is lost after `turns` turns of that player, the current one included if it is theirs.
        """
        if mover and not turns:
            return self.value(self.abstraction.without(row, True), code, score)
        key = (row, code, score, turns, mover)
        found = self._until.get(key)
        if found is None:

            def after(left: int, code: int, score: int) -> float:
                if self.abstraction.held(left, not mover):
                    return self.value_until(left, code, score, turns - mover, not mover)
                return self.value(left, code, score)

            if len(self._until) > MEMORY:
                self._until.clear()
            found = self._until[key] = self._step(row, code, score, after)
        return found

    def _step(self, row: int, code: int, score: int, value: Callable[[int, int, int], float]) -> float:
        abstraction, places = self.abstraction, self.places
        seen = abstraction.rows[row].seen
        bag = [abstraction.copies - f - seen.count(v) for v, f in enumerate(places.flipped[code], 1)]
        if min(bag) < 0:
            return 0.0  # no such state; asked for only with chance 0
        other = places.points[code] - score

        def leave(v: int, left: int) -> float:
            if score + v >= abstraction.target:
                return float(score + v == abstraction.target)
            if not bag[v - 1] and v not in seen:
                return 0.0  # likewise
            return 1 - value(left, code + places.unit[v - 1], other)

        return float(abstraction.worth(abstraction.rows[row], bag, leave, max))
