"""Players of graded strength: each loses a fixed share of the expected loss of random play.

At every decision, a level player mixes its actions so that its expected loss, by the game's oracle, is
exactly its share of a random choice's expected loss. Small mistakes are likelier than large ones. If perfect
play must be unpredictable, the share is the probability that a random choice replaces perfect play.
"""

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # listing players, or a match between people, needs no oracle
    from collections.abc import Hashable, Sequence
    from random import Random

    from duels.core.rules import AnyRules, AnySight
    from duels.solving.oracle import Oracle, Verdict

_MAX_CACHED = 10_000  # states
LEVEL_SHARES = {"novice": 0.8, "casual": 0.5, "club": 0.25, "expert": 0.1, "best": 0.0}
DISTINCT_LEVELS = {"hunt": {"casual": 0.8, "best": 0.0}}
"""The levels, with their shares, of games in which the usual levels are too close to each other.

Each level must score at least 54 % against the one below it.
"""


def get_level_shares(game: str) -> dict[str, float]:
    """Return the levels that differ in a game with their shares, from the weakest to the strongest."""
    return DISTINCT_LEVELS.get(game, LEVEL_SHARES)


def find_distinct_level(game: str, level: str) -> str:
    """Return the level that `level` plays like: the one with the nearest share.

    >>> [find_distinct_level("hunt", level) for level in LEVEL_SHARES]
    ['casual', 'casual', 'best', 'best', 'best']
    """
    shares = get_level_shares(game)
    return min(shares, key=lambda name: abs(shares[name] - LEVEL_SHARES[level]))


def list_equal_levels(game: str) -> dict[str, str]:
    """Return the names of levels that play like another one in a game, with the other's name."""
    levels = {name: find_distinct_level(game, name) for name in LEVEL_SHARES}
    return {name: level for name, level in levels.items() if name != level}


def get_level_share(game: str, level: str) -> float:
    """Return the share of random play's loss that a level gives away in a game."""
    return get_level_shares(game)[find_distinct_level(game, level)]


class MixedPlayer(ABC):
    """A player that draws actions from computed odds. Games without hidden information cache the odds."""

    def __init__(self, rules: "AnyRules") -> None:
        self._caches = not rules.has_hidden_information
        self._last: tuple[AnySight, dict[Any, float]] | None = None
        self._cache: dict[Hashable, dict[Any, float]] = {}

    @abstractmethod
    def choose(self, sight: "AnySight", rng: "Random") -> Any:
        """Return one of `sight.actions`, drawn from `odds`."""

    def odds(self, sight: "AnySight") -> dict[Any, float]:
        """Return the probability of each action."""
        return self._odds(sight).copy()

    @abstractmethod
    def _find_odds(self, sight: "AnySight") -> dict[Any, float]:
        """Compute the odds, which `_odds` caches."""

    def _odds(self, sight: "AnySight") -> dict[Any, float]:
        if self._last and self._last[0] is sight:  # callers often ask for the odds after a choice
            return self._last[1]
        odds = self._cache.get(sight.view) if self._caches else None
        if odds is None:
            odds = self._find_odds(sight)
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            if self._caches:
                self._cache[sight.view] = odds
        self._last = sight, odds
        return odds


class LevelPlayer(MixedPlayer):
    """Loses, at every decision, `share` of a random choice's expected loss."""

    def __init__(self, oracle: "Oracle[Any, Any]", share: float) -> None:
        super().__init__(oracle.rules)
        self._oracle = oracle
        self.share = share

    def __reduce__(self) -> tuple[Any, ...]:
        return LevelPlayer, (self._oracle, self.share)  # a copy starts with an empty cache

    def choose(self, sight: "AnySight", rng: "Random") -> Any:
        odds = self._odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def _find_odds(self, sight: "AnySight") -> dict[Any, float]:
        return dict(zip(sight.actions, compute_level_weights(self._oracle, sight, self.share), strict=True))


def compute_level_weights(oracle: "Oracle[Any, Any]", sight: "AnySight", share: float) -> list[float]:
    """Return a level player's probability of each action."""
    if oracle.mixes:
        return _blend(oracle.weights(sight), share)
    return mix_actions(oracle.judge(sight), share)


def _blend(weights: "Sequence[float]", share: float) -> list[float]:
    return [(1 - share) * weight + share / len(weights) for weight in weights]


def mix_actions(verdict: "Verdict[Any]", share: float) -> list[float]:
    """Return probabilities of the actions that lose `share` of a random choice's expected loss."""
    weights = [judged.weight for judged in verdict.actions]
    if verdict.is_mixed or share == 1.0:
        return _blend(weights, share)
    return temper(list(verdict.losses), [judged.best for judged in verdict.actions], weights, share)


def temper(losses: list[float], best: list[bool], weights: list[float], share: float) -> list[float]:
    """Return probabilities proportional to exp(-loss / temperature).

    The best actions divide their total probability in proportion to `weights`.

    Numba compiles this function, so it uses only a subset of Python.
    """
    target_loss = share * sum(losses) / len(losses)
    if target_loss == 0:
        return weights
    amounts, counts = losses[:1], [0]  # many actions have few distinct losses
    for loss in losses:
        if loss not in amounts:
            amounts.append(loss)
            counts.append(0)
        counts[amounts.index(loss)] += 1
    # The expected loss grows with the temperature, so bisect its logarithm.
    cold, hot = -12.0, 12.0
    for _ in range(60):
        middle = (cold + hot) / 2
        tempered = [counts[k] * math.exp(-amounts[k] / math.exp(middle)) for k in range(len(amounts))]
        if sum([amounts[k] * tempered[k] for k in range(len(amounts))]) / sum(tempered) < target_loss:
            cold = middle
        else:
            hot = middle
    raw = [math.exp(-loss / math.exp(hot)) for loss in losses]
    best_part = sum([raw[i] for i in range(len(raw)) if best[i]])
    total = sum(raw)
    return [(best_part * weights[i] if best[i] else raw[i]) / total for i in range(len(raw))]
