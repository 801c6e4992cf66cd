"""Grades: the values of positions and the regrets of actions."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypedDict

from duels.core.errors import DuelsError, require_extra
from duels.core.features import number_actions
from duels.core.rules import AnyRules, AnySight, Seat
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

    from duels.solving.tables import ILLEGAL, NOBODY, get_tables, has_tables


class GradeInfo(TypedDict):
    """The value of a seat's position and the regret of its last action."""

    value: float
    """The seat's probability of winning if both play perfectly; a draw counts one half.

    Perfect play of hunt is unknown: there, both follow the shipped strategy.
    """
    regret: float
    """The loss of the last action. In hunt, it is 0 except for tunnels that the strategy never chooses."""
    exactness: str
    """The exactness of `value` or `regret`, whichever is less certain: `exact`, `bound` or `estimate`."""


class Grader:
    """Grades a game in progress from each seat's observations."""

    def __init__(self, rules: AnyRules) -> None:
        self._oracle = get_oracle(rules)
        self.reset()

    def reset(self) -> None:
        """Start a new game."""
        self._regret = dict.fromkeys(Seat, 0.0)
        self._exactness = dict.fromkeys(Seat, Exactness.EXACT)

    def judge_action(self, sight: AnySight, action: Any) -> None:
        """Judge an action before it is played."""
        verdict = self._oracle.judge(sight)
        self._regret[sight.seat] = verdict.loss(action)
        self._exactness[sight.seat] = verdict.value.exactness

    def forfeit(self, sight: AnySight) -> GradeInfo:
        """Grade a seat that just lost by an illegal action: it gave away everything."""
        value = self._oracle.value(sight)
        return {"value": 0.0, "regret": value.number, "exactness": value.exactness.value}

    def grade(self, sight: AnySight) -> GradeInfo:
        """Return the position's value to a seat, and the regret of its last action."""
        value = self._oracle.value(sight)
        exactness = _get_least_exact(value.exactness, self._exactness[sight.seat])
        return {"value": value.number, "regret": self._regret[sight.seat], "exactness": exactness.value}


def _get_least_exact(*exactnesses: Exactness) -> Exactness:
    return max(exactnesses, key=list(Exactness).index)


@dataclass(frozen=True)
class Grades:
    """The grades of every position and action of a game with tables."""

    values: NDArray[np.float64]
    """The probabilities of winning if both play perfectly, indexed [seat, state]."""
    regrets: NDArray[np.float64]
    """The losses, indexed [state, action]; NaN for illegal actions."""
    exactness: str
    """The least certain exactness of all values."""


@lru_cache(maxsize=16)
def compute_grades(rules: AnyRules) -> Grades:
    """Grade every state of a game without hidden information.

    Raises DuelsError if a limit changes the values.
    """
    check_state_table(rules)
    if depends_on_clock(rules):
        raise DuelsError(
            f"In {rules}, the value of a position depends on the number of {rules.clock}, "
            "which a table of positions does not include."
        )
    exactnesses = {Exactness.EXACT}
    tables = get_tables(rules).tables
    oracle = get_oracle(rules)
    action_numbers = number_actions(rules)
    values = np.zeros((2, tables.states))
    regrets = np.full((tables.states, tables.actions), np.nan)
    for index, state in enumerate(tables.rules_states(rules)):
        sight = rules.sight(state, Seat(max(int(tables.actor[index]), 0) + 1))
        value = oracle.value(sight)
        exactnesses.add(value.exactness)
        values[sight.seat - 1, index], values[2 - sight.seat, index] = value.number, 1 - value.number
        if sight.actions:
            for action, loss in zip(sight.actions, oracle.judge(sight).losses, strict=True):
                regrets[index, action_numbers[action]] = loss
    return Grades(values, regrets, _get_least_exact(*exactnesses).value)


def has_state_table(rules: AnyRules) -> bool:
    """Whether the game has tables and no hidden information, so that a seat knows the whole state."""
    return not rules.has_hidden_information and has_tables(rules)


def check_state_table(rules: AnyRules) -> None:
    """Raise DuelsError unless the game has tables and no hidden information."""
    if rules.has_hidden_information:
        raise DuelsError(f"{rules.name} has hidden information, which a table of its states would reveal.")
    get_tables(rules)


def set_clock(rules: AnyRules, state: Any, clock: int) -> Any:
    """Return the state with `clock` as its number of turns or boards, which counts towards the limit."""
    return replace(state, **{rules.clock: clock}) if clock and rules.clock else state


@lru_cache(maxsize=16)
def depends_on_clock(rules: AnyRules) -> bool:
    """Whether the limit changes the values of positions, which a table of states cannot represent.

    A match that is cut off counts one half. So the limit changes nothing if every position in which the clock
    advances is worth one half at any clock reading.
    """
    limit = rules.limit_value
    if limit is None:
        return False
    tables, oracle = get_tables(rules).tables, get_oracle(rules)
    states = tables.rules_states(rules)
    ticking = tables.successor[(tables.successor & 1 == 1) & (tables.successor != ILLEGAL)]
    unfinished = [index for index in np.unique(ticking >> 1).tolist() if tables.actor[index] != NOBODY]
    return any(
        oracle.value(rules.sight(set_clock(rules, states[index], clock), Seat.ONE)).number != 0.5
        for index in unfinished
        for clock in range(1, limit)
    )
