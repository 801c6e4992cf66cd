"""The oracle of any rules: the game's own."""

from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules
from duels.solving.oracle import Oracle
from duels.solving.progress import Progress, quiet


def oracle_for(rules: Rules[Any, Any, Any], progress: Progress = quiet) -> Oracle[Any, Any]:
    """Perfect play for these rules: `make_oracle` in the game's door `oracle`."""
    make = rules.game.find("oracle", "make_oracle")
    if make is None:
        raise DuelsError(f"{rules.name} has no oracle.")
    oracle: Oracle[Any, Any] = make(rules, progress)
    return oracle
