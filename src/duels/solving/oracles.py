"""Oracles by rules: the game's own oracle, or a default for small games."""

from threading import Lock, RLock
from typing import Any
from weakref import WeakValueDictionary

from duels.core.rules import AnyRules, OpenRules
from duels.solving.oracle import Oracle, Progress, no_progress

_MAX_CACHED = 8
_QUICK_STATES = 50_000
_cache: dict[AnyRules, Oracle[Any, Any]] = {}
_build_locks: WeakValueDictionary[AnyRules, RLock] = WeakValueDictionary()
"""One lock for each oracle that a thread is building: other threads wait for it."""
_guard = Lock()  # guards the two dictionaries


def get_oracle(rules: AnyRules, progress: Progress = no_progress) -> Oracle[Any, Any]:
    """Return the oracle of these rules: `make_oracle` of the game's module `oracle`, or a default.

    Equal rules share a cached oracle, because building one can take long. Raises DuelsError if the game is
    too large for the default.
    """
    with _guard:
        lock = _build_locks.setdefault(rules, RLock())
    with lock:
        if cached := _cache.get(rules):
            return cached
        make_oracle = rules.game.find("oracle", "make_oracle") or _make_default_oracle
        oracle: Oracle[Any, Any] = make_oracle(rules, progress)
        oracle.factory = get_oracle
        with _guard:
            for old in list(_cache)[: len(_cache) + 1 - _MAX_CACHED]:
                del _cache[old]
            _cache[rules] = oracle
        return oracle


def is_oracle_ready(rules: AnyRules) -> bool:
    """Return whether `get_oracle` returns at once: the oracle is cached or quick to build."""
    states = rules.max_states() if isinstance(rules, OpenRules) else None
    return rules in _cache or (states is not None and states <= _QUICK_STATES)


def _make_default_oracle(rules: AnyRules, progress: Progress) -> Oracle[Any, Any]:
    if isinstance(rules, OpenRules):
        from duels.solving.induction import InductionOracle

        return InductionOracle(rules, progress)
    from duels.solving.equilibrium_oracle import EquilibriumOracle

    return EquilibriumOracle(rules, progress)
