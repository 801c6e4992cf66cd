"""Token usage of models, and its cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from duels.arena.tables import Table
from duels.players.completions import Usage, format_money
from duels.players.endpoint import EndpointSettings
from duels.players.prompt import TOOL
from duels.players.text_player import CONVERSATION

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


@dataclass(frozen=True)
class ModelCosts:
    """The requests of a run or probe to models, and their cost."""

    prices: Prices
    spending: Spending
    conditions: Mapping[str, Any]
    """The settings of models; empty without models."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], spending: Spending) -> "ModelCosts":
        return cls(Prices(config["prices"], config["currency"]), spending, config["model"])

    def describe(self, subject: str) -> list[str]:
        """Describe the requests and their cost; empty without requests."""
        sent, unanswered = self.spending.sent, self.spending.unanswered
        if not sent:
            return []
        cost = self.prices.format_cost(self.spending.used)
        text = f"{subject} took {sent} request{'s' * (sent != 1)}{cost and f' and cost {cost}'}."
        if unanswered:
            text += f" {unanswered} of them had no usable reply ({_REASONS})."
        return [text + self._describe_unreported()]

    def _describe_unreported(self) -> str:
        maximum, count = self.prices.cost(self.spending.unreported), self.spending.unreported.requests
        if maximum is None or not count:
            return ""
        limited = f"at most {format_money(maximum, self.prices.currency)}"
        amount = limited if self.conditions.get("max_tokens") else "an unknown amount"
        requests = "1 request" if count == 1 else f"{count} requests"
        return f" In addition, {requests} without reported tokens may have cost {amount}."

    def make_table(self, usage: Mapping[str, Usage], seconds: Mapping[str, float]) -> Table:
        """Return the table of requests, tokens and costs by model; empty without models."""
        notes = [self._describe_conditions()] if usage and self.conditions else []
        if self.spending.used.requests > sum(each.requests for each in usage.values()):
            cost = self.prices.format_cost(self.spending.used)
            total = f"{self.spending.used.requests} requests{cost and f', cost {cost}'}"
            notes.append(f"Including interrupted matches: {total}.")
        return Table(
            "Cost",
            ["model", "requests", "seconds each", "tokens in", "tokens out", "cost"],
            [
                [
                    player,
                    each.requests,
                    f"{seconds.get(player, 0.0) / each.requests:.1f}",
                    *(count if is_reported(each) else "unknown" for count in (each.prompt, each.completion)),
                    self.prices.format_cost(each),
                ]
                for player, each in usage.items()
            ],
            notes=[" ".join(notes)],
            level=2,
        )

    def _describe_conditions(self) -> str:
        settings = self.conditions
        parts = ["in one conversation per match"] * (settings["memory"] == CONVERSATION)
        parts += ["answering by a tool call"] * (settings["form"] == TOOL)
        parts += [f"legal actions {'shown' if settings['show_actions'] else 'not shown'}"]
        parts += ["positions mirrored"] * settings["mirror"] + ["cells renamed"] * settings["relabel"]
        return f"Models were asked with version {settings['prompt']} of the prompt, {', '.join(parts)}."


def is_reported(usage: Usage) -> bool:
    """Whether the endpoint reports tokens. A request has at least one prompt token."""
    return bool(usage.prompt or not usage.requests)
