"""Proven bounds on a number that is not known exactly."""

from dataclasses import dataclass
from math import ceil, floor


@dataclass(frozen=True)
class Bounds:
    """An interval that is proven to contain the number."""

    low: float
    high: float

    def percent(self, digits: int) -> tuple[str, str]:
        """Return both bounds in percent, rounded outward so that they stay valid."""
        scale = 10**digits
        # Bounds are often sums of decimals: ignore the rounding errors of floats.
        low, high = (round(100 * scale * bound, 6) for bound in (self.low, self.high))
        return f"{floor(low) / scale:.{digits}f}", f"{ceil(high) / scale:.{digits}f}"

    def in_words(self, separator: str = "to") -> str:
        """Return both bounds in percent for a sentence: `45.10% to 46.02%`."""
        low, high = self.percent(2)
        return f"{low}% {separator} {high}%"
