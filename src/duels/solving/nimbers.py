"""Nim-values of take-and-break games on heaps or rows, in constant time once their period is known.

An octal code defines such a game: Kayles is 0.77. The player to move wins unless the nim-values' XOR is 0.
"""

from dataclasses import dataclass

_EMPTY, _ONE_HEAP, _TWO_HEAPS = 1, 2, 4
_FIRST_LENGTH = 256  # enough to prove the period of Kayles; doubled for other games


@dataclass(frozen=True, slots=True)
class Period:
    """`nimber(n + length) == nimber(n)` for every n >= `start`."""

    start: int
    length: int


class TakeAndBreak:
    """An octal game. Digit t, counted from 1, says what may remain of a heap after a player takes t from it.

    A digit is the sum of 1 (nothing), 2 (one heap) and 4 (two heaps). A player who cannot move loses.
    """

    def __init__(self, digits: tuple[int, ...]) -> None:
        self.digits = digits
        self._nimbers = [0]
        self._period: Period | None = None

    def nimber(self, n: int) -> int:
        """Return the nim-value of a heap of n."""
        nimbers = self._nimbers
        if n >= len(nimbers):
            period = self.period(n)
            # Searching for the period may have computed n, and the period need not hold for small heaps.
            if period and n >= len(nimbers):
                return nimbers[period.start + (n - period.start) % period.length]
        return nimbers[n]

    def period(self, upto: int = _FIRST_LENGTH) -> Period | None:
        """Return the period if the nim-values of heaps up to about `upto` prove one, or None.

        If there is no period, the nim-values of all these heaps are computed by definition.
        """
        while self._period is None and len(self._nimbers) <= upto:
            self._extend(max(_FIRST_LENGTH, 2 * len(self._nimbers)))
            self._period = find_period(self._nimbers, len(self.digits))
        return self._period

    def direct(self, n: int) -> list[int]:
        """Return the nim-values of heaps 0 to n, computed by definition and not by the period."""
        self._extend(n + 1)
        return self._nimbers[: n + 1]

    def _extend(self, length: int) -> None:
        nimbers = self._nimbers
        for n in range(len(nimbers), length):
            nimbers.append(find_mex(self._options(n)))

    def _options(self, n: int) -> set[int]:
        nimbers, options = self._nimbers, set[int]()
        for count, digit in enumerate(self.digits[:n], start=1):
            rest = n - count
            if digit & _EMPTY and rest == 0:
                options.add(0)
            if digit & _ONE_HEAP and rest > 0:
                options.add(nimbers[rest])
            if digit & _TWO_HEAPS:
                options.update(nimbers[a] ^ nimbers[rest - a] for a in range(1, rest // 2 + 1))
        return options


def find_mex(numbers: set[int]) -> int:
    """Return the minimum excludant: the least whole number that is not in `numbers`."""
    n = 0
    while n in numbers:
        n += 1
    return n


def find_period(nimbers: list[int], max_taken: int) -> Period | None:
    """Return a period proven by the nim-values of heaps 0 to len - 1, if a move takes at most `max_taken`.

    Proof that n0 <= n < 2 n0 + p + t (n0 >= 1, t = max_taken) is enough: take n beyond that range and
    suppose the period holds below n. A move from n + p leaves heaps a >= b with a + b >= n + p - t, so
    a >= n0 + p, and a - p >= n0 >= 1 is a heap of the same nim-value: the same move on that heap goes from
    n to the same nim-value. Adding p to the larger heap left by a move from n is the way back. So n and
    n + p have the same options, and the same nim-value.
    """
    for length in range(1, len(nimbers) // 2):
        n = len(nimbers) - 1 - length
        while n >= 1 and nimbers[n] == nimbers[n + length]:
            n -= 1
        start = n + 1
        if 2 * start + 2 * length + max_taken <= len(nimbers):
            return Period(start, length)
    return None
