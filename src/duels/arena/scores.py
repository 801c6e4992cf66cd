"""Scores of players and pairings, and ratings, from the rows of matches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import exp, inf, isfinite, log, sqrt
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Any

from duels.arena.confidence import (
    Interval,
    clustered_share,
    confidence_sequence,
    interval_data,
    mean_interval,
    ratio_interval,
    standard_error,
    t_quantile,
)
from duels.arena.logs import Row
from duels.arena.match_plan import MAX_CORRECTION
from duels.core.rules import Ending
from duels.players.completions import Usage

MIN_ADJUSTED, MAX_ADJUSTED = -MAX_CORRECTION, 1 + MAX_CORRECTION


@dataclass(frozen=True)
class Unit:
    """A pair of matches with one seed and swapped seats, from one player's point of view.

    Intervals count units, because the two matches are correlated. One match may be missing; all numbers are
    sums over the matches played.
    """

    pair: int
    seed: str
    """Identifies the pair across runs."""
    matches: int
    points: float
    adjusted: float
    shortfall: float
    decisions: int

    @property
    def is_finished(self) -> bool:
        return self.matches == 2

    @property
    def score(self) -> float:
        """The mean points per match."""
        return self.points / self.matches

    @property
    def adjusted_score(self) -> float:
        """The mean points per match, adjusted for luck."""
        return self.adjusted / self.matches

    @property
    def swapped(self) -> "Unit":
        """The other player's points, without decisions."""
        points, adjusted = self.matches - self.points, self.matches - self.adjusted
        return replace(self, points=points, adjusted=adjusted, shortfall=0.0, decisions=0)


def make_units(rows: Iterable[Row], player: str) -> tuple[Unit, ...]:
    by_seed: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_seed[row["seed"]].append(row)
    return tuple(
        Unit(
            both[0]["pair"],
            seed,
            len(both),
            sum(_get_for(row, player, "score") for row in both),
            sum(_get_for(row, player, "adjusted") for row in both),
            sum(row["shortfalls"][row["players"].index(player)] for row in both),
            sum(row["decisions"][row["players"].index(player)] for row in both),
        )
        for seed, both in by_seed.items()
    )


def list_finished_units(units: Iterable[Unit]) -> list[Unit]:
    """Return the units with both matches played, in order."""
    return sorted((unit for unit in units if unit.is_finished), key=lambda unit: unit.pair)


def take_unbroken(results: Mapping[int, float], planned: Iterable[int]) -> list[float]:
    """Return the results of planned pairs before the first unfinished one.

    Short matches end first, so the results after a gap are a biased selection. A confidence sequence does
    not hold for them.
    """
    return [results[pair] for pair in takewhile(results.__contains__, planned)]


def adjusted_interval(results: Iterable[float]) -> Interval:
    """Return the result of pairs, adjusted for luck, with an interval that holds under peeking."""
    return _clip(confidence_sequence(results, MIN_ADJUSTED, MAX_ADJUSTED))


def _clip(interval: Interval) -> Interval:
    """Clip the bounds to [0, 1]. The estimate stays unbiased, so it is not clipped."""
    low, high = (min(1.0, max(0.0, bound)) for bound in (interval.low, interval.high))
    return Interval(interval.estimate, low, high)


def _get_for(row: Row, player: str, what: str) -> float:
    """Return Player 1's score from `player`'s point of view."""
    number = float(row[what])
    return number if row["players"][0] == player else 1 - number


@dataclass(frozen=True)
class Pairing:
    """Two players in one game. Results are those of the first."""

    one: str
    two: str
    matches: int
    cut_off: int
    won: Interval
    """The share of the points; a draw counts one half. Without bounds if results decided when to stop."""
    adjusted: Interval
    """The share adjusted for luck, with an interval that holds under peeking."""
    left_out: int
    """Finished pairs that `adjusted` leaves out because an earlier pair is unfinished."""
    adjusted_fixed: Interval | None
    """The adjusted share of all pairs, with Student's interval for a fixed size; used for comparisons.

    Its bounds may lie outside [0, 1], and are infinite if the interval does not hold. None if results decided
    when to stop, or no pair is finished.
    """
    gain: Interval | None
    """The variance of `won` divided by that of `adjusted`; None if one is constant."""
    units: tuple[Unit, ...]

    @property
    def pairs(self) -> int:
        """The number of pairs in `adjusted`."""
        return sum(unit.is_finished for unit in self.units) - self.left_out

    @property
    def swapped(self) -> "Pairing":
        return replace(
            self,
            one=self.two,
            two=self.one,
            won=self.won.complement,
            adjusted=self.adjusted.complement,
            adjusted_fixed=self.adjusted_fixed and self.adjusted_fixed.complement,
            units=tuple(unit.swapped for unit in self.units),
        )

    @property
    def adjusted_fixed_clipped(self) -> Interval | None:
        """`adjusted_fixed` with finite bounds clipped to [0, 1]."""
        interval = self.adjusted_fixed
        return _clip(interval) if interval and isfinite(interval.margin) else interval


@dataclass(frozen=True)
class PlayerScore:
    """The score of a player in one game, against all others of the run."""

    player: str
    matches: int
    won: Interval
    per_decision: Interval
    """The mean shortfall of decisions with a choice, without forfeits.

    Without bounds if there are too few matches or mistakes, or results decided when to stop.
    """
    per_match: Interval
    decisions: int
    failures: Mapping[str, int]
    """Attempts without a legal move, by kind of failure."""
    forfeits: int
    mistake_categories: Mapping[str, tuple[int, float]]
    """By category: the number of decisions and their total shortfall."""
    usage: Usage
    units: tuple[Unit, ...]


def score_pairing(
    one: str, two: str, rows: Iterable[Row], planned: Iterable[int], fixed_size: bool = True
) -> Pairing:
    rows = list(rows)
    units = make_units(rows, one)
    pairs = list_finished_units(units)
    in_order = take_unbroken({unit.pair: unit.adjusted_score for unit in pairs}, planned)
    scores, adjusted = [unit.score for unit in pairs], [unit.adjusted_score for unit in pairs]
    return Pairing(
        one,
        two,
        len(rows),
        sum(row["ending"] == Ending.CUT_OFF.value for row in rows),
        _drop_bounds(_share_won(units), fixed_size),
        adjusted_interval(in_order),
        len(pairs) - len(in_order),
        mean_interval(adjusted) if fixed_size and adjusted else None,
        _gain(scores, adjusted),
        units,
    )


def _drop_bounds(interval: Interval, fixed_size: bool) -> Interval:
    """Drop bounds that hold only for a fixed size if the size was not fixed."""
    return interval if fixed_size else interval.without_bounds


def _share_won(units: Iterable[Unit]) -> Interval:
    units = list(units)
    return clustered_share([unit.points for unit in units], [unit.matches for unit in units])


def _gain(scores: list[float], adjusted: list[float]) -> Interval | None:
    """Return the ratio of the variances of two results of the same pairs.

    By the delta method, the error of its logarithm is about the mean of the differences between each pair's
    contributions to the two variances. Without bounds if Student's interval for that mean does not hold.
    """
    before, after = (pvariance(each) if each else 0.0 for each in (scores, adjusted))
    if min(before, after) < 1e-12:
        return None
    middle, middle_after = fmean(scores), fmean(adjusted)
    error = mean_interval(
        [
            (score - middle) ** 2 / before - (result - middle_after) ** 2 / after
            for score, result in zip(scores, adjusted, strict=True)
        ]
    )
    gain = before / after
    if not isfinite(error.margin):
        return Interval(gain, -inf, inf)
    return Interval(gain, gain * exp(-error.margin), gain * exp(error.margin))


def score_player(player: str, rows: Iterable[Row], fixed_size: bool = True) -> PlayerScore:
    rows = [row for row in rows if player in row["players"]]
    seated = [(row, row["players"].index(player)) for row in rows]
    units = make_units(rows, player)
    shortfalls, decisions = [unit.shortfall for unit in units], [unit.decisions for unit in units]
    failures: Counter[str] = Counter()
    categories: dict[str, list[Any]] = defaultdict(lambda: [0, 0.0])
    for row, place in seated:
        failures.update(kind for seat, _, kind, _ in row["failures"] if seat == place + 1)
        for category, (count, shortfall) in row["manners"][place].items():
            categories[category][0] += count
            categories[category][1] += shortfall
    return PlayerScore(
        player,
        len(rows),
        _drop_bounds(_share_won(units), fixed_size),
        _drop_bounds(ratio_interval(shortfalls, decisions), fixed_size),
        _drop_bounds(ratio_interval(shortfalls, [unit.matches for unit in units]), fixed_size),
        sum(decisions),
        dict(sorted(failures.items())),
        sum(_has_forfeited(row, place) for row, place in seated),
        {category: (count, shortfall) for category, (count, shortfall) in sorted(categories.items())},
        sum((Usage(*row["usage"][place]) for row, place in seated if "usage" in row), Usage()),
        units,
    )


def _has_forfeited(row: Row, place: int) -> bool:
    return bool(row["ending"] == Ending.FORFEITED.value and row["result"].startswith(f"{2 - place} won"))


PRIOR = 0.1
"""The regularisation of choix: as if every two players had played a few draws."""
BOOTSTRAPS = 200
"""Bootstrap samples, drawn with a fixed seed."""
SCALE = 400 / log(10)  # as in Elo: 400 points are odds of ten to one
_MISFIT = NormalDist().cdf(3)  # three standard errors

Units = Sequence[Unit]
UnitsByPairing = dict[tuple[int, int], list[Units]]
"""The units of every two players, by game."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of players, with a mean of 0, and the pairings that do not fit the model.

    Players with too few or too lopsided pairs have ratings without bounds.
    """

    players: dict[str, Interval]
    misfits: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        intervals = {name: interval_data(each) for name, each in self.players.items()}
        players = {name: {"rating": each.pop("estimate"), **each} for name, each in intervals.items()}
        return {"players": players, "misfits": list(self.misfits)}


def rate_players(players: Sequence[str], pairings: Iterable[Pairing]) -> Ratings | None:
    """Rate players by all their matches. Returns None if choix is not installed."""
    try:
        import choix  # noqa: F401
    except ImportError:
        return None
    pairings = [each for each in pairings if each.matches]
    if not pairings:
        return Ratings({}, ())
    number = {name: place for place, name in enumerate(players)}
    played: UnitsByPairing = defaultdict(list)
    for each in pairings:
        played[number[each.one], number[each.two]].append(each.units)
    fitted = _fit(len(players), played)
    rng = Random("ratings")
    samples = [_fit(len(players), _resample(played, rng)) for _ in range(BOOTSTRAPS)]
    ratings = {}
    for place, name in enumerate(players):
        if not _can_bootstrap(place, played):
            ratings[name] = Interval(fitted[place], -inf, inf)
            continue
        spread = sorted(sample[place] for sample in samples)
        low, high = spread[int(0.025 * BOOTSTRAPS)], spread[int(0.975 * BOOTSTRAPS) - 1]
        ratings[name] = Interval(fitted[place], min(low, fitted[place]), max(high, fitted[place]))
    return Ratings(ratings, tuple(_describe_misfits(players, fitted, played)))


def _can_bootstrap(player: int, played: UnitsByPairing) -> bool:
    """Whether a player has enough pairs, with enough variation, for a bootstrap.

    A bootstrap resamples within each pairing and game, so only the deviations there count.
    """
    deviations, matches = list[float](), list[int]()
    for pair, games in played.items():
        for units in games if player in pair else ():
            won, of = _total([units])
            sign = 1 if player == pair[0] else -1
            deviations += [sign * (unit.points - won / of * unit.matches) for unit in units]
            matches += [unit.matches for unit in units]
    return isfinite(ratio_interval(deviations, matches).margin)


def _resample(played: UnitsByPairing, rng: Random) -> UnitsByPairing:
    return {key: [rng.choices(units, k=len(units)) for units in games] for key, games in played.items()}


def _fit(players: int, played: UnitsByPairing) -> list[float]:
    import choix
    import numpy as np

    wins = np.zeros((players, players))
    for (one, two), games in played.items():
        won, matches = _total(games)
        wins[one, two] += won
        wins[two, one] += matches - won
    strengths = choix.ilsr_pairwise_dense(wins, alpha=PRIOR)
    return [float(SCALE * each) for each in strengths - strengths.mean()]


def _total(games: Sequence[Units]) -> tuple[float, int]:
    units = [unit for each in games for unit in each]
    return sum(unit.points for unit in units), sum(unit.matches for unit in units)


def _describe_misfits(players: Sequence[str], ratings: list[float], played: UnitsByPairing) -> Iterator[str]:
    """Yield a sentence for each pairing whose result is far from the prediction of the ratings."""
    for (one, two), games in played.items():
        freedom = sum(len(units) - 1 for units in games)
        if not freedom:  # one pair per game has no spread
            continue
        won, matches = _total(games)
        share, expected = won / matches, 1 / (1 + exp((ratings[two] - ratings[one]) / SCALE))
        error = max(_error(games, matches), 0.5 / matches)  # equal results may be a coincidence
        if abs(share - expected) > t_quantile(_MISFIT, freedom) * error:
            yield (
                f"{players[one]} got {share:.0%} against {players[two]}; the ratings predict {expected:.0%}"
            )


def _error(games: Sequence[Units], matches: int) -> float:
    """Return the standard error of a share of the points over all games."""
    errors = [
        standard_error([unit.points for unit in units], [unit.matches for unit in units]) * _total([units])[1]
        for units in games
        if len(units) > 1
    ]
    return sqrt(sum(error**2 for error in errors)) / matches
