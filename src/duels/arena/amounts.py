"""How tokens and what they cost are told, if the endpoint reports them."""

from typing import Any

from duels.players.completions import Usage, money


def cost_told(used: Usage, cost: float | None) -> str:
    """What tokens cost; nothing where there are no prices."""
    if cost is None:
        return ""
    return money(cost) if is_reported(used) else "unknown"


def tokens(count: int, used: Usage) -> str:
    """A count of tokens, if the endpoint told any."""
    return str(count) if is_reported(used) else "unknown"


def usage_data(used: Usage, cost: float | None) -> dict[str, Any]:
    """Tokens and their cost as JSON has them: null where the endpoint reports none."""
    known = is_reported(used)
    return {
        "prompt_tokens": used.prompt if known else None,
        "completion_tokens": used.completion if known else None,
        "requests": used.requests,
        "cost": cost if known else None,
    }


def is_reported(used: Usage) -> bool:
    """Whether the endpoint tells tokens: no question is without any."""
    return bool(used.prompt or not used.requests)
