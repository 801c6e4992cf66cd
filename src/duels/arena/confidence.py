"""Intervals for means: some that hold however often one looks, and the usual ones for a fixed size."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
_MOST_BET = 0.75  # of the largest bet that cannot ruin
_HALVINGS = 30
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Interval:
    """An estimate with its bounds."""

    estimate: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """The farther of the two bounds."""
        return max(self.high - self.estimate, self.estimate - self.low)

    def scaled(self, factor: float, offset: float = 0.0) -> "Interval":
        """The interval of `offset + factor * x`, for a positive factor."""
        return Interval(*(offset + factor * each for each in (self.estimate, self.low, self.high)))


class Sequence95:
    """A confidence sequence for the mean of values in [0, 1]: at every moment at once, with 95 %.

    The hedged capital process of Waudby-Smith and Ramdas, 'Estimating means of bounded random variables by
    betting' (2023, theorem 3). Whoever doubts that the mean is m bets on every value being higher, and with
    another purse on its being lower; if m is right, neither purse ever grows fortyfold except with a
    probability of 2.5 %. The interval holds the means that have not been bet away. Values need not be
    independent, as long as each has the same mean given those before it.
    """

    def __init__(self, confidence: float = CONFIDENCE) -> None:
        self._goal = math.log(2 / (1 - confidence))
        self._played: list[tuple[float, float]] = []  # each value with the bet on it
        self._sum = self._squares = 0.0

    def add(self, value: float) -> None:
        """Take in one value more."""
        if not -_ROUNDING <= value <= 1 + _ROUNDING:
            raise ValueError(f"{value} is outside [0, 1].")
        n = len(self._played) + 1
        variance_before = (0.25 + self._squares) / n
        bet = math.sqrt(2 * self._goal / (variance_before * n * math.log(1 + n)))
        self._played.append((value, bet))
        self._sum += value
        self._squares += (value - (0.5 + self._sum) / (n + 1)) ** 2

    @property
    def interval(self) -> Interval:
        """What is known so far; all of [0, 1] at the start."""
        played = self._played
        if not played:
            return Interval(0.5, 0.0, 1.0)
        mean = min(1.0, max(0.0, self._sum / len(played)))
        mirrored = [(1 - value, bet) for value, bet in played]
        low, high = self._lowest(played, mean), 1 - self._lowest(mirrored, 1 - mean)
        return Interval(mean, min(low, mean), max(high, mean))

    def _lowest(self, played: list[tuple[float, float]], mean: float) -> float:
        """The least mean that bets on higher values have not refuted; the higher it is, the less they win."""
        refuted, held = 0.0, mean
        if self._capital(played, refuted) < self._goal:
            return 0.0
        for _ in range(_HALVINGS):
            middle = (refuted + held) / 2
            if self._capital(played, middle) < self._goal:
                held = middle
            else:
                refuted = middle
        return refuted

    @staticmethod
    def _capital(played: list[tuple[float, float]], mean: float) -> float:
        """The logarithm of what bets on values above `mean` have made of 1."""
        most = _MOST_BET / mean if mean else math.inf
        return sum(math.log1p(min(bet, most) * (value - mean)) for value, bet in played)


def sequence_of(values: Iterable[float], low: float, high: float) -> Interval:
    """The confidence sequence after these values, which lie in [low, high]."""
    sequence = Sequence95()
    for value in values:
        sequence.add((value - low) / (high - low))
    return sequence.interval.scaled(high - low, low)


_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def wilson(score: float, matches: int) -> Interval:
    """The usual interval for a share of so many matches, of a size that was fixed beforehand."""
    if not matches:
        return Interval(0.5, 0.0, 1.0)
    share, z = score / matches, _Z
    centre = (share + z * z / (2 * matches)) / (1 + z * z / matches)
    half = z * math.sqrt(share * (1 - share) / matches + z * z / (4 * matches**2)) / (1 + z * z / matches)
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """All parts by all wholes, with the usual interval for units of a number that was fixed beforehand."""
    total = sum(wholes)
    if not total:
        return Interval(0.0, 0.0, 0.0)
    share, units = sum(parts) / total, len(parts)
    off = sum((part - share * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    margin = _Z * math.sqrt(off * units / max(1, units - 1)) / total
    return Interval(share, share - margin, share + margin)


def mean(values: Sequence[float]) -> Interval:
    """The mean with the usual interval."""
    return ratio(values, [1.0] * len(values))
