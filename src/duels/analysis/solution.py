"""The solution of a position: its value, that of every action, why, and what else is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from duels.core.errors import DuelsError, quote
from duels.core.rules import A, Rules, Seat, Sight, V
from duels.solving.oracle import Finding, Oracle, Value, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.protocols import beliefs_of, explainer_of


@dataclass(frozen=True)
class Solution(Generic[A, V]):
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
    claim: str
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
        if self.claim:
            data["claim"] = self.claim
        return data | {finding.name: finding.data for finding in self.findings}


def _value_fields(value: Value) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.number, "exactness": value.exactness.value}
    if value.fraction is not None:
        fields["exact"] = str(value.fraction)
    if value.error:
        fields |= {"low": value.low, "high": value.high}
    return fields


def solve(sight: Sight[A, V], oracle: Oracle[A, V] | None = None) -> Solution[A, V]:
    """What perfect play is where `sight.seat` is to move; only the value where chance is."""
    oracle = oracle or oracle_for(sight.rules)
    explainer = explainer_of(oracle)
    verdict = oracle.judge(sight) if sight.actions else None
    return Solution(
        sight,
        verdict.value if verdict else oracle.value(sight),
        verdict,
        explainer.reason(sight) if verdict else "Chance acts first.",
        tuple(explainer.findings(sight)) if verdict else (),
        beliefs_of(oracle).belief(sight) if verdict else {},
        explainer.claim(),
    )


def position_to_solve(rules: Rules[Any, A, V], text: str | None) -> Sight[A, V]:
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
