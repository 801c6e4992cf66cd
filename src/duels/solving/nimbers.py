"""Nim-values of take-and-break games on heaps or rows. They are periodic, so a lookup takes constant time.

An octal code defines such a game: Kayles is 0.77. Digit t, counted from 1, says what a player who takes t
from a heap may leave of it. It adds up what is allowed: 1 for nothing, 2 for one heap, 4 for two heaps. A
player who cannot move loses. The player to move wins unless the nim-values' XOR is 0.
"""

from dataclasses import dataclass

from duels.core.errors import DuelsError

_EMPTY, _ONE_HEAP, _TWO_HEAPS = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Period:
    """`nimber(n + length) == nimber(n)` for every n >= `start`."""

    start: int
    length: int


class TakeAndBreak:
    """An octal game whose first `count` nim-values prove a period. Raises DuelsError if they do not."""

    def __init__(self, digits: tuple[int, ...], count: int = 256) -> None:
        self.digits = digits
        self._nimbers = compute_nimbers(digits, count)
        period = find_period(self._nimbers, len(digits))
        if not period:
            raise DuelsError(f"The first {count} nim-values of the octal game {digits} prove no period.")
        self.period = period

    def nimber(self, n: int) -> int:
        """Return the nim-value of a heap of n."""
        if n >= len(self._nimbers):
            n = self.period.start + (n - self.period.start) % self.period.length
        return self._nimbers[n]


def compute_nimbers(digits: tuple[int, ...], count: int) -> list[int]:
    """Return the nim-values of heaps 0 to count - 1, computed from the definition."""
    nimbers: list[int] = []
    for n in range(count):
        options = set()
        for taken, digit in enumerate(digits[:n], start=1):
            remaining = n - taken
            if digit & _EMPTY and remaining == 0:
                options.add(0)
            if digit & _ONE_HEAP and remaining > 0:
                options.add(nimbers[remaining])
            if digit & _TWO_HEAPS:
                options.update(nimbers[a] ^ nimbers[remaining - a] for a in range(1, remaining // 2 + 1))
        nimbers.append(find_mex(options))
    return nimbers


def find_mex(numbers: set[int]) -> int:
    """Return the minimum excludant: the least whole number that is not in `numbers`."""
    n = 0
    while n in numbers:
        n += 1
    return n


def find_period(nimbers: list[int], max_taken: int) -> Period | None:
    """Return a period proven by the nim-values of heaps 0 to len - 1, if a move takes at most `max_taken`.

    Let n0 >= 1 be the start, p the length and t = max_taken. It is enough to compare nimber(n) and
    nimber(n + p) for n0 <= n < 2 n0 + p + t. Proof: take n beyond that range and suppose the period holds
    below n. A move from n + p leaves heaps a >= b with a + b >= n + p - t, so a >= n0 + p. Heap a - p >= n0
    has the nim-value of a, so the move from n to a - p and b has the same nim-value. Conversely, adding p
    to the larger heap turns a move from n into a move from n + p of the same nim-value. So n and n + p have
    the same options, and the same nim-value.
    """
    for length in range(1, len(nimbers) // 2):
        n = len(nimbers) - 1 - length
        while n >= 1 and nimbers[n] == nimbers[n + length]:
            n -= 1
        start = n + 1
        if 2 * start + 2 * length + max_taken <= len(nimbers):
            return Period(start, length)
    return None
