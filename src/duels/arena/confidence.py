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
    """An estimate with its bounds, which are infinite where nothing is known of them.

    An unbiased estimate may lie beyond bounds that are known for other reasons, such as 1 for a share.
    """

    estimate: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """How far the farther bound is from the estimate, or from the bound that this lies beyond."""
        inside = min(max(self.estimate, self.low), self.high)
        return max(self.high - inside, inside - self.low)

    def is_above(self, number: float) -> bool:
        """Whether all of it is, by more than rounding."""
        return self.low > number + _ROUNDING

    def is_below(self, number: float) -> bool:
        """Whether all of it is, by more than rounding."""
        return self.high < number - _ROUNDING

    def excludes(self, number: float) -> bool:
        """Whether all of it lies on one side of a number, by more than rounding."""
        return self.is_above(number) or self.is_below(number)

    @property
    def without_bounds(self) -> "Interval":
        """The estimate alone, where the bounds do not hold."""
        return Interval(self.estimate, -math.inf, math.inf)

    @property
    def complement(self) -> "Interval":
        """The interval of `1 - x`: a share of the points as the other player has it."""
        return Interval(1 - self.estimate, 1 - self.high, 1 - self.low)

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


def interval_data(interval: Interval) -> dict[str, float | None]:
    """An interval as JSON has it: without bounds where nothing is known of them."""
    low, high = (bound if math.isfinite(bound) else None for bound in (interval.low, interval.high))
    return {"estimate": interval.estimate, "low": low, "high": high}


def sequence_of(values: Iterable[float], low: float, high: float) -> Interval:
    """The confidence sequence after these values, which lie in [low, high]."""
    sequence = Sequence95()
    for value in values:
        sequence.add((value - low) / (high - low))
    return sequence.interval.scaled(high - low, low)


_UPPER = (1 + CONFIDENCE) / 2
Z = NormalDist().inv_cdf(_UPPER)
"""How many standard errors an interval of a normal estimate reaches to either side."""


def t_quantile(chance: float, freedom: int) -> float:
    """What Student's t exceeds with a probability of `1 - chance`, which is below one half.

    Hill's approximation ('Algorithm 396: Student's t-quantiles', 1970), to four digits or more.
    """
    n, tails = freedom, 2 * (1 - chance)
    if n == 1:
        return 1 / math.tan(tails * math.pi / 2)
    if n == 2:
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    a = 1 / (n - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * tails) ** (2 / n)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(tails / 2)
        y = x * x
        if n < 5:
            c += 0.3 * (n - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        far = 1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3)
        y = ((far + 0.5 / (n + 4)) * y - 1) * (n + 1) / (n + 2) + 1 / y
    return math.sqrt(n * y)


def wilson(score: float, matches: float, z: float = Z) -> Interval:
    """The usual interval for a share of so many independent matches, a number fixed beforehand."""
    if not matches:
        return Interval(0.5, 0.0, 1.0)
    share = score / matches
    centre = (share + z * z / (2 * matches)) / (1 + z * z / matches)
    half = z * math.sqrt(share * (1 - share) / matches + z * z / (4 * matches**2)) / (1 + z * z / matches)
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def share_of(points: Sequence[float], matches: Sequence[int]) -> Interval:
    """The share of the points, from those of every unit (a pair of matches) and the matches it has.

    Matches of a unit hang together. The spread of the units tells how many independent matches would tell as
    much (Korn and Graubard, 1998), and Wilson's interval is that of so many, with Student's quantile.
    """
    units, total = len(points), sum(matches)
    if units < 2:
        return Interval(sum(points) / total if total else 0.5, 0.0, 1.0)
    share = sum(points) / total
    spread, error = share * (1 - share), standard_error(points, matches)
    effective = min(total, spread / error**2) if error else total
    if not spread:  # all won or all lost: nothing tells whether matches of a unit are independent
        effective = units
    return wilson(share * effective, effective, t_quantile(_UPPER, units - 1))


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """All parts by all wholes, with Student's interval for a number of units that was fixed beforehand.

    Its bounds are infinite where units are so few, or so lopsided, that Student's interval does not hold.
    """
    total, units = sum(wholes), len(parts)
    share = sum(parts) / total if total else 0.0
    if not _students_holds([part - share * whole for part, whole in zip(parts, wholes, strict=True)]):
        return Interval(share, -math.inf, math.inf)
    margin = t_quantile(_UPPER, units - 1) * standard_error(parts, wholes)
    return Interval(share, share - margin, share + margin)


def change_of_ratio(
    parts: Sequence[float], wholes: Sequence[float], new_parts: Sequence[float], new_wholes: Sequence[float]
) -> Interval:
    """How much all parts by all wholes changed where each unit was measured twice, in the same order.

    What both measurements of a unit have in common is no part of the interval, which is Student's of the
    units' own changes, with infinite bounds where it does not hold.
    """
    units = len(parts)
    before, after = _influences(parts, wholes), _influences(new_parts, new_wholes)
    changes = [new - old for old, new in zip(before, after, strict=True)]
    change = sum(new_parts) / sum(new_wholes) - sum(parts) / sum(wholes)
    if not _students_holds(changes):
        return Interval(change, -math.inf, math.inf)
    margin = t_quantile(_UPPER, units - 1) * standard_error(changes, [1.0] * units)
    return Interval(change, change - margin, change + margin)


def _influences(parts: Sequence[float], wholes: Sequence[float]) -> list[float]:
    """By how much more than the mean each unit counts in all parts by all wholes; 0 on average."""
    share, mean_whole = sum(parts) / sum(wholes), sum(wholes) / len(wholes)
    return [(part - share * whole) / mean_whole for part, whole in zip(parts, wholes, strict=True)]


FEWEST_UNITS = 50
"""Units that Student's interval takes at least: fewer may lack what is rare, however even they look."""
_PER_SKEWNESS = 10
"""So many units, times the squared skewness, it takes too.

Cochran ('Sampling Techniques', 1977, 2.15) asks for 25, so that an interval of 95 % fails in at most 6 of 100
runs. With 10 it fails in at most 8 of 100 among players of ours (of all runs, with those that show
none), and is there far more often.
"""


def _students_holds(deviations: Sequence[float]) -> bool:
    """Whether units are enough for Student's interval, given how lopsided they are; never if all alike."""
    units = len(deviations)
    variance = math.fsum(each**2 for each in deviations) / max(1, units)
    if units < FEWEST_UNITS or variance < _ROUNDING**2:
        return False
    skewness = math.fsum(each**3 for each in deviations) / units / math.sqrt(variance) ** 3
    return units > _PER_SKEWNESS * skewness**2


def standard_error(parts: Sequence[float], wholes: Sequence[float]) -> float:
    """The standard error of all parts by all wholes, of two units or more."""
    total, units = sum(wholes), len(parts)
    share = sum(parts) / total
    off = sum((part - share * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return math.sqrt(off * units / (units - 1)) / total


def mean(values: Sequence[float]) -> Interval:
    """The mean with Student's interval, where that holds."""
    return ratio(values, [1.0] * len(values))
