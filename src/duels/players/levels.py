"""Players of graded strength: each gives away a fixed share of what random play would.

A level is one number, that share. At every decision the player mixes its actions so that its expected loss,
by the game's oracle, is exactly that share of a random choice's expected loss. Small mistakes are likelier
than large ones. Where perfect play must be unpredictable, the share is how often a random choice replaces it.
"""

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of players, or a person at both seats, needs no oracle
    from collections.abc import Sequence
    from random import Random

    from duels.core.rules import Sight
    from duels.solving.oracle import Oracle, Verdict

SHARE = {"novice": 0.8, "casual": 0.5, "club": 0.25, "expert": 0.1, "best": 0.0}


class LevelPlayer:
    """At every decision, gives away on average `share` of what a random choice would."""

    def __init__(self, oracle: "Oracle[Any, Any]", share: float) -> None:
        self._oracle = oracle
        self.share = share
        self._told_last: tuple[Sight[Any, Any], dict[Any, float]] | None = None

    def choose(self, sight: "Sight[Any, Any]", rng: "Random") -> Any:
        """One of `sight.actions`, drawn by `odds`."""
        odds = self.odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        """How likely it is to take each of the legal actions."""
        # Whoever had it choose often asks for the odds next.
        if self._told_last is None or self._told_last[0] is not sight:
            weights = level_weights(self._oracle, sight, self.share)
            self._told_last = sight, dict(zip(sight.actions, weights, strict=True))
        return self._told_last[1].copy()


def level_weights(oracle: "Oracle[Any, Any]", sight: "Sight[Any, Any]", share: float) -> list[float]:
    """The probability of each action for a player that gives away `share`; fast where the strategy mixes."""
    if oracle.mixes:
        return _blended(oracle.weights(sight), share)
    return mixture(oracle.judge(sight), share)


def _blended(weights: "Sequence[float]", share: float) -> list[float]:
    return [(1 - share) * weight + share / len(weights) for weight in weights]


def mixture(verdict: "Verdict[Any]", share: float) -> list[float]:
    """The probability of each action for a player that gives away this share of a random choice's loss."""
    lost = verdict.losses
    giveaway = share * sum(lost) / len(lost)
    weights = [judged.weight for judged in verdict.actions]
    if verdict.mixed or share == 1.0:
        return _blended(weights, share)
    if not giveaway:
        return weights
    amounts = list(Counter(lost).items())  # many actions, few different losses
    # The expected loss grows with the temperature, from perfect play's to random play's: bisect.
    cold, hot = -12.0, 12.0
    for _ in range(60):
        middle = (cold + hot) / 2
        if _expected_loss(amounts, math.exp(middle)) < giveaway:
            cold = middle
        else:
            hot = middle
    return _tempered(verdict, math.exp(hot))


def _expected_loss(amounts: list[tuple[float, int]], temperature: float) -> float:
    """What a choice by exp(-loss / temperature) gives away, among so many actions of each loss."""
    weights = [count * math.exp(-loss / temperature) for loss, count in amounts]
    return sum(loss * weight for (loss, _), weight in zip(amounts, weights, strict=True)) / sum(weights)


def _tempered(verdict: "Verdict[Any]", temperature: float) -> list[float]:
    """Actions by exp(-loss / temperature); the best share their part as perfect play mixes them."""
    raw = [math.exp(-loss / temperature) for loss in verdict.losses]
    best = [judged.best for judged in verdict.actions]
    best_part = sum(weight for weight, is_best in zip(raw, best, strict=True) if is_best)
    total = sum(raw)
    return [
        (best_part * judged.weight if judged.best else weight) / total
        for judged, weight in zip(verdict.actions, raw, strict=True)
    ]
