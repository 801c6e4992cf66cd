"""Scores of players and pairs of players, and ratings, from the rows of matches."""

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
    interval_data,
    mean,
    ratio,
    sequence_of,
    share_of,
    standard_error,
    t_quantile,
)
from duels.arena.logs import Row
from duels.arena.match_plan import MOST_CORRECTED
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
class PlayerScore:
    """A player in one game, against all others of the run."""

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
    one: str, two: str, rows: Iterable[Row], planned: Iterable[int], fixed_size: bool = True
) -> Pairing:
    """What is known of two players in one game, of which these pairs are to be played."""
    rows = list(rows)
    units = units_of(rows, one)
    pairs = finished_units(units)
    in_order = unbroken({unit.pair: unit.adjusted_score for unit in pairs}, planned)
    scores, adjusted = [unit.score for unit in pairs], [unit.adjusted_score for unit in pairs]
    return Pairing(
        one,
        two,
        len(rows),
        sum(row["ending"] == Ending.CUT_OFF.value for row in rows),
        _usual(_won(units), fixed_size),
        adjusted_interval(in_order),
        len(pairs) - len(in_order),
        mean(adjusted) if fixed_size and adjusted else None,
        _gain(scores, adjusted),
        units,
    )


def _usual(interval: Interval, fixed_size: bool) -> Interval:
    """An interval whose bounds hold only for a size that was fixed beforehand."""
    return interval if fixed_size else interval.without_bounds


def _won(units: Iterable[Unit]) -> Interval:
    """The share of the points."""
    units = list(units)
    return share_of([unit.points for unit in units], [unit.matches for unit in units])


def _gain(scores: list[float], adjusted: list[float]) -> Interval | None:
    """The variance of results by that of adjusted ones, of the same pairs.

    By the delta method: the logarithm of the ratio is off by about the mean over pairs of how much each of
    the two variances owes to a pair. Without bounds where Student's interval for that mean does not hold.
    """
    before, after = (pvariance(each) if each else 0.0 for each in (scores, adjusted))
    if min(before, after) < 1e-12:
        return None
    middle, middle_after = fmean(scores), fmean(adjusted)
    off = mean(
        [
            (score - middle) ** 2 / before - (result - middle_after) ** 2 / after
            for score, result in zip(scores, adjusted, strict=True)
        ]
    )
    gain = before / after
    if not isfinite(off.margin):
        return Interval(gain, -inf, inf)
    return Interval(gain, gain * exp(-off.margin), gain * exp(off.margin))


def standing(player: str, rows: Iterable[Row], fixed_size: bool = True) -> PlayerScore:
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
    return PlayerScore(
        player,
        len(rows),
        _usual(_won(units), fixed_size),
        _usual(ratio(shortfalls, decisions), fixed_size),
        _usual(ratio(shortfalls, [unit.matches for unit in units]), fixed_size),
        sum(decisions),
        dict(sorted(failures.items())),
        sum(_forfeited(row, place) for row, place in seated),
        {manner: (count, lost) for manner, (count, lost) in sorted(manners.items())},
        sum((Usage(*row["usage"][place]) for row, place in seated if "usage" in row), Usage()),
        units,
    )


def _forfeited(row: Row, place: int) -> bool:
    return bool(row["ending"] == Ending.FORFEITED.value and row["result"].startswith(f"{2 - place} won"))


# -- ratings: one number for each player, by the Bradley–Terry model over all games of a run ---------------

PRIOR = 0.1
"""Of choix's regularisation: as if every two players had drawn a little."""
BOOTSTRAPS = 200
"""Samples of pairs of matches, from a fixed seed, that give the intervals."""
SCALE = 400 / log(10)  # as in Elo: 400 points are odds of ten to one
_MISFIT = NormalDist().cdf(3)  # a pairing may miss the model by three standard errors before we say so

Units = Sequence[Unit]
Played = dict[tuple[int, int], list[Units]]
"""What every two players had against each other, game by game."""


@dataclass(frozen=True)
class Ratings:
    """Players' ratings, with a mean of 0, and the pairings that the model does not fit.

    Ratings of players with too few, or too lopsided, pairs of matches have no bounds.
    """

    players: dict[str, Interval]
    misfits: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The ratings as JSON has them."""
        return {
            "players": {name: _rating_data(each) for name, each in self.players.items()},
            "misfits": list(self.misfits),
        }


def _rating_data(each: Interval) -> dict[str, float | None]:
    told = interval_data(each)
    return {"rating": told.pop("estimate"), **told}


def rate(players: Sequence[str], pairings: Iterable[Pairing]) -> Ratings | None:
    """Rate players by all that they played; None where choix is not installed."""
    try:
        import choix  # noqa: F401
    except ImportError:
        return None
    pairings = [each for each in pairings if each.matches]
    if not pairings:
        return Ratings({}, ())
    number = {name: place for place, name in enumerate(players)}
    played: Played = defaultdict(list)
    for each in pairings:
        played[number[each.one], number[each.two]].append(each.units)
    fitted = _fit(len(players), played)
    rng = Random("ratings")
    samples = [_fit(len(players), _resampled(played, rng)) for _ in range(BOOTSTRAPS)]
    found = {}
    for place, name in enumerate(players):
        if not _can_be_drawn_from(place, played):
            found[name] = Interval(fitted[place], -inf, inf)
            continue
        spread = sorted(sample[place] for sample in samples)
        low, high = spread[int(0.025 * BOOTSTRAPS)], spread[int(0.975 * BOOTSTRAPS) - 1]
        found[name] = Interval(fitted[place], min(low, fitted[place]), max(high, fitted[place]))
    return Ratings(found, tuple(_misfits(players, fitted, played)))


def _can_be_drawn_from(player: int, played: Played) -> bool:
    """Whether a player's pairs are enough, and even enough, for a bootstrap.

    A bootstrap draws them against each opponent in each game apart, so what counts is how they spread there.
    """
    deviations, matches = list[float](), list[int]()
    for pair, games in played.items():
        for units in games if player in pair else ():
            won, of = _total([units])
            sign = 1 if player == pair[0] else -1
            deviations += [sign * (unit.points - won / of * unit.matches) for unit in units]
            matches += [unit.matches for unit in units]
    return isfinite(ratio(deviations, matches).margin)


def _resampled(played: Played, rng: Random) -> Played:
    """As many pairs of matches of every two players in every game, drawn from those that were played."""
    return {key: [rng.choices(units, k=len(units)) for units in games] for key, games in played.items()}


def _fit(players: int, played: Played) -> list[float]:
    """Ratings from the points that every two players had against each other."""
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
    """Points and matches of two players in all games."""
    units = [unit for each in games for unit in each]
    return sum(unit.points for unit in units), sum(unit.matches for unit in units)


def _misfits(players: Sequence[str], ratings: list[float], played: Played) -> Iterator[str]:
    """Pairs of players whose result is far from what their ratings say, a sentence each."""
    for (one, two), games in played.items():
        freedom = sum(len(units) - 1 for units in games)
        if not freedom:  # one pair of matches in each game tells nothing about the spread
            continue
        won, matches = _total(games)
        share, expected = won / matches, 1 / (1 + exp((ratings[two] - ratings[one]) / SCALE))
        error = max(_error(games, matches), 0.5 / matches)  # results that are all alike may be so by chance
        if abs(share - expected) > t_quantile(_MISFIT, freedom) * error:
            yield (
                f"{players[one]} got {share:.0%} against {players[two]}, where the ratings say {expected:.0%}"
            )


def _error(games: Sequence[Units], matches: int) -> float:
    """The standard error of a share of the points, each game's pairs of matches being units."""
    errors = [
        standard_error([unit.points for unit in units], [unit.matches for unit in units]) * _total([units])[1]
        for units in games
        if len(units) > 1
    ]
    return sqrt(sum(error**2 for error in errors)) / matches
