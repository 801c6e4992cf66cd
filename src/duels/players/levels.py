"""Players of graded strength: each gives away a fixed share of what random play would.

A level is one number, that share. At every decision the player mixes its actions so that its expected loss,
by the game's oracle, is exactly that share of a random choice's expected loss. Small mistakes are likelier
than large ones. Where perfect play must be unpredictable, the share is how often a random choice replaces it.
"""

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of players, or a person at both seats, needs no oracle
    from collections.abc import Hashable, Sequence
    from random import Random

    from duels.core.rules import AnyRules, AnySight
    from duels.solving.oracle import Oracle, Verdict

_MOST_KNOWN = 10_000  # states
LEVEL_SHARES = {"novice": 0.8, "casual": 0.5, "club": 0.25, "expert": 0.1, "best": 0.0}


class MixedPlayer(ABC):
    """A player that draws by known odds; in a game without secrets it works them out once a state."""

    def __init__(self, rules: "AnyRules") -> None:
        self._keeps = not rules.has_secrets
        self._last: tuple[AnySight, dict[Any, float]] | None = None
        self._known: dict[Hashable, dict[Any, float]] = {}

    @abstractmethod
    def choose(self, sight: "AnySight", rng: "Random") -> Any:
        """One of `sight.actions`, drawn by `odds`."""

    def odds(self, sight: "AnySight") -> dict[Any, float]:
        """How likely it is to take each of the actions that it may take."""
        return self._odds(sight).copy()

    @abstractmethod
    def _find_odds(self, sight: "AnySight") -> dict[Any, float]:
        """Work the odds out."""

    def _odds(self, sight: "AnySight") -> dict[Any, float]:
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

    def choose(self, sight: "AnySight", rng: "Random") -> Any:
        odds = self._odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def _find_odds(self, sight: "AnySight") -> dict[Any, float]:
        return dict(zip(sight.actions, compute_level_weights(self._oracle, sight, self.share), strict=True))


def compute_level_weights(oracle: "Oracle[Any, Any]", sight: "AnySight", share: float) -> list[float]:
    """The probability of each action for a player that gives away `share`; fast where the strategy mixes."""
    if oracle.mixes:
        return _blended(oracle.weights(sight), share)
    return mix_actions(oracle.judge(sight), share)


def _blended(weights: "Sequence[float]", share: float) -> list[float]:
    return [(1 - share) * weight + share / len(weights) for weight in weights]


def mix_actions(verdict: "Verdict[Any]", share: float) -> list[float]:
    """The probability of each action for a player that gives away this share of a random choice's loss."""
    weights = [judged.weight for judged in verdict.actions]
    if verdict.is_mixed or share == 1.0:
        return _blended(weights, share)
    return temper(list(verdict.losses), [judged.best for judged in verdict.actions], weights, share)


def temper(losses: list[float], best: list[bool], weights: list[float], share: float) -> list[float]:
    """Return probabilities by exp(-loss / temperature); the best actions share theirs by their weights.

    This is in the subset of Python that Numba compiles.
    """
    giveaway = share * sum(losses) / len(losses)
    if giveaway == 0:
        return weights
    amounts, counts = losses[:1], [0]  # many actions, few different losses
    for loss in losses:
        if loss not in amounts:
            amounts.append(loss)
            counts.append(0)
        counts[amounts.index(loss)] += 1
    # The expected loss grows with the temperature, from perfect play's to random play's: bisect.
    cold, hot = -12.0, 12.0
    for _ in range(60):
        middle = (cold + hot) / 2
        tempered = [counts[k] * math.exp(-amounts[k] / math.exp(middle)) for k in range(len(amounts))]
        if sum([amounts[k] * tempered[k] for k in range(len(amounts))]) / sum(tempered) < giveaway:
            cold = middle
        else:
            hot = middle
    raw = [math.exp(-loss / math.exp(hot)) for loss in losses]
    best_part = sum([raw[i] for i in range(len(raw)) if best[i]])
    total = sum(raw)
    return [(best_part * weights[i] if best[i] else raw[i]) / total for i in range(len(raw))]
