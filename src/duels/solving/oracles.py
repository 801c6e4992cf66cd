"""The oracle of any rules: the game's own."""

from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules
from duels.solving.oracle import Oracle
from duels.solving.progress import Progress, quiet

_MOST_KEPT = 8
_kept: dict[Rules[Any, Any, Any], Oracle[Any, Any]] = {}


def oracle_for(rules: Rules[Any, Any, Any], progress: Progress = quiet) -> Oracle[Any, Any]:
    """Perfect play for these rules: `make_oracle` in the game's door `oracle`.

    Equal rules share an oracle: making one can take long, and players, hints and reviews all ask for it.
    """
    if rules not in _kept:
        made = _make(rules, progress)
        for old in list(_kept)[: len(_kept) + 1 - _MOST_KEPT]:
            del _kept[old]
        _kept[rules] = made
    return _kept[rules]


def _make(rules: Rules[Any, Any, Any], progress: Progress) -> Oracle[Any, Any]:
    make = rules.game.find("oracle", "make_oracle")
    if make is None:
        raise DuelsError(f"{rules.name} has no oracle.")
    oracle: Oracle[Any, Any] = make(rules, progress)
    return oracle
