"""Scores of players and pairings, and ratings, computed from match rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import exp, log, sqrt
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Any, TypeVar

from duels.arena.confidence import (
    Interval,
    clustered_share,
    confidence_sequence,
    count_results_to_exclude,
    interval_data,
    mean_interval,
    ratio_interval,
    standard_error,
    t_quantile,
)
from duels.arena.match_plan import MAX_CORRECTION
from duels.arena.schemas import Row
from duels.core.rules import Ending
from duels.players.completions import Usage

_EVEN = 0.5
_MAX_PREDICTED_PAIRS = 2500
_MIN_VARIANCE = 1e-12
T = TypeVar("T")


@dataclass(frozen=True)
class MatchPair:
    """Two matches with the same seed and swapped seats, from one player's point of view.

    Intervals use pairs as units, because the two matches are correlated. One match may be missing. The
    numbers are sums over the matches played.
    """

    pair: int  # the number of the pair in the pairing
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
    def swapped(self) -> "MatchPair":
        """The pair from the other player's point of view. It has no decisions."""
        points, adjusted = self.matches - self.points, self.matches - self.adjusted
        return replace(self, points=points, adjusted=adjusted, shortfall=0.0, decisions=0)


def make_match_pairs(rows: Iterable[Row], player: str) -> tuple[MatchPair, ...]:
    """Group matches of the same seed, in which the players swap seats. Totals are `player`'s."""
    by_seed: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_seed[row["seed"]].append(row)
    return tuple(
        MatchPair(
            pair_rows[0]["pair"],
            seed,
            len(pair_rows),
            sum(_get_score(row, player, "score") for row in pair_rows),
            sum(_get_score(row, player, "adjusted") for row in pair_rows),
            sum(row["shortfalls"][row["players"].index(player)] for row in pair_rows),
            sum(row["decisions"][row["players"].index(player)] for row in pair_rows),
        )
        for seed, pair_rows in by_seed.items()
    )


def list_finished_pairs(pairs: Iterable[MatchPair]) -> list[MatchPair]:
    """Return the pairs with both matches played, in order."""
    return sorted((each for each in pairs if each.is_finished), key=lambda each: each.pair)


def take_unbroken(results: Mapping[int, T], planned: Iterable[int]) -> list[T]:
    """Return the results of the planned pairs before the first unfinished pair.

    Short matches end first, so later results are a biased selection, and a confidence sequence that
    includes them is invalid.
    """
    return [results[pair] for pair in takewhile(results.__contains__, planned)]


def adjusted_interval(results: Sequence[tuple[float, float]]) -> Interval:
    """Return the adjusted mean of pairs with an anytime-valid interval.

    `results` are the plain and the adjusted result of each pair. The estimate uses the part of the adjustment
    that `get_adjustment_share` returns.
    """
    bounds = confidence_sequence(results, MAX_CORRECTION)
    share = get_adjustment_share(results)
    return Interval(fmean(_adjust(*each, share) for each in results) if results else _EVEN, *bounds)


def get_adjustment_share(results: Sequence[tuple[float, float]]) -> float:
    """Return the part of the adjustment, from 0 to 1, that leaves the lowest variance (by least squares).

    Between weak players a full adjustment adds variance.
    """
    if len(results) < 2:
        return 0.0
    plain, luck = [each for each, _ in results], [each - adjusted for each, adjusted in results]
    variance = pvariance(luck)
    if variance < _MIN_VARIANCE:
        return 0.0
    mean, mean_luck = fmean(plain), fmean(luck)
    covariance = fmean((one - mean) * (two - mean_luck) for one, two in zip(plain, luck, strict=True))
    return min(1.0, max(0.0, covariance / variance))


def _adjust(plain: float, adjusted: float, share: float) -> float:
    return plain + share * (adjusted - plain)


def _clip(interval: Interval) -> Interval:
    """Clip the bounds to [0, 1]. The estimate stays unbiased, so it is not clipped."""
    low, high = (min(1.0, max(0.0, bound)) for bound in (interval.low, interval.high))
    return Interval(interval.estimate, low, high)


def _get_score(row: Row, player: str, key: str) -> float:
    """Return a player's score, from a row that stores Player 1's score."""
    score = float(row[key])
    return score if row["players"][0] == player else 1 - score


@dataclass(frozen=True)
class Pairing:
    """Two players in one game. The results are those of the first player."""

    one: str
    two: str
    matches: int
    cut_off: int
    won: Interval
    """The share of the points; a draw counts one half. Without bounds if the run may stop early."""
    adjusted: Interval
    """The share adjusted for luck, with an anytime-valid interval."""
    matches_to_settle: int | None
    """About how many more matches show which player is better, if results continue as they are.

    0 if `adjusted` shows it. None without a prediction: it would take too many matches, or there are none.
    """
    left_out: int
    """Finished pairs that `adjusted` leaves out because an earlier pair is unfinished."""
    adjusted_fixed: Interval | None
    """The adjusted share of all pairs, with Student's interval for a fixed size; used for comparisons.

    Its bounds may lie outside [0, 1], and are infinite if the interval is not valid. None if the run may stop
    early, or no pair is finished.
    """
    variance_ratio: Interval | None
    """The variance of `won` divided by the variance of `adjusted`; None if one of them is 0."""
    match_pairs: tuple[MatchPair, ...]

    @property
    def pairs(self) -> int:
        """The number of pairs in `adjusted`."""
        return sum(each.is_finished for each in self.match_pairs) - self.left_out

    @property
    def swapped(self) -> "Pairing":
        return replace(
            self,
            one=self.two,
            two=self.one,
            won=self.won.complement,
            adjusted=self.adjusted.complement,
            adjusted_fixed=self.adjusted_fixed and self.adjusted_fixed.complement,
            match_pairs=tuple(each.swapped for each in self.match_pairs),
        )

    @property
    def adjusted_fixed_clipped(self) -> Interval | None:
        """`adjusted_fixed` with finite bounds clipped to [0, 1]."""
        interval = self.adjusted_fixed
        return _clip(interval) if interval and interval.has_bounds else interval


@dataclass(frozen=True)
class PlayerScore:
    """The score of a player in one game, against all other players of the run."""

    player: str
    matches: int
    won: Interval
    per_decision: Interval
    """The mean shortfall of decisions, without forced moves and forfeits.

    Without bounds if there are too few matches or mistakes, or the run may stop early.
    """
    per_match: Interval
    decisions: int
    failures: Mapping[str, int]
    """Attempts without a legal move, by kind of failure."""
    forfeits: int
    mistake_categories: Mapping[str, tuple[int, float]]
    """The number of decisions and their total shortfall, by category."""
    usage: Usage
    match_pairs: tuple[MatchPair, ...]


def score_pairing(
    one: str, two: str, rows: Iterable[Row], planned: Iterable[int], fixed_size: bool = True
) -> Pairing:
    """Score the matches between two players, from `one`'s point of view."""
    rows = list(rows)
    match_pairs = make_match_pairs(rows, one)
    finished = list_finished_pairs(match_pairs)
    unbroken = take_unbroken({each.pair: (each.score, each.adjusted_score) for each in finished}, planned)
    share = get_adjustment_share([(each.score, each.adjusted_score) for each in finished])
    match_pairs = tuple(
        replace(each, adjusted=_adjust(each.points, each.adjusted, share)) for each in match_pairs
    )
    finished = list_finished_pairs(match_pairs)
    scores, adjusted = [each.score for each in finished], [each.adjusted_score for each in finished]
    result = adjusted_interval(unbroken)
    return Pairing(
        one,
        two,
        len(rows),
        sum(row["ending"] == Ending.CUT_OFF.value for row in rows),
        _drop_bounds(_share_won(match_pairs), fixed_size),
        result,
        0 if result.excludes(_EVEN) else _predict_matches(unbroken),
        len(finished) - len(unbroken),
        mean_interval(adjusted) if fixed_size and adjusted else None,
        _variance_ratio(scores, adjusted),
        match_pairs,
    )


def _predict_matches(results: Sequence[tuple[float, float]]) -> int | None:
    """Return about how many more matches settle a pairing, if its results repeat."""
    pairs = count_results_to_exclude(results, MAX_CORRECTION, _EVEN, _MAX_PREDICTED_PAIRS)
    return pairs and 2 * (pairs - len(results))


def _drop_bounds(interval: Interval, fixed_size: bool) -> Interval:
    """Drop the bounds if the number of matches was not fixed in advance."""
    return interval if fixed_size else interval.without_bounds


def _share_won(pairs: Sequence[MatchPair]) -> Interval:
    return clustered_share([each.points for each in pairs], [each.matches for each in pairs])


def _variance_ratio(scores: list[float], adjusted: list[float]) -> Interval | None:
    """Return the variance of the scores divided by that of the adjusted scores; None if one is 0.

    By the delta method, the error of its logarithm is about the mean of the differences between each pair's
    contributions to the two variances. Without bounds if Student's interval for that mean is not valid.
    """
    variance, adjusted_variance = (pvariance(each) if each else 0.0 for each in (scores, adjusted))
    if min(variance, adjusted_variance) < _MIN_VARIANCE:
        return None
    mean, adjusted_mean = fmean(scores), fmean(adjusted)
    error = mean_interval(
        [
            (score - mean) ** 2 / variance - (result - adjusted_mean) ** 2 / adjusted_variance
            for score, result in zip(scores, adjusted, strict=True)
        ]
    )
    ratio = variance / adjusted_variance
    if not error.has_bounds:
        return Interval.unbounded(ratio)
    return Interval(ratio, ratio * exp(-error.margin), ratio * exp(error.margin))


def score_player(player: str, rows: Iterable[Row], fixed_size: bool = True) -> PlayerScore:
    """Score one player's matches against all others."""
    rows = [row for row in rows if player in row["players"]]
    seated = [(row, row["players"].index(player)) for row in rows]
    pairs = make_match_pairs(rows, player)
    shortfalls, decisions = [each.shortfall for each in pairs], [each.decisions for each in pairs]
    failures: Counter[str] = Counter()
    categories: dict[str, list[Any]] = defaultdict(lambda: [0, 0.0])
    for row, index in seated:
        failures.update(kind for seat, _, kind, _ in row["failures"] if seat == index + 1)
        for category, (count, shortfall) in row["manners"][index].items():
            categories[category][0] += count
            categories[category][1] += shortfall
    return PlayerScore(
        player,
        len(rows),
        _drop_bounds(_share_won(pairs), fixed_size),
        _drop_bounds(ratio_interval(shortfalls, decisions), fixed_size),
        _drop_bounds(ratio_interval(shortfalls, [each.matches for each in pairs]), fixed_size),
        sum(decisions),
        dict(sorted(failures.items())),
        sum(_has_forfeited(row, index) for row, index in seated),
        {category: (count, shortfall) for category, (count, shortfall) in sorted(categories.items())},
        sum((Usage(*row["usage"][index]) for row, index in seated if "usage" in row), Usage()),
        pairs,
    )


def _has_forfeited(row: Row, index: int) -> bool:
    return bool(row["ending"] == Ending.FORFEITED.value and row["result"].startswith(f"{2 - index} won"))


PRIOR = 0.1
"""The regularisation of choix. It acts as if every two players had also drawn a few matches."""
BOOTSTRAPS = 200
"""Bootstrap samples, drawn with a fixed seed."""
SCALE = 400 / log(10)  # as in Elo: 400 points are odds of ten to one
_MISFIT_QUANTILE = NormalDist().cdf(3)  # three standard errors

MatchPairs = Sequence[MatchPair]
PairsByPairing = dict[tuple[int, int], list[MatchPairs]]
"""The match pairs of two players, one list per game, by the indices of the players."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of players, with a mean of 0, and sentences about the pairings that do not fit them.

    A rating has no bounds if the player has too few pairs, or too one-sided ones.
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
    indices = {name: index for index, name in enumerate(players)}
    played: PairsByPairing = defaultdict(list)
    for each in pairings:
        played[indices[each.one], indices[each.two]].append(each.match_pairs)
    fitted = _fit(len(players), played)
    rng = Random("ratings")
    samples = [_fit(len(players), _resample(played, rng)) for _ in range(BOOTSTRAPS)]
    ratings = {}
    for index, name in enumerate(players):
        if not _can_bootstrap(index, played):
            ratings[name] = Interval.unbounded(fitted[index])
            continue
        spread = sorted(sample[index] for sample in samples)
        low, high = spread[int(0.025 * BOOTSTRAPS)], spread[int(0.975 * BOOTSTRAPS) - 1]
        ratings[name] = Interval(fitted[index], min(low, fitted[index]), max(high, fitted[index]))
    return Ratings(ratings, tuple(_describe_misfits(players, fitted, played)))


def _can_bootstrap(player: int, played: PairsByPairing) -> bool:
    """Whether a player has enough pairs, with enough variation, for a bootstrap.

    A bootstrap resamples within each pairing and game, so only deviations within them count.
    """
    deviations, matches = list[float](), list[int]()
    for players, games in played.items():
        for pairs in games if player in players else ():
            points, matches_played = _total([pairs])
            sign = 1 if player == players[0] else -1
            deviations += [sign * (each.points - points / matches_played * each.matches) for each in pairs]
            matches += [each.matches for each in pairs]
    return ratio_interval(deviations, matches).has_bounds


def _resample(played: PairsByPairing, rng: Random) -> PairsByPairing:
    return {key: [rng.choices(pairs, k=len(pairs)) for pairs in games] for key, games in played.items()}


def _fit(players: int, played: PairsByPairing) -> list[float]:
    import choix
    import numpy as np

    wins = np.zeros((players, players))
    for (one, two), games in played.items():
        won, matches = _total(games)
        wins[one, two] += won
        wins[two, one] += matches - won
    strengths = choix.ilsr_pairwise_dense(wins, alpha=PRIOR)
    return [float(SCALE * each) for each in strengths - strengths.mean()]


def _total(games: Sequence[MatchPairs]) -> tuple[float, int]:
    pairs = [pair for each in games for pair in each]
    return sum(pair.points for pair in pairs), sum(pair.matches for pair in pairs)


def _describe_misfits(players: Sequence[str], ratings: list[float], played: PairsByPairing) -> Iterator[str]:
    """Yield a sentence for each pairing whose result is far from the one that the ratings predict."""
    for (one, two), games in played.items():
        freedom = sum(len(pairs) - 1 for pairs in games)
        if not freedom:  # one pair per game has no variance
            continue
        won, matches = _total(games)
        share, expected = won / matches, 1 / (1 + exp((ratings[two] - ratings[one]) / SCALE))
        error = max(_share_error(games, matches), 0.5 / matches)  # equal results may be a coincidence
        if abs(share - expected) > t_quantile(_MISFIT_QUANTILE, freedom) * error:
            yield (
                f"{players[one]} got {share:.0%} against {players[two]}; the ratings predict {expected:.0%}"
            )


def _share_error(games: Sequence[MatchPairs], matches: int) -> float:
    errors = [
        standard_error([each.points for each in pairs], [each.matches for each in pairs]) * _total([pairs])[1]
        for pairs in games
        if len(pairs) > 1
    ]
    return sqrt(sum(error**2 for error in errors)) / matches
