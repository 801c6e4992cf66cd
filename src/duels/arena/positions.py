"""Positions drawn from good play, by how much there is to lose, with weights that make averages unbiased."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import fsum, sqrt
from random import Random
from typing import Any, TypeVar

from duels.analysis.exercises import play_judged_match
from duels.core.errors import DuelsError
from duels.core.rules import AnyRules, AnySight, Seat
from duels.solving.oracle import Verdict
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

STRATA = (0.0, 0.01, 0.05, 0.2, 1.0)
"""Bounds of how far the worst action falls short: hardly, a little, somewhat, much."""
SHARE = 0.1
"""Matches on the way are played as an expert plays: with a tenth of what random play gives away."""
POOL = 10
"""So many decisions are met for each position that is drawn."""
K = TypeVar("K", bound=Hashable)
_LONGEST = 399  # entries of a match on the way


Policy = Callable[[Verdict[Any]], Sequence[float]]
"""From a decision to the probabilities of its actions."""


@dataclass(frozen=True)
class Share:
    """How something was drawn, and how much it stands for."""

    group: int
    """Which group it was drawn from: a stratum, or all of them together where few are drawn."""
    chance: float
    """How likely it was to be drawn; 1 if it was taken for certain."""
    weight: float
    """The share of all decisions met that it stands for; those of all that is drawn sum to 1."""


@dataclass(frozen=True)
class Position:
    """A decision, as its seat knows it, judged, and how much it stands for."""

    sight: AnySight
    verdict: Verdict[Any]
    shortfalls: tuple[float, ...]
    """Of the actions: what each gives away, or how far it lies below the mixture."""
    stratum: int
    share: Share

    @property
    def weight(self) -> float:
        """The share of all decisions met that it stands for."""
        return self.share.weight

    @property
    def notation(self) -> str:
        """The position in one line."""
        return self.sight.rules.format_position(self.sight)


@dataclass(frozen=True)
class Pool:
    """Decisions that were met in good play, equal ones put together, by seat and position."""

    met: Counter[tuple[Seat, str]]
    """How often each was."""
    judged: dict[tuple[Seat, str], tuple[AnySight, Verdict[Any], tuple[float, ...]]]
    strata: dict[tuple[Seat, str], int]

    @classmethod
    def of(cls, rules: AnyRules, size: int, rng: Random, progress: Progress = no_progress) -> "Pool":
        """Meet so many decisions in matches."""
        pool, oracle = cls(Counter(), {}, {}), get_oracle(rules)
        for number, (sight, verdict) in enumerate(islice(_decisions(rules, rng), size)):
            progress(f"{number} of {size} decisions")
            key = sight.seat, rules.format_position(sight)
            pool.met[key] += 1
            if key not in pool.judged:
                short = oracle.shortfalls(verdict)
                pool.judged[key], pool.strata[key] = (sight, verdict, short), _stratum(max(short))
        return pool

    def draw(self, count: int, rng: Random) -> list[Position]:
        """So many positions, as evenly from the strata as they allow, in an order that means nothing."""
        shares = draw_weighted(self.met, self.strata, count, rng)
        drawn = [Position(*self.judged[key], self.strata[key], share) for key, share in shares.items()]
        rng.shuffle(drawn)
        return drawn


def draw_positions(
    rules: AnyRules, count: int, seed: str, progress: Progress = no_progress
) -> list[Position]:
    """So many positions from good play.

    In each stratum a position is drawn with a chance in proportion to how often it was met, and it then
    stands for as many decisions as it was met in, times one over that chance (Horvitz and Thompson): a
    weighted sum over what is drawn has the mean over all decisions met, and the weights sum to 1 in every
    draw.
    """
    rng = Random(f"exam {seed} {rules!r}")
    return Pool.of(rules, count * POOL, rng, progress).draw(count, rng)


def score(drawn: Sequence[Position], policy: Policy) -> tuple[float, float | None]:
    """How far a policy falls short on average, as drawn positions tell, and the standard error of that.

    The error is that of a draw without replacement with unequal chances, by Hájek's approximation; None where
    a group has only one position that was drawn by chance, which tells nothing of how they spread. Where each
    position is answered once, a player that draws its answers leaves open what these are.
    """
    total = variance = 0.0
    by_chance: dict[int, list[tuple[float, float]]] = {}
    for each in drawn:
        odds = policy(each.verdict)
        mean = _mean(odds, each.shortfalls)
        spread = _mean(odds, [(short - mean) ** 2 for short in each.shortfalls])
        total += each.weight * mean
        variance += each.weight**2 * spread
        if each.share.chance < 1:
            by_chance.setdefault(each.share.group, []).append((1 - each.share.chance, each.weight * mean))
    for parts in by_chance.values():
        if len(parts) == 1:
            return total, None
        middle = fsum(left * part for left, part in parts) / fsum(left for left, _ in parts)
        off = fsum(left * (part - middle) ** 2 for left, part in parts)
        variance += len(parts) / (len(parts) - 1) * off
    return total, sqrt(variance)


def _mean(odds: Sequence[float], numbers: Sequence[float]) -> float:
    return sum(chance * number for chance, number in zip(odds, numbers, strict=True))


def draw_weighted(met: Counter[K], strata: Mapping[K, int], count: int, rng: Random) -> dict[K, Share]:
    """Draw from what was met, evenly from the strata."""
    groups: list[list[K]] = [[] for _ in STRATA[1:]]
    for key in met:
        groups[strata[key]].append(key)
    if count < sum(map(bool, groups)):  # a stratum that nothing is drawn from would stand for nothing
        groups = [list(met)]
    shares = {}
    for group, size in enumerate(_sizes([len(each) for each in groups], count)):
        found = _draw_in_proportion({key: met[key] for key in groups[group]}, size, rng)
        for key, chance in found.items():
            shares[key] = Share(group, chance, met[key] / chance / met.total())
    return shares


def _draw_in_proportion(met: dict[K, int], size: int, rng: Random) -> dict[K, float]:
    """Draw so many, each as likely as it was met often, with the chance that it had.

    What was met so often that it would be drawn more than once is taken for certain, and stands for itself.
    The rest is laid out in any order, each as long as it was met often, and taken at even distances.
    """
    found: dict[K, float] = {}
    rest = dict(met)
    while certain := [key for key, times in rest.items() if times * size >= sum(rest.values())]:
        for key in certain:
            del rest[key]
            found[key] = 1.0
        size -= len(certain)
    order, total, passed, taken = list(rest), sum(rest.values()), 0, rng.random()
    rng.shuffle(order)
    for key in order:
        passed += rest[key]
        if passed * size > taken * total:
            found[key] = rest[key] * size / total
            taken += 1
    return found


def _decisions(rules: AnyRules, rng: Random) -> Iterator[tuple[AnySight, Verdict[Any]]]:
    """Decisions with a choice, in matches of good players, for ever."""
    oracle = get_oracle(rules)
    while True:
        met = play_judged_match(oracle, SHARE, rng, _LONGEST)
        found = [(sight, verdict) for sight, verdict in met if len(sight.actions) > 1]
        if not found:
            raise DuelsError(f"there is nothing to decide in {rules}.")
        yield from found


def _stratum(most: float) -> int:
    return next(place for place, bound in enumerate(STRATA[1:]) if most <= bound or bound == STRATA[-1])


def _sizes(sizes: list[int], count: int) -> list[int]:
    """How many to draw from each stratum: as evenly as their sizes allow."""
    found = [0] * len(sizes)
    while sum(found) < count and (open_ := [i for i, size in enumerate(sizes) if found[i] < size]):
        for place in open_:
            if sum(found) < count:
                found[place] += 1
    return found
