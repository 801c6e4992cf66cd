"""From rows of matches to numbers about players and pairs of players, with intervals."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from math import exp, inf, isfinite
from statistics import fmean, pvariance
from typing import Any

from duels.arena import confidence
from duels.arena.confidence import Interval, sequence_of
from duels.arena.logs import Row
from duels.arena.values import MOST_CORRECTED
from duels.core.rules import Ending
from duels.players.completions import Usage

LOWEST, HIGHEST = -MOST_CORRECTED, 1 + MOST_CORRECTED


@dataclass(frozen=True)
class Unit:
    """What intervals count by: two matches with one seed and the seats exchanged, as one player had them.

    They hang together. One may be missing; all numbers are sums over those that are played.
    """

    pair: int
    seed: str
    """Tells the same pair in two runs."""
    matches: int
    points: float
    adjusted: float
    shortfall: float
    decisions: int

    @property
    def is_finished(self) -> bool:
        """Whether both matches are played."""
        return self.matches == 2

    @property
    def score(self) -> float:
        """The points of a match, on average."""
        return self.points / self.matches

    @property
    def adjusted_score(self) -> float:
        """The same with luck taken out."""
        return self.adjusted / self.matches

    @property
    def turned(self) -> "Unit":
        """The points as the other player had them; nothing is known here of the other's decisions."""
        points, adjusted = self.matches - self.points, self.matches - self.adjusted
        return replace(self, points=points, adjusted=adjusted, shortfall=0.0, decisions=0)


def units_of(rows: Iterable[Row], player: str) -> tuple[Unit, ...]:
    """What a player had in every pair of a game, in the order of the rows."""
    by_seed: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_seed[row["seed"]].append(row)
    return tuple(
        Unit(
            both[0]["pair"],
            seed,
            len(both),
            sum(_to(row, player, "score") for row in both),
            sum(_to(row, player, "adjusted") for row in both),
            sum(row["shortfalls"][row["players"].index(player)] for row in both),
            sum(row["decisions"][row["players"].index(player)] for row in both),
        )
        for seed, both in by_seed.items()
    )


def finished_units(units: Iterable[Unit]) -> list[Unit]:
    """Those whose matches are both played, of two players in one game, in order."""
    return sorted((unit for unit in units if unit.is_finished), key=lambda unit: unit.pair)


def unbroken(results: Mapping[int, float], planned: Iterable[int]) -> list[float]:
    """The results of pairs up to the first of those planned that is not finished.

    Short matches end sooner than long ones: with what came after a gap, results would be chosen by how they
    came about, and a confidence sequence would not hold.
    """
    return [results[pair] for pair in takewhile(results.__contains__, planned)]


def adjusted_interval(results: Iterable[float]) -> Interval:
    """The result without luck, from those of pairs, with an interval that holds however often one looks."""
    return _within(sequence_of(results, LOWEST, HIGHEST))


def _within(known: Interval) -> Interval:
    """What is left of an interval for a share of the points, which lies between 0 and 1.

    The estimate stays as it is: moved inside, it would no longer be right on average.
    """
    return Interval(known.estimate, min(1.0, max(0.0, known.low)), max(0.0, min(1.0, known.high)))


def _to(row: Row, player: str, what: str) -> float:
    """A number of Player 1's, as `player` has it."""
    number = float(row[what])
    return number if row["players"][0] == player else 1 - number


@dataclass(frozen=True)
class Pairing:
    """Two players in one game. Results are those of the first."""

    game: str
    one: str
    two: str
    matches: int
    cut_off: int
    won: Interval
    """The share of the points; a draw counts one half. Without bounds if results decided about the size."""
    adjusted: Interval
    """The same with luck taken out, with an interval that holds under peeking."""
    left_out: int
    """Finished pairs that are not in it, for one before them is not finished yet."""
    adjusted_fixed: Interval | None
    """The same of all pairs, with Student's interval for a size that was fixed beforehand, for comparing.

    Like the estimate it may reach beyond 0 and 1. Without bounds where that interval does not hold; None if
    results decided about the size, or no pair is finished.
    """
    gain: Interval | None
    """How many times fewer pairs the adjusted result needs for the same width; None if one is constant."""
    units: tuple[Unit, ...]

    @property
    def pairs(self) -> int:
        """How many finished pairs the adjusted result is of."""
        return sum(unit.is_finished for unit in self.units) - self.left_out

    @property
    def turned(self) -> "Pairing":
        """The same as the second player has it."""
        return replace(
            self,
            one=self.two,
            two=self.one,
            won=self.won.complement,
            adjusted=self.adjusted.complement,
            adjusted_fixed=self.adjusted_fixed and self.adjusted_fixed.complement,
            units=tuple(unit.turned for unit in self.units),
        )

    @property
    def adjusted_fixed_within(self) -> Interval | None:
        """The same for showing: bounds that hold lie between 0 and 1."""
        known = self.adjusted_fixed
        return _within(known) if known and isfinite(known.margin) else known


@dataclass(frozen=True)
class Standing:
    """A player in one game, against all others of the run."""

    game: str
    player: str
    matches: int
    won: Interval
    per_decision: Interval
    """What its decisions gave away, or how far they lie below the mixture, where it had a choice.

    Forfeits are counted apart. Without bounds where too few matches, or mistakes, were seen to tell, and,
    like `won`, where results decided about the size.
    """
    per_match: Interval
    decisions: int
    failures: Mapping[str, int]
    """How many attempts gave no move, by class."""
    forfeits: int
    manners: Mapping[str, tuple[int, float]]
    """By sort of decision: how many, and how far they fell short in all."""
    usage: Usage
    """What a model took, as its endpoint reports it."""
    units: tuple[Unit, ...]


def pairing(
    game: str, one: str, two: str, rows: Iterable[Row], planned: Iterable[int], fixed_size: bool = True
) -> Pairing:
    """What is known of two players in one game, of which these pairs are to be played."""
    rows = list(rows)
    units = units_of(rows, one)
    pairs = finished_units(units)
    in_order = unbroken({unit.pair: unit.adjusted_score for unit in pairs}, planned)
    scores, adjusted = [unit.score for unit in pairs], [unit.adjusted_score for unit in pairs]
    return Pairing(
        game,
        one,
        two,
        len(rows),
        sum(row["ending"] == Ending.CUT_OFF.value for row in rows),
        _usual(_won(units), fixed_size),
        adjusted_interval(in_order),
        len(pairs) - len(in_order),
        confidence.mean(adjusted) if fixed_size and adjusted else None,
        _gain(scores, adjusted),
        units,
    )


def _usual(interval: Interval, fixed_size: bool) -> Interval:
    """An interval whose bounds hold only for a size that was fixed beforehand."""
    return interval if fixed_size else interval.without_bounds


def _won(units: Iterable[Unit]) -> Interval:
    """The share of the points."""
    units = list(units)
    return confidence.share_of([unit.points for unit in units], [unit.matches for unit in units])


def _gain(scores: list[float], adjusted: list[float]) -> Interval | None:
    """The variance of results by that of adjusted ones, of the same pairs.

    By the delta method: the logarithm of the ratio is off by about the mean over pairs of how much each of
    the two variances owes to a pair. Without bounds where Student's interval for that mean does not hold.
    """
    before, after = (pvariance(each) if each else 0.0 for each in (scores, adjusted))
    if min(before, after) < 1e-12:
        return None
    middle, middle_after = fmean(scores), fmean(adjusted)
    off = confidence.mean(
        [
            (score - middle) ** 2 / before - (result - middle_after) ** 2 / after
            for score, result in zip(scores, adjusted, strict=True)
        ]
    )
    gain = before / after
    if not isfinite(off.margin):
        return Interval(gain, -inf, inf)
    return Interval(gain, gain * exp(-off.margin), gain * exp(off.margin))


def standing(game: str, player: str, rows: Iterable[Row], fixed_size: bool = True) -> Standing:
    """What is known of a player in one game."""
    rows = [row for row in rows if player in row["players"]]
    places = [row["players"].index(player) for row in rows]
    seated = list(zip(rows, places, strict=True))
    units = units_of(rows, player)
    shortfalls, decisions = [unit.shortfall for unit in units], [unit.decisions for unit in units]
    failures: Counter[str] = Counter()
    manners: dict[str, list[Any]] = defaultdict(lambda: [0, 0.0])
    for row, place in seated:
        failures.update(kind for seat, _, kind, _ in row["failures"] if seat == place + 1)
        for manner, (count, lost) in row["manners"][place].items():
            manners[manner][0] += count
            manners[manner][1] += lost
    return Standing(
        game,
        player,
        len(rows),
        _usual(_won(units), fixed_size),
        _usual(confidence.ratio(shortfalls, decisions), fixed_size),
        _usual(confidence.ratio(shortfalls, [unit.matches for unit in units]), fixed_size),
        sum(decisions),
        dict(sorted(failures.items())),
        sum(_forfeited(row, place) for row, place in seated),
        {manner: (count, lost) for manner, (count, lost) in sorted(manners.items())},
        sum((Usage(*row["usage"][place]) for row, place in seated if "usage" in row), Usage()),
        units,
    )


def _forfeited(row: Row, place: int) -> bool:
    return bool(row["ending"] == Ending.FORFEITED.value and row["result"].startswith(f"{2 - place} won"))
