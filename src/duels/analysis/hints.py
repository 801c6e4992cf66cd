"""Hints: what perfect play does in a position, its value, and why; from what the seat to move may know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from duels.analysis.wording import LEAST_SHOWN, all_alike, chance
from duels.core.rules import A, Rules, Sight, V
from duels.core.words import either
from duels.solving.oracle import Judged, Oracle, Value, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.protocols import beliefs_of, explainer_of

_MOST_NAMED = 8
_LEFT_OVER = 0.005  # by training: lesser weights are no advice


@dataclass(frozen=True)
class Hint(Generic[A]):
    """Advice to the seat to move."""

    actions: tuple[A, ...]
    """The actions to take, those that perfect play takes most often first."""
    value: Value
    """The position's value to the seat: its probability of winning, a draw counting one half."""
    chance: str
    """The value in words: `100.0% to win`, or `worth 50.0%` in a game that can be drawn."""
    best: str
    """`actions` in notation, with how often to take each where that matters; empty where any will do."""
    alike: str
    """What to say where all actions are worth the same; else empty."""
    reason: str
    """A sentence or two on why."""
    belief: Mapping[str, float]
    """What is hidden from the seat, as probabilities; empty in games without secrets."""

    @property
    def advice(self) -> str:
        """What to do, in one line: `4, 2-3 or 5-6 (100.0% to win).`"""
        return f"{self.what()} ({self.chance})."

    def what(self, ink: Callable[[str], str] = str) -> str:
        """What to do, without its value; `ink` marks the actions."""
        best = ink(self.best) if self.best else ""
        if not self.alike or not best:
            return best or self.alike
        if self.value.low > 1 - LEAST_SHOWN:
            return f"{self.alike}, most quickly {best}"
        if self.value.high < LEAST_SHOWN:
            return f"{self.alike}; best try: {best}"
        return f"{self.alike}; perfect play takes {best}"

    @property
    def text(self) -> str:
        """Both layers: `4, 2-3 or 5-6 (100.0% to win). You see one run of 7 …`."""
        return f"{self.advice} {self.reason}"


def hint(sight: Sight[A, V], oracle: Oracle[A, V] | None = None) -> Hint[A]:
    """What perfect play does here, from what `sight.seat` may know; NotYourTurn if it is not to move.

    The oracle is that of `sight.rules`; pass one to use it instead.
    """
    oracle = oracle or oracle_for(sight.rules)
    verdict = oracle.judge(sight)
    advised = _advised(verdict)
    alike = all_alike(verdict).removesuffix(".")
    any_will_do = alike and all(judged.weight for judged in verdict.actions)
    return Hint(
        actions=tuple(judged.action for judged in advised),
        value=verdict.value,
        chance=chance(verdict.value, sight.rules),
        best="" if any_will_do else _in_words(sight.rules, verdict, advised),
        alike=alike,
        reason=explainer_of(oracle).reason(sight),
        belief=beliefs_of(oracle).belief(sight),
    )


def _advised(verdict: Verdict[A]) -> list[Judged[A]]:
    """What perfect play takes; of a mixture, not what is left over from training."""
    least = _LEFT_OVER if verdict.mixed else 0.0
    taken = [judged for judged in verdict.actions if judged.weight > least]
    return sorted(taken, key=lambda judged: -judged.weight)


def _in_words(rules: Rules[Any, A, V], verdict: Verdict[A], advised: list[Judged[A]]) -> str:
    names = [rules.format(judged.action) for judged in advised]
    if not verdict.mixed:
        return either(names if len(names) <= _MOST_NAMED else [*names[:7], f"{len(names) - 7} more"])
    shares = ", ".join(f"{name} {j.weight:.0%}" for name, j in zip(names, advised, strict=True))
    return f"mix {shares}" if len(advised) > 1 else names[0]
