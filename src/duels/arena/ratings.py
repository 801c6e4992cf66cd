"""Ratings by the Bradley–Terry model, over all games of a run: one number for each player.

Fitted by choix, with a prior; the intervals are a bootstrap over pairings' matches, from a fixed seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import TYPE_CHECKING, Any

from duels.arena.confidence import Interval

if TYPE_CHECKING:
    from duels.arena.report import GameReport

PRIOR = 0.1
"""Of choix's regularisation: as if every two players had drawn a little."""
BOOTSTRAPS = 200
SCALE = 400 / log(10)  # as in Elo: 400 points are odds of ten to one
_MISFIT = 3.0  # standard errors by which a pairing may miss the model before we say so


@dataclass(frozen=True)
class Ratings:
    """Players' ratings, with a mean of 0, and the pairings that the model does not fit."""

    players: dict[str, Interval]
    misfits: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The ratings as JSON has them."""
        return {
            "players": {
                name: {"rating": each.estimate, "low": each.low, "high": each.high}
                for name, each in self.players.items()
            },
            "misfits": list(self.misfits),
        }


def rate(players: Sequence[str], games: "Sequence[GameReport]") -> Ratings | None:
    """Rate players by all that they played; None where choix is not installed or nothing was played."""
    try:
        import choix  # noqa: F401
    except ImportError:
        return None
    pairings = [each for game in games for each in game.pairings if each.matches]
    if not pairings:
        return None
    number = {name: place for place, name in enumerate(players)}
    totals: dict[tuple[int, int], tuple[float, int]] = {}
    for each in pairings:
        key = number[each.one], number[each.two]
        won, matches = totals.get(key, (0.0, 0))
        totals[key] = won + each.won.estimate * each.matches, matches + each.matches
    fitted = _fit(len(players), {key: won / matches for key, (won, matches) in totals.items()}, totals)
    rng = Random("ratings")
    samples = [_fit(len(players), _resampled(totals, rng), totals) for _ in range(BOOTSTRAPS)]
    found = {}
    for place, name in enumerate(players):
        spread = sorted(sample[place] for sample in samples)
        low, high = spread[int(0.025 * BOOTSTRAPS)], spread[int(0.975 * BOOTSTRAPS) - 1]
        found[name] = Interval(fitted[place], min(low, fitted[place]), max(high, fitted[place]))
    return Ratings(found, tuple(_misfits(players, fitted, totals)))


def _resampled(totals: dict[tuple[int, int], tuple[float, int]], rng: Random) -> dict[tuple[int, int], float]:
    return {
        key: sum(rng.random() < won / matches for _ in range(matches)) / matches
        for key, (won, matches) in totals.items()
    }


def _fit(
    players: int,
    shares: dict[tuple[int, int], float],
    totals: dict[tuple[int, int], tuple[float, int]],
) -> list[float]:
    """Ratings from the shares of the points of each pair, weighted by how much they played."""
    import choix
    import numpy as np

    wins = np.zeros((players, players))
    for (one, two), share in shares.items():
        matches = totals[one, two][1]
        wins[one, two] += share * matches
        wins[two, one] += (1 - share) * matches
    strengths = choix.ilsr_pairwise_dense(wins, alpha=PRIOR)
    return [float(SCALE * each) for each in strengths - strengths.mean()]


def _misfits(
    players: Sequence[str], ratings: list[float], totals: dict[tuple[int, int], tuple[float, int]]
) -> list[str]:
    """Pairs whose result is far from what their ratings say, a sentence each."""
    found = []
    for (one, two), (won, matches) in totals.items():
        expected = 1 / (1 + exp((ratings[two] - ratings[one]) / SCALE))
        error = (max(expected * (1 - expected), 0.25 / matches) / matches) ** 0.5
        share = won / matches
        if abs(share - expected) > _MISFIT * error:
            found.append(
                f"{players[one]} got {share:.0%} against {players[two]}, where the ratings say {expected:.0%}"
            )
    return found
