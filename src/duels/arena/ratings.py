"""Ratings by the Bradley–Terry model, over all games of a run: one number for each player.

Fitted by choix, with a prior; the intervals are a bootstrap over pairs of matches, from a fixed seed.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log, sqrt
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from duels.arena.confidence import Interval, interval_data, ratio, standard_error, t_quantile

if TYPE_CHECKING:
    from duels.arena.report import GameReport
    from duels.arena.scores import Unit

PRIOR = 0.1
"""Of choix's regularisation: as if every two players had drawn a little."""
BOOTSTRAPS = 200
SCALE = 400 / log(10)  # as in Elo: 400 points are odds of ten to one
_MISFIT = NormalDist().cdf(3)  # a pairing may miss the model by three standard errors before we say so

Units = Sequence["Unit"]
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


def rate(players: Sequence[str], games: "Sequence[GameReport]") -> Ratings | None:
    """Rate players by all that they played; None where choix is not installed."""
    try:
        import choix  # noqa: F401
    except ImportError:
        return None
    pairings = [each for game in games for each in game.pairings if each.matches]
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
