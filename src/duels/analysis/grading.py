"""Grades of positions and actions: what a position is worth, what an action gives away."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypedDict

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.features import number_actions
from duels.core.rules import AnyRules, AnySight, Seat
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

    from duels.solving.tables import ILLEGAL, NOBODY, get_tables, has_tables


class Grade(TypedDict):
    """What a seat is told of its position and its last action."""

    value: float
    """The probability that the seat wins under perfect play of both; a draw counts one half.

    Where nobody knows perfect play (hunt), under the shipped strategy of both.
    """
    regret: float
    """What its last action gave away of it; in hunt only what the strategy never takes, a tunnel, does."""
    exactness: str
    """How sure both are, as sure as the less sure of them: `exact`, `bound` or `estimate`."""


class Grader:
    """Grades a game under way, for each seat from what that seat knows and nothing else."""

    def __init__(self, rules: AnyRules) -> None:
        self._oracle = get_oracle(rules)
        self.reset()

    def reset(self) -> None:
        """Forget the regrets: a new game begins."""
        self._regret = dict.fromkeys(Seat, 0.0)
        self._judged = dict.fromkeys(Seat, Exactness.EXACT)

    def before(self, sight: AnySight, action: Any) -> None:
        """Judge an action of the seat to move, which is about to be played."""
        verdict = self._oracle.judge(sight)
        self._regret[sight.seat] = verdict.loss(action)
        self._judged[sight.seat] = verdict.value.exactness

    def forfeit(self, sight: AnySight) -> Grade:
        """The grade of a seat that has just lost by an illegal action: it gave away everything."""
        lost = self._oracle.value(sight)
        return {"value": 0.0, "regret": lost.number, "exactness": lost.exactness.value}

    def grade(self, sight: AnySight) -> Grade:
        """The grade of a seat: the position's value to it now, and its last action's regret."""
        value = self._oracle.value(sight)
        sure = _least_sure(value.exactness, self._judged[sight.seat])
        return {"value": value.number, "regret": self._regret[sight.seat], "exactness": sure.value}


def _least_sure(*kinds: Exactness) -> Exactness:
    return max(kinds, key=list(Exactness).index)


@dataclass(frozen=True)
class Grades:
    """Every position and every action of a game with tables, graded."""

    values: NDArray[np.float64]
    """[seat, state] the probability that the seat wins under perfect play of both."""
    regrets: NDArray[np.float64]
    """[state, action] what the action gives away of it; NaN where it is illegal."""
    exactness: str
    """How sure they all are: as sure as the least sure of them."""


@lru_cache(maxsize=16)
def compute_grades(rules: AnyRules) -> Grades:
    """The grades of a game without secrets, aligned with its tables; refused where `clock_matters`."""
    check_state_table(rules)
    if depends_on_clock(rules):
        raise DuelsError(
            f"Under {rules} what a position is worth depends on the {rules.clock} played, "
            "which a table of positions does not know."
        )
    met = {Exactness.EXACT}
    tables = get_tables(rules).tables
    oracle = get_oracle(rules)
    number = number_actions(rules)
    values = np.zeros((2, tables.states))
    regrets = np.full((tables.states, tables.actions), np.nan)
    for place, state in enumerate(tables.rules_states(rules)):
        sight = rules.sight(state, Seat(max(int(tables.actor[place]), 0) + 1))
        mine = oracle.value(sight)
        met.add(mine.exactness)
        values[sight.seat - 1, place], values[2 - sight.seat, place] = mine.number, 1 - mine.number
        if sight.actions:
            for action, loss in zip(sight.actions, oracle.judge(sight).losses, strict=True):
                regrets[place, number[action]] = loss
    return Grades(values, regrets, _least_sure(*met).value)


def has_state_table(rules: AnyRules) -> bool:
    """Whether the game has tables, and what a seat knows is a state of them."""
    return not rules.has_secrets and has_tables(rules)


def check_state_table(rules: AnyRules) -> None:
    """Refuse a game whose positions cannot be written down as the states of tables."""
    if rules.has_secrets:
        raise DuelsError(f"{rules.name} has secrets: a table of its states would tell them.")
    get_tables(rules)


def set_clock(rules: AnyRules, state: Any, clock: int) -> Any:
    """The same state at another reading of the clock that counts towards a limit."""
    return replace(state, **{rules.clock: clock}) if clock and rules.clock else state


@lru_cache(maxsize=16)
def depends_on_clock(rules: AnyRules) -> bool:
    """Whether the limit changes what positions are worth: a table of states knows no clock.

    A limit changes nothing if wherever the clock ticks, at any reading, the game is worth one half: what it
    is worth when it is cut off.
    """
    limit = rules.limit_value
    if limit is None:
        return False
    tables, oracle = get_tables(rules).tables, get_oracle(rules)
    states = tables.rules_states(rules)
    ticking = tables.successor[(tables.successor & 1 == 1) & (tables.successor != ILLEGAL)]
    going_on = [place for place in np.unique(ticking >> 1).tolist() if tables.actor[place] != NOBODY]
    return any(
        oracle.value(rules.sight(set_clock(rules, states[place], clock), Seat.ONE)).number != 0.5
        for place in going_on
        for clock in range(1, limit)
    )
