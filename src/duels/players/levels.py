"""Players of graded strength: how much of its winning chances each gives away per decision.

A level is one number: the share of what choosing at random would give away. At every decision the
player mixes its actions so that its expected loss, by the game's oracle, is exactly that share of
the loss that is to be expected of a random choice there. Small mistakes are likelier than large ones.
"""

import math
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of players, or a person at both seats, needs no oracle
    from duels.core.rules import Sight
    from duels.solving.oracle import Oracle, Verdict

SHARE = {"novice": 0.8, "casual": 0.5, "club": 0.25, "expert": 0.1, "perfect": 0.0}


class LevelPlayer:
    """Gives away `share` of what a random choice would, at every decision, on average."""

    def __init__(self, oracle: "Oracle[Any, Any]", share: float) -> None:
        self._oracle = oracle
        self._share = share

    def choose(self, sight: "Sight[Any, Any]", rng: Random) -> Any:
        odds = self.odds(sight)
        return rng.choices(list(odds), weights=list(odds.values()))[0]

    def odds(self, sight: "Sight[Any, Any]") -> dict[Any, float]:
        """How likely it is to take each of the legal actions."""
        verdict = self._oracle.judge(sight)
        actions = [judged.action for judged in verdict.actions]
        return dict(zip(actions, mixture(verdict, self._share), strict=True))


def losses(verdict: "Verdict[Any]") -> list[float]:
    """What each action gives away, in winning probability."""
    return [
        0.0 if judged.best else max(0.0, verdict.value.number - judged.value.number)
        for judged in verdict.actions
    ]


def mixture(verdict: "Verdict[Any]", share: float) -> list[float]:
    """The probability of each action for a player that gives away this share of a random choice's loss."""
    lost = losses(verdict)
    giveaway = share * sum(lost) / len(lost)
    perfect = [judged.weight for judged in verdict.actions]
    if not giveaway:
        return perfect
    if any(judged.weight and not judged.best for judged in verdict.actions):
        # A strategy that has to be unpredictable: what it mixes must stay mixed, so mistakes come on top.
        return [(1 - share) * weight + share / len(perfect) for weight in perfect]
    # The expected loss grows with the temperature, from perfect play's to random play's: bisect.
    cold, hot = -12.0, 12.0
    for _ in range(60):
        middle = (cold + hot) / 2
        if _expected(lost, _tempered(verdict, lost, math.exp(middle))) < giveaway:
            cold = middle
        else:
            hot = middle
    return _tempered(verdict, lost, math.exp(hot))


def _tempered(verdict: "Verdict[Any]", lost: list[float], temperature: float) -> list[float]:
    """Actions by exp(-loss / temperature); the best share their part as perfect play mixes them."""
    raw = [math.exp(-loss / temperature) for loss in lost]
    best = [judged.best for judged in verdict.actions]
    best_part = sum(weight for weight, is_best in zip(raw, best, strict=True) if is_best)
    total = sum(raw)
    return [
        (best_part * judged.weight if judged.best else weight) / total
        for judged, weight in zip(verdict.actions, raw, strict=True)
    ]


def _expected(lost: list[float], weights: list[float]) -> float:
    return sum(loss * weight for loss, weight in zip(lost, weights, strict=True))
