"""The oracle of any rules: the game's own, or one that works on every game that is small enough."""

from typing import Any

from duels.core.rules import OpenRules, Rules
from duels.solving.oracle import Oracle
from duels.solving.progress import Progress, quiet

_MOST_KEPT = 8
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


def quick_oracle_for(rules: Rules[Any, Any, Any]) -> Oracle[Any, Any]:
    """The same, and from now on the quickest that there is: for whoever asks it thousands of times.

    A game may have one behind its door `quick` that takes longer to get ready and answers sooner.
    """
    quick = rules.game.find("quick", "make_oracle")
    made = quick(rules) if quick else None
    if made is not None and type(made) is not type(_kept.get(rules)):
        made.shared_by = oracle_for
        _kept[rules] = made
    return oracle_for(rules)


def _default(rules: Rules[Any, Any, Any], progress: Progress) -> Oracle[Any, Any]:
    if isinstance(rules, OpenRules):
        from duels.solving.induction import InductionOracle

        return InductionOracle(rules, progress)
    from duels.solving.equilibrium_oracle import EquilibriumOracle

    return EquilibriumOracle(rules, progress)
