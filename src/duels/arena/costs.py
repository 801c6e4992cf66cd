"""Token usage of models, and its cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from duels.players.completions import Usage, format_money
from duels.players.endpoint import EndpointSettings

_REASONS = "429, 5xx, timeouts, cut connections, a run that was killed or is still running, damaged lines"


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, by the name of the setting; empty if no model plays."""

    per_million: Mapping[str, float | None]
    currency: str = ""
    """The currency of the budget; empty without a budget."""

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of token usage, or None without prices."""
        return EndpointSettings(**self.per_million).cost(usage)  # type: ignore[arg-type]

    def format_cost(self, usage: Usage) -> str:
        """Format a cost: empty without prices, `unknown` if the endpoint reports no tokens."""
        cost = self.cost(usage)
        if cost is None:
            return ""
        return format_money(cost, self.currency) if is_reported(usage) else "unknown"

    def usage_data(self, usage: Usage) -> dict[str, Any]:
        """Return tokens and cost for JSON; null if the endpoint reports no tokens."""
        reported = is_reported(usage)
        return {
            "prompt_tokens": usage.prompt if reported else None,
            "completion_tokens": usage.completion if reported else None,
            "requests": usage.requests,
            "cost": self.cost(usage) if reported else None,
        }


@dataclass(frozen=True)
class Spending:
    """Token usage of all requests, including those of interrupted matches."""

    used: Usage = field(default_factory=Usage)
    unreported: Usage = field(default_factory=Usage)
    """An upper bound for requests whose tokens the endpoint did not report."""
    unanswered: int = 0
    seconds: float = 0.0
    """Total response time."""

    @classmethod
    def from_requests(cls, requests: Iterable[Mapping[str, Any]]) -> "Spending":
        return reduce(cls.add_request, requests, cls())

    def add_request(self, request: Mapping[str, Any]) -> "Spending":
        """Return this spending plus that of a logged request."""
        answered = "usage" in request
        prompt, completion = request.get("at_most", (0, 0))
        return Spending(
            self.used + (Usage(*request["usage"]) if request.get("usage") else Usage()),
            self.unreported + Usage(prompt, completion, requests=int("at_most" in request)),
            self.unanswered + (not answered),
            self.seconds + (request.get("seconds", 0.0) if answered else 0.0),
        )

    @property
    def sent(self) -> int:
        return self.used.requests + self.unanswered

    def describe(self, subject: str, prices: Prices, limited: bool) -> list[str]:
        """Describe the spending; empty without requests. `limited` is whether answers have a token limit."""
        if not self.sent:
            return []
        cost = prices.format_cost(self.used)
        text = f"{subject} took {self.sent} request{'s' * (self.sent != 1)}{cost and f' and cost {cost}'}."
        if self.unanswered:
            text += f" {self.unanswered} of them had no usable reply ({_REASONS})."
        return [text + self._describe_unreported(prices, limited)]

    def _describe_unreported(self, prices: Prices, limited: bool) -> str:
        maximum, count = prices.cost(self.unreported), self.unreported.requests
        if maximum is None or not count:
            return ""
        amount = f"at most {format_money(maximum, prices.currency)}" if limited else "an unknown amount"
        requests = "1 request" if count == 1 else f"{count} requests"
        return f" In addition, {requests} without reported tokens may have cost {amount}."


def format_tokens(count: int, usage: Usage) -> str:
    """Return a token count, or `unknown` if the endpoint reports none."""
    return str(count) if is_reported(usage) else "unknown"


def is_reported(usage: Usage) -> bool:
    """Whether the endpoint reports tokens. A request has at least one prompt token."""
    return bool(usage.prompt or not usage.requests)
