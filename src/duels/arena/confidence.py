"""Intervals for means: some that hold however often one looks, and the usual ones for a fixed size."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
_GOAL = math.log(2 / (1 - CONFIDENCE))  # what a purse has to grow to, as a logarithm
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


UNKNOWN = Interval(0.0, -math.inf, math.inf)
"""Where nothing was counted."""


def interval_data(interval: Interval) -> dict[str, float | None]:
    """An interval as JSON has it: without bounds where nothing is known of them."""
    low, high = (bound if math.isfinite(bound) else None for bound in (interval.low, interval.high))
    return {"estimate": interval.estimate, "low": low, "high": high}


def sequence_of(values: Iterable[float], low: float, high: float) -> Interval:
    """A confidence sequence for the mean of values in [low, high]: at every moment at once, with 95 %.

    The hedged capital process of Waudby-Smith and Ramdas, 'Estimating means of bounded random variables by
    betting' (2023, theorem 3). Whoever doubts that the mean is m bets on every value being higher, and with
    another purse on its being lower; if m is right, neither purse ever grows fortyfold except with a
    probability of 2.5 %. The interval holds the means that have not been bet away. Values need not be
    independent, as long as each has the same mean given those before it.
    """
    played: list[tuple[float, float]] = []  # each value, in [0, 1], with the bet on it
    total = squares = 0.0
    for n, each in enumerate(values, start=1):
        value = (each - low) / (high - low)
        if not -_ROUNDING <= value <= 1 + _ROUNDING:
            raise ValueError(f"{each} is outside [{low}, {high}].")
        bet = math.sqrt(2 * _GOAL / ((0.25 + squares) / n * n * math.log(1 + n)))
        played.append((value, bet))
        total += value
        squares += (value - (0.5 + total) / (n + 1)) ** 2
    if not played:
        return Interval(0.5, 0.0, 1.0).scaled(high - low, low)
    middle = min(1.0, max(0.0, total / len(played)))
    mirrored = [(1 - value, bet) for value, bet in played]
    least, most = _lowest(played, middle), 1 - _lowest(mirrored, 1 - middle)
    return Interval(middle, min(least, middle), max(most, middle)).scaled(high - low, low)


def _lowest(played: list[tuple[float, float]], middle: float) -> float:
    """The least mean that bets on higher values have not refuted; the higher it is, the less they win."""
    refuted, held = 0.0, middle
    if _capital(played, refuted) < _GOAL:
        return 0.0
    for _ in range(_HALVINGS):
        between = (refuted + held) / 2
        if _capital(played, between) < _GOAL:
            held = between
        else:
            refuted = between
    return refuted


def _capital(played: list[tuple[float, float]], middle: float) -> float:
    """The logarithm of what bets on values above `middle` have made of 1."""
    most = _MOST_BET / middle if middle else math.inf
    return sum(math.log1p(min(bet, most) * (value - middle)) for value, bet in played)


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


FEWEST_UNITS = 50
"""Units that Student's interval takes at least: fewer may lack what is rare, however even they look."""
_PER_SKEWNESS = 10
"""So many units, times the squared skewness, it takes too.

Cochran ('Sampling Techniques', 1977, 2.15) asks for 25, so that an interval of 95 % fails in at most 6 of 100
runs. With 10 it fails in at most 8 of 100 among players of ours (of all runs, with those that show
none), and is there far more often.
"""


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """All parts by all wholes, with Student's interval for a number of units that was fixed beforehand."""
    total = sum(wholes)
    return _students(sum(parts) / total, _influences(parts, wholes)) if total else UNKNOWN


def mean(values: Sequence[float]) -> Interval:
    """The mean with Student's interval, where that holds."""
    return ratio(values, [1.0] * len(values))


def change_of_ratio(
    parts: Sequence[float], wholes: Sequence[float], new_parts: Sequence[float], new_wholes: Sequence[float]
) -> Interval:
    """How much all parts by all wholes changed where each unit was measured twice, in the same order.

    What both measurements of a unit have in common is no part of the interval, which is Student's of the
    units' own changes.
    """
    before, after = _influences(parts, wholes), _influences(new_parts, new_wholes)
    change = sum(new_parts) / sum(new_wholes) - sum(parts) / sum(wholes)
    return _students(change, [new - old for old, new in zip(before, after, strict=True)])


def _influences(parts: Sequence[float], wholes: Sequence[float]) -> list[float]:
    """By how much more than the mean each unit counts in all parts by all wholes; 0 on average."""
    share, mean_whole = sum(parts) / sum(wholes), sum(wholes) / len(wholes)
    return [(part - share * whole) / mean_whole for part, whole in zip(parts, wholes, strict=True)]


def _students(estimate: float, influences: Sequence[float]) -> Interval:
    """Student's interval, from how much each unit counts.

    Its bounds are infinite where units are so few, or so lopsided, that it does not hold, or all alike.
    """
    units = len(influences)
    variance = math.fsum(each**2 for each in influences) / units
    if units < FEWEST_UNITS or variance < _ROUNDING**2:
        return Interval(estimate, -math.inf, math.inf)
    skewness = math.fsum(each**3 for each in influences) / units / math.sqrt(variance) ** 3
    if units <= _PER_SKEWNESS * skewness**2:
        return Interval(estimate, -math.inf, math.inf)
    margin = t_quantile(_UPPER, units - 1) * math.sqrt(variance / (units - 1))
    return Interval(estimate, estimate - margin, estimate + margin)


def standard_error(parts: Sequence[float], wholes: Sequence[float]) -> float:
    """The standard error of all parts by all wholes, of two units or more."""
    total, units = sum(wholes), len(parts)
    share = sum(parts) / total
    off = sum((part - share * whole) ** 2 for part, whole in zip(parts, wholes, strict=True))
    return math.sqrt(off * units / (units - 1)) / total
