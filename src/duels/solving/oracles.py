"""The oracle of any rules: the game's own, or one that works on every game that is small enough."""

from typing import Any

from duels.core.rules import OpenRules, Rules
from duels.solving.oracle import Oracle
from duels.solving.progress import Progress, quiet

_MOST_KEPT = 8
_FEW_STATES = 50_000
_kept: dict[Rules[Any, Any, Any], Oracle[Any, Any]] = {}


def oracle_for(rules: Rules[Any, Any, Any], progress: Progress = quiet) -> Oracle[Any, Any]:
    """Perfect play for these rules: `make_oracle` in the game's door `oracle`, or else a default.

    DuelsError where the default cannot be had: the game is too large to be listed. Equal rules share an
    oracle: making one can take long, and players, hints and reviews all ask for it.
    """
    if rules not in _kept:
        made = (rules.game.find("oracle", "make_oracle") or _default)(rules, progress)
        for old in list(_kept)[: len(_kept) + 1 - _MOST_KEPT]:
            del _kept[old]
        made.shared_by = oracle_for
        _kept[rules] = made
    return _kept[rules]


def is_at_hand(rules: Rules[Any, Any, Any]) -> bool:
    """Whether `oracle_for` answers at once: the oracle has been made before, or is made of few states."""
    states = rules.most_states() if isinstance(rules, OpenRules) else None
    return rules in _kept or (states is not None and states <= _FEW_STATES)


def _default(rules: Rules[Any, Any, Any], progress: Progress) -> Oracle[Any, Any]:
    if isinstance(rules, OpenRules):
        from duels.solving.induction import InductionOracle

        return InductionOracle(rules, progress)
    from duels.solving.equilibrium_oracle import EquilibriumOracle

    return EquilibriumOracle(rules, progress)
