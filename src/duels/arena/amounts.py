"""How tokens and what they cost are told, if the endpoint reports them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from duels.players.completions import Usage, format_money
from duels.players.endpoint import EndpointSettings

_WHY_NONE = "429, 5xx, timeouts, cut connections, a run that was killed or is under way, damaged lines"


@dataclass(frozen=True)
class Prices:
    """Of a million tokens, as a config has them: by the names of settings, and none where no model plays."""

    of: Mapping[str, float | None]
    currency: str = ""
    """That of the budget; empty where there is none."""

    def cost(self, used: Usage) -> float | None:
        """What tokens cost; None where no prices are known."""
        return EndpointSettings(**self.of).cost(used)  # type: ignore[arg-type]

    def told(self, used: Usage) -> str:
        """The same for people; nothing where there are no prices."""
        cost = self.cost(used)
        if cost is None:
            return ""
        return format_money(cost, self.currency) if is_reported(used) else "unknown"

    def data(self, used: Usage) -> dict[str, Any]:
        """Tokens and their cost as JSON has them: null where the endpoint reports none."""
        known = is_reported(used)
        return {
            "prompt_tokens": used.prompt if known else None,
            "completion_tokens": used.completion if known else None,
            "requests": used.requests,
            "cost": self.cost(used) if known else None,
        }


@dataclass(frozen=True)
class Spending:
    """What all requests took, those for what was broken off included, and may have taken."""

    used: Usage = field(default_factory=Usage)
    in_doubt: Usage = field(default_factory=Usage)
    """The most that requests took beyond that, whose tokens nobody reported."""
    unanswered: int = 0
    """Requests that came to no reply."""
    seconds: float = 0.0
    """How long replies took, all in all."""

    @classmethod
    def of(cls, requests: Iterable[Mapping[str, Any]]) -> "Spending":
        """That of all requests that were kept."""
        return reduce(cls.plus, requests, cls())

    def plus(self, request: Mapping[str, Any]) -> "Spending":
        """With a request that was kept."""
        answered = "usage" in request
        prompt, completion = request.get("at_most", (0, 0))
        return Spending(
            self.used + (Usage(*request["usage"]) if request.get("usage") else Usage()),
            self.in_doubt + Usage(prompt, completion, requests=int("at_most" in request)),
            self.unanswered + (not answered),
            self.seconds + (request.get("seconds", 0.0) if answered else 0.0),
        )

    @property
    def sent(self) -> int:
        """Requests, answered or not."""
        return self.used.requests + self.unanswered

    def told(self, who: str, prices: Prices, limited: bool) -> list[str]:
        """A sentence or two about it, if there was a request; answers may be `limited` in their length."""
        if not self.sent:
            return []
        cost = prices.told(self.used)
        told = f"{who} took {self.sent} request{'s' * (self.sent != 1)}{cost and f' and cost {cost}'}."
        if self.unanswered:
            told += f" {self.unanswered} of them had no reply that could be used ({_WHY_NONE})."
        return [told + self._in_doubt(prices, limited)]

    def _in_doubt(self, prices: Prices, limited: bool) -> str:
        """What requests may have cost of which the endpoint reported nothing, as another sentence."""
        most, count = prices.cost(self.in_doubt), self.in_doubt.requests
        if most is None or not count:
            return ""
        amount = f"at most {format_money(most, prices.currency)}" if limited else "an unknown amount"
        requests = "1 request" if count == 1 else f"{count} requests"
        return f" Beyond that, {requests} whose tokens were not reported may have cost {amount}."


def tokens(count: int, used: Usage) -> str:
    """A count of tokens, if the endpoint told any."""
    return str(count) if is_reported(used) else "unknown"


def is_reported(used: Usage) -> bool:
    """Whether the endpoint tells tokens: no question is without any."""
    return bool(used.prompt or not used.requests)
