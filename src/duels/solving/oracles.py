"""The oracle of any rules: the game's own, or one that works on every game that is small enough."""

from threading import Lock, RLock
from typing import Any
from weakref import WeakValueDictionary

from duels.core.rules import AnyRules, OpenRules
from duels.solving.oracle import Oracle
from duels.solving.progress import Progress, no_progress

_MAX_CACHED = 8
_FEW_STATES = 50_000
_kept: dict[AnyRules, Oracle[Any, Any]] = {}


_makings: WeakValueDictionary[AnyRules, RLock] = WeakValueDictionary()
"""Held while an oracle is made: another thread that wants it waits."""
_guard = Lock()  # of the two above


def get_oracle(rules: AnyRules, progress: Progress = no_progress) -> Oracle[Any, Any]:
    """Perfect play for these rules: `make_oracle` in the game's door `oracle`, or else a default.

    DuelsError where the default cannot be had: the game is too large to be listed. Equal rules share an
    oracle, which is made once: that can take long, and players, hints and reviews all ask for it, also from
    several threads.
    """
    with _guard:
        making = _makings.setdefault(rules, RLock())
    with making:
        found = _kept.get(rules)
        return found or _keep(rules, (rules.game.find("oracle", "make_oracle") or _default)(rules, progress))


def _keep(rules: AnyRules, made: Oracle[Any, Any]) -> Oracle[Any, Any]:
    made.factory = get_oracle
    with _guard:
        for old in list(_kept)[: len(_kept) + 1 - _MAX_CACHED]:
            del _kept[old]
        _kept[rules] = made
    return made


def is_oracle_ready(rules: AnyRules) -> bool:
    """Whether `get_oracle` answers at once: the oracle has been made before, or is made of few states."""
    states = rules.max_states() if isinstance(rules, OpenRules) else None
    return rules in _kept or (states is not None and states <= _FEW_STATES)


def get_quick_oracle(rules: AnyRules) -> Oracle[Any, Any]:
    """The same, and from now on the quickest that there is: for whoever asks it thousands of times.

    A game may have one behind its door `quick` that takes longer to get ready and answers sooner.
    """
    quick = rules.game.find("quick", "make_oracle")
    made = quick(rules) if quick else None
    if made is not None and type(made) is not type(_kept.get(rules)):
        return _keep(rules, made)
    return get_oracle(rules)


def _default(rules: AnyRules, progress: Progress) -> Oracle[Any, Any]:
    if isinstance(rules, OpenRules):
        from duels.solving.induction import InductionOracle

        return InductionOracle(rules, progress)
    from duels.solving.equilibrium_oracle import EquilibriumOracle

    return EquilibriumOracle(rules, progress)
