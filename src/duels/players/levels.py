"""Players of graded strength: each gives away a fixed share of what random play would.

A level is one number, that share. At every decision the player mixes its actions so that its expected loss,
by the game's oracle, is exactly that share of a random choice's expected loss. Small mistakes are likelier
than large ones. Where perfect play must be unpredictable, the share is how often a random choice replaces it.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of players, or a person at both seats, needs no oracle
    from collections.abc import Hashable, Sequence
    from random import Random

    from duels.core.rules import Rules, Sight
    from duels.solving.oracle import Oracle, Verdict

_MOST_KNOWN = 10_000  # states
SHARE = {"novice": 0.8, "casual": 0.5, "club": 0.25, "expert": 0.1, "best": 0.0}


class MixedPlayer(ABC):
    """A player that draws by known odds; in a game without secrets it works them out once a state."""

    def __init__(self, rules: "Rules[Any, Any, Any]") -> None:
        self._keeps = not rules.has_secrets
        self._last: tuple[Sight[Any, Any], dict[Any, float]] | None = None
        self._known: dict[Hashable, dict[Any, float]] = {}

    @abstractmethod
    def choose(self, sight: "Sight[Any, Any]", rng: "Random") -> Any:
        """One of `sight.actions`, drawn by `odds`."""

    def odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        """How likely it is to take each of the actions that it may take."""
        return self._odds(sight).copy()

    @abstractmethod
    def _find_odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        """Work the odds out."""

    def _odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        if self._last and self._last[0] is sight:  # a caller that had it choose often asks for the odds next
            return self._last[1]
        found = self._known.get(sight.view) if self._keeps else None
        if found is None:
            found = self._find_odds(sight)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if self._keeps:
                self._known[sight.view] = found
        self._last = sight, found
        return found


class LevelPlayer(MixedPlayer):
    """At every decision, gives away on average `share` of what a random choice would."""

    def __init__(self, oracle: "Oracle[Any, Any]", share: float) -> None:
        super().__init__(oracle.rules)
        self._oracle = oracle
        self.share = share

    def __reduce__(self) -> tuple[Any, ...]:
        return LevelPlayer, (self._oracle, self.share)  # a copy works the odds out again

    def choose(self, sight: "Sight[Any, Any]", rng: "Random") -> Any:
        odds = self._odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def _find_odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        return dict(zip(sight.actions, level_weights(self._oracle, sight, self.share), strict=True))


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
