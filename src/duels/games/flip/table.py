"""flip's solved table at play time: found or made, looked up without any package but the standard library."""

from array import array
from pathlib import Path

from duels.games.flip.abstraction import Abstraction
from duels.games.flip.fill import fill
from duels.games.flip.rules import QuantumTiles
from duels.solving.progress import Progress, quiet
from duels.solving.store import Shipped, key_of, obtain, pack_shorts, unpack_shorts

SHIPPED = Path(__file__).with_name("table.bin")
DIGEST = "94ecd52f38f15cb607ceab7da902863092cdf2ce971ea09141390cf19b3df647"
"""SHA-256 of the table in it, unpacked: what solving gives."""
# What a table depends on.
_SOURCES = [Path(__file__).with_name(f"{name}.py") for name in ("rules", "abstraction", "fill")]


def described(abstraction: Abstraction) -> str:
    """What a file with this table says it holds; a table laid out otherwise must say something else."""
    values, copies, target = abstraction.values, abstraction.copies, abstraction.target
    return f"flip, {copies} tiles each of 1 to {values}, target {target}, layout 1"


class Table:
    """The value of every abstract state to its mover, within ROUNDING."""

    def __init__(self, abstraction: Abstraction, numbers: "array[int]") -> None:
        self.abstraction, self.numbers = abstraction, numbers

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
            lambda: pack_shorts(fill(abstraction, progress)),
            Shipped(SHIPPED, holds, DIGEST) if usual else None,
        )
        return cls(abstraction, unpack_shorts(stored))
