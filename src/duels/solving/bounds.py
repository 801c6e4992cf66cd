"""Proven bounds on a number that is not known exactly."""

from dataclasses import dataclass
from math import ceil, floor


@dataclass(frozen=True)
class Bounds:
    """The number is at least `low` and at most `high`."""

    low: float
    high: float

    def percent(self, digits: int) -> tuple[str, str]:
        """Both in percent, the low one rounded down and the high one up: what is shown is proven too."""
        scale = 10**digits
        # Bounds are often sums of decimals: what floats add to those must not count as a digit.
        low, high = (round(100 * scale * bound, 6) for bound in (self.low, self.high))
        return f"{floor(low) / scale:.{digits}f}", f"{ceil(high) / scale:.{digits}f}"

    def in_words(self, joined: str = "to") -> str:
        """Both in percent, for a sentence: `45.10% to 46.02%`."""
        low, high = self.percent(2)
        return f"{low}% {joined} {high}%"
