"""Hints and solutions: what perfect play does in a position, its value, and why.

They use what the seat to move may know, and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from duels.analysis.wording import MIN_SHOWN, chance, describe_equal_actions, format_percent, name_action
from duels.core.errors import DuelsError, quote
from duels.core.rules import A, Rules, Seat, Sight, V
from duels.core.words import join_or
from duels.solving.oracle import ActionValue, Exactness, Finding, Oracle, Value, Verdict
from duels.solving.oracles import get_oracle

_MOST_NAMED = 8
_FEW = 3  # actions of a mixture that are named with their shares
_MOSTLY = 0.6  # above it one action is what to do, with exceptions
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
    """What to do in a few words, mostly the names of `actions`; empty where any will do."""
    alike: str
    """What to say where all actions are worth the same; else empty."""
    reason: str
    """A sentence or two on why."""
    details: str
    """How often to take which action, and how sure the value is; empty where that adds nothing."""
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
        if self.value.low > 1 - MIN_SHOWN:
            return f"{self.alike}, most quickly {best}"
        if self.value.high < MIN_SHOWN:
            return f"{self.alike}; best try: {best}"
        return f"{self.alike}; perfect play takes {best}"

    @property
    def text(self) -> str:
        """Both layers: `4, 2-3 or 5-6 (100.0% to win). You see one run of 7 …`."""
        return f"{self.advice} {self.theory}"

    @property
    def theory(self) -> str:
        """The second layer: why, and the numbers."""
        return " ".join(filter(None, [self.reason, self.details]))


def hint(sight: Sight[A, V], oracle: Oracle[A, V] | None = None) -> Hint[A]:
    """What perfect play does here, from what `sight.seat` may know; NotYourTurn if it is not to move.

    The oracle is that of `sight.rules`; pass one to use it instead.
    """
    oracle = oracle or get_oracle(sight.rules)
    verdict = oracle.judge(sight)
    advised = _advised(verdict)
    alike = describe_equal_actions(verdict).removesuffix(".")
    any_will_do = alike and all(judged.weight for judged in verdict.actions)
    return Hint(
        actions=tuple(judged.action for judged in advised),
        value=verdict.value,
        chance=chance(verdict.value, sight.rules),
        best="" if any_will_do else _in_words(sight, verdict, advised),
        alike=alike,
        reason=oracle.reason(sight),
        details=_details(sight, verdict, advised),
        belief=oracle.belief(sight),
    )


def _advised(verdict: Verdict[A]) -> list[ActionValue[A]]:
    """What perfect play takes; of a mixture, not what is left over from training."""
    least = _LEFT_OVER if verdict.is_mixed else 0.0
    taken = [judged for judged in verdict.actions if judged.weight > least]
    return sorted(taken, key=lambda judged: -judged.weight)


def _in_words(sight: Sight[A, V], verdict: Verdict[A], advised: list[ActionValue[A]]) -> str:
    names = _names(sight, advised)
    short = _in_short(sight, advised)
    if not verdict.is_mixed:
        return short or join_or(names, _MOST_NAMED)
    most, least = advised[0].weight, advised[-1].weight
    if len(names) == 1:
        return names[0]
    if most > _MOSTLY:
        others = join_or(names[1:]) if len(names) <= _FEW else "another"
        return f"mostly {names[0]} ({most:.0%}), now and then {others}"
    if short and most <= 2 * least:
        return f"{short}, at random"
    if len(names) <= _FEW:
        return f"mix {_shares(names, advised)}"
    often = [judged for judged in advised if judged.weight >= most / 2]
    return f"{_in_short(sight, often) or join_or(_names(sight, often))}, at random"


def _in_short(sight: Sight[A, V], advised: list[ActionValue[A]]) -> str:
    words = sight.rules.game.find("words", "WORDS")
    return words(sight.rules).summarize_actions(sight, [judged.action for judged in advised]) if words else ""


def _names(sight: Sight[A, V], advised: list[ActionValue[A]]) -> list[str]:
    return [name_action(sight, judged.action) for judged in advised]


def _shares(names: list[str], advised: list[ActionValue[A]]) -> str:
    return ", ".join(f"{name} {judged.weight:.0%}" for name, judged in zip(names, advised, strict=True))


def _details(sight: Sight[A, V], verdict: Verdict[A], advised: list[ActionValue[A]]) -> str:
    """What the first layer leaves out."""
    told = []
    if verdict.is_mixed and len(advised) > 1:
        told.append(f"The strategy mixes {_shares(_names(sight, advised), advised)}.")
    if verdict.value.exactness is Exactness.BOUND:
        told.append(f"The chance to win is proven: {format_percent(verdict.value)}.")
    return " ".join(told)


# -- solutions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PositionSolution(Generic[A, V]):
    """What perfect play is in a position, from what the seat to move may know."""

    sight: Sight[A, V]
    value: Value
    """The position's value to `sight.seat`."""
    verdict: Verdict[A] | None
    """Every action judged; None at an opening where chance acts first."""
    reason: str
    findings: tuple[Finding, ...]
    belief: Mapping[str, float]
    """What is hidden from the seat, as probabilities; empty in games without secrets."""
    guarantee: str
    """What is proven about the oracle's play as a whole; empty where every value says it already."""

    @property
    def position(self) -> str:
        """The position in notation."""
        return self.sight.rules.format_position(self.sight)

    def as_data(self) -> dict[str, Any]:
        """The solution for programs: dictionaries, lists, texts and numbers, as JSON has them."""
        rules = self.sight.rules
        actions = self.verdict.actions if self.verdict else ()
        data = {
            "game": rules.name,
            "position": self.position,
            "to_move": self.sight.actor.value if self.sight.actor else None,
            **_value_fields(self.value),
            "actions": [
                {
                    "action": rules.format(judged.action),
                    **_value_fields(judged.value),
                    "best": judged.best,
                    "weight": judged.weight,
                }
                for judged in actions
            ],
        }
        if rules.has_secrets:
            data["belief"] = dict(self.belief)
        if self.guarantee:
            data["claim"] = self.guarantee
        return data | {finding.name: finding.data for finding in self.findings}


def _value_fields(value: Value) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.number, "exactness": value.exactness.value}
    if value.fraction is not None:
        fields["exact"] = str(value.fraction)
    if value.error:
        fields |= {"low": value.low, "high": value.high}
    return fields


def solve(sight: Sight[A, V], oracle: Oracle[A, V] | None = None) -> PositionSolution[A, V]:
    """What perfect play is where `sight.seat` is to move; only the value where chance is."""
    oracle = oracle or get_oracle(sight.rules)
    verdict = oracle.judge(sight) if sight.actions else None
    return PositionSolution(
        sight,
        verdict.value if verdict else oracle.value(sight),
        verdict,
        oracle.reason(sight) if verdict else "Chance acts first.",
        tuple(oracle.findings(sight)) if verdict else (),
        oracle.belief(sight) if verdict else {},
        oracle.guarantee(),
    )


def parse_position_to_solve(rules: Rules[Any, A, V], text: str | None) -> Sight[A, V]:
    """The position asked about, by default the opening; DuelsError if it is one in which nobody decides."""
    if text is None:
        return rules.sight(rules.initial(), Seat.ONE)
    sight = rules.parse_position(text)
    if not sight.actions:
        raise DuelsError(f"{quote(text)} is no position in which a player decides: {_why_not(rules, sight)}.")
    return sight


def _why_not(rules: Rules[Any, A, V], sight: Sight[A, V]) -> str:
    """Why nobody decides."""
    if sight.actor is None:
        return "the match is over"
    if not isinstance(sight.actor, Seat):
        return "chance is to act"
    # The seat of a position is the one to act, unless the position is what one seat has seen.
    example = rules.format(rules.all_actions()[-1])
    return (
        f"{sight.actor.label} is to act. Add what {sight.seat.label} sees next ('?' for what is hidden, "
        f"or like '{example}'), up to where {sight.seat.label} decides"
    )
