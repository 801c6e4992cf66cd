"""How far a policy is from perfect play, exactly."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.envs.kernels import kernel_of
from duels.envs.tabled import TableBatch, shared_tables
from duels.games import find_game
from duels.solving.table_response import best_response_value

Chooses = Callable[[Sight[Any, Any]], Any]


def exploitability(policy: ArrayLike | Chooses, game: str, **options: int | None) -> float:
    """How much more than its due the best opponent wins against `policy`, on average over both seats.

    In probabilities of winning: 0 for perfect play, at most one half. Never-ending play counts one
    half, and so does a game that is cut off by a limit. (OpenSpiel counts in points from -1 to 1, so
    its number is twice this one.) The policy is a table as `duels.vector` takes it, or a function from
    what a seat knows to an action, or to a mapping from actions to probabilities.
    """
    rules = find_game(game).rules(**options)
    if rules.has_secrets:
        raise DuelsError(f"{rules.name} has secrets: a policy for its states would act on them.")
    if kernel_of(rules.name, "batch"):
        raise DuelsError(f"{rules.name} has too many states for a policy to be tried on all of them.")
    tables = shared_tables(rules).tables
    table = _tabulate(policy, rules) if callable(policy) else np.asarray(policy)
    TableBatch(rules, 1, 0).policy(table)  # refuses what is not a policy
    if table.ndim == 1:
        table = np.eye(tables.actions)[table]
    limit = getattr(rules, rules.limit) if rules.limit else None
    answers = [best_response_value(tables, table.astype(np.float64), seat, limit) for seat in (0, 1)]
    return (sum(answers) - 1) / 2


def _tabulate(policy: Chooses, rules: Any) -> NDArray[np.float64]:
    """[state, action] the probabilities of a policy that is given as a function."""
    tables = shared_tables(rules).tables
    number = {action: place for place, action in enumerate(rules.all_actions())}
    table = np.zeros((tables.states, tables.actions))
    for place, state in enumerate(tables.rules_states(rules)):
        if tables.actor[place] >= 0:
            chosen = policy(rules.sight(state, Seat(int(tables.actor[place]) + 1)))
            odds = chosen if isinstance(chosen, Mapping) else {chosen: 1.0}
            for action, probability in odds.items():
                table[place, number[action]] = probability
    return table
