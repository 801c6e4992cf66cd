"""The oracle of any rules: the game's own."""

from functools import lru_cache
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules
from duels.solving.oracle import Oracle


def oracle_for(rules: Rules[Any, Any, Any]) -> Oracle[Any, Any]:
    """Perfect play for these rules: `make_oracle` in the game's door `oracle`."""
    make = rules.game.find("oracle", "make_oracle")
    if make is None:
        raise DuelsError(f"{rules.name} has no oracle.")
    oracle: Oracle[Any, Any] = make(rules)
    return oracle


@lru_cache(maxsize=8)
def shared_oracle(rules: Rules[Any, Any, Any]) -> Oracle[Any, Any]:
    """`oracle_for` these rules, made once: for callers that ask about one position at a time."""
    return oracle_for(rules)
