"""Positions drawn from good play, by how much there is to lose, with weights that make averages unbiased."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import fsum, isclose, sqrt
from random import Random
from typing import Any, TypeVar

from duels.analysis.shortfalls import shortfalls
from duels.core.errors import DuelsError
from duels.core.match import Match, playing
from duels.core.rules import Rules, Seat, Sight
from duels.players.levels import mixture
from duels.solving.oracle import Verdict
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet

STRATA = (0.0, 0.01, 0.05, 0.2, 1.0)
"""Bounds of how far the worst action falls short: hardly, a little, somewhat, much."""
SHARE = 0.1
"""Matches on the way are played as an expert plays: with a tenth of what random play gives away."""
POOL = 10
"""So many decisions are met for each position that is drawn."""
K = TypeVar("K", bound=Hashable)
_LONGEST = 400  # entries of a match on the way


Policy = Callable[[Verdict[Any]], Sequence[float]]
"""From a decision to the probabilities of its actions."""


@dataclass(frozen=True)
class Position:
    """A decision, as its seat knows it, judged, and how much it stands for."""

    sight: Sight[Any, Any]
    verdict: Verdict[Any]
    shortfalls: tuple[float, ...]
    """Of the actions: what each gives away, or how far it lies below the mixture."""
    stratum: int
    weight: float
    """The share of all decisions met that it stands for; those of all positions drawn sum to 1."""

    @property
    def notation(self) -> str:
        """The position in one line."""
        return self.sight.rules.format_position(self.sight)


def draw_positions(
    rules: Rules[Any, Any, Any], count: int, seed: str, progress: Progress = quiet
) -> list[Position]:
    """So many positions, as evenly from the strata as they allow, in an order that means nothing.

    Decisions are met in matches; equal positions are put together. In each stratum a position is drawn with a
    chance in proportion to how often it was met, and it then stands for as many decisions as it was met in,
    times one over that chance (Horvitz and Thompson): a weighted sum over what is drawn has the mean over all
    decisions met, and the weights sum to 1 in every draw.
    """
    rng = Random(f"exam {seed} {rules!r}")
    met: Counter[tuple[Seat, str]] = Counter()
    judged: dict[tuple[Seat, str], tuple[Sight[Any, Any], Verdict[Any]]] = {}
    for number, (sight, verdict) in enumerate(islice(_decisions(rules, rng), count * POOL)):
        progress(f"{number} of {count * POOL} decisions")
        key = sight.seat, rules.format_position(sight)
        met[key] += 1
        judged.setdefault(key, (sight, verdict))
    oracle = oracle_for(rules)
    short = {key: shortfalls(oracle, verdict) for key, (_, verdict) in judged.items()}
    strata = {key: _stratum(max(amounts)) for key, amounts in short.items()}
    weights = draw_weighted(met, strata, count, rng)
    drawn = [Position(*judged[key], short[key], strata[key], weight) for key, weight in weights.items()]
    rng.shuffle(drawn)
    return drawn


def score(drawn: Sequence[Position], policy: Policy) -> tuple[float, float]:
    """How far a policy falls short on average, as drawn positions tell, and the standard error of that.

    In a stratum those that were drawn by chance have the smallest weight, and are taken for independent
    draws. Those that were taken for certain leave open what a player that draws answers once.
    """
    total = variance = 0.0
    strata = {each.stratum: min(e.weight for e in drawn if e.stratum == each.stratum) for each in drawn}
    by_chance: dict[int, list[float]] = {stratum: [] for stratum in strata}
    for each in drawn:
        odds = policy(each.verdict)
        mean = _mean(odds, each.shortfalls)
        spread = _mean(odds, [(short - mean) ** 2 for short in each.shortfalls])
        total += each.weight * mean
        variance += each.weight**2 * spread
        if isclose(each.weight, strata[each.stratum]):
            by_chance[each.stratum].append(each.weight * mean)
    for means in by_chance.values():
        count, middle = len(means), fsum(means) / len(means)
        variance += count / max(1, count - 1) * fsum((mean - middle) ** 2 for mean in means)
    return total, sqrt(variance)


def _mean(odds: Sequence[float], numbers: Sequence[float]) -> float:
    return sum(chance * number for chance, number in zip(odds, numbers, strict=True))


def draw_weighted(met: Counter[K], strata: Mapping[K, int], count: int, rng: Random) -> dict[K, float]:
    """Draw from what was met, evenly from the strata, each with the share of all that it stands for."""
    members: list[list[K]] = [[] for _ in STRATA[1:]]
    for key in met:
        members[strata[key]].append(key)
    if count < sum(map(bool, members)):  # a stratum that nothing is drawn from would stand for nothing
        members = [list(met)]
    weights = {}
    for stratum, size in zip(members, _shares([len(each) for each in members], count), strict=True):
        for key, decisions in _draw_in_proportion({key: met[key] for key in stratum}, size, rng).items():
            weights[key] = decisions / met.total()
    return weights


def _draw_in_proportion(met: dict[K, int], size: int, rng: Random) -> dict[K, float]:
    """Draw so many, each as likely as it was met often, with the number of decisions that it stands for.

    What was met so often that it would be drawn more than once is taken for certain, and stands for itself.
    The rest is laid out in any order, each as long as it was met often, and taken at even distances.
    """
    found: dict[K, float] = {}
    rest = dict(met)
    while certain := [key for key, times in rest.items() if times * size >= sum(rest.values())]:
        for key in certain:
            found[key] = rest.pop(key)
        size -= len(certain)
    order, total, passed, taken = list(rest), sum(rest.values()), 0, rng.random()
    rng.shuffle(order)
    for key in order:
        passed += rest[key]
        if passed * size > taken * total:
            found[key] = total / size
            taken += 1
    return found


def _decisions(rules: Rules[Any, Any, Any], rng: Random) -> Iterator[tuple[Sight[Any, Any], Verdict[Any]]]:
    """Decisions with a choice, in matches of good players, for ever."""
    oracle = oracle_for(rules)
    while True:
        found: list[tuple[Sight[Any, Any], Verdict[Any]]] = []

        def decide(match: Match[Any, Any, Any], seat: Seat) -> Any:
            sight = match.sight(seat)
            verdict = oracle.judge(sight)
            if len(sight.actions) > 1:
                found.append((sight, verdict))  # noqa: B023 (used before the next match begins)
            return rng.choices(sight.actions, weights=mixture(verdict, SHARE))[0]

        for _ in islice(playing(Match.start(rules), rng, decide), _LONGEST):
            pass
        if not found:
            raise DuelsError(f"there is nothing to decide in {rules}.")
        yield from found


def _stratum(most: float) -> int:
    return next(place for place, bound in enumerate(STRATA[1:]) if most <= bound or bound == STRATA[-1])


def _shares(sizes: list[int], count: int) -> list[int]:
    """How many to draw from each stratum: as evenly as their sizes allow."""
    shares = [0] * len(sizes)
    while sum(shares) < count and (open_ := [i for i, size in enumerate(sizes) if shares[i] < size]):
        for place in open_:
            if sum(shares) < count:
                shares[place] += 1
    return shares
