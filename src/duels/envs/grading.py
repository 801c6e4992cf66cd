"""Exact grading: what a position is worth, what an action gives away, how far a policy is from perfect."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isclose
from typing import Any

from duels.core.errors import DuelsError
from duels.core.explore import count_lines
from duels.core.rules import Rules, Seat, Sight
from duels.envs.extras import extra
from duels.envs.kernels import kernel_of
from duels.games import find_game
from duels.solving.oracle import Exactness, Oracle
from duels.solving.pomdp import Bounds

with extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

    from duels.envs.agents import is_player, player_odds, takes
    from duels.envs.engine import MatchEngine
    from duels.envs.tabled import shared_tables
    from duels.solving.best_response import best_response
    from duels.solving.table_response import best_response_value
    from duels.solving.tables import ILLEGAL, NOBODY

MOST_LINES = 200_000
MOST_CLOCKS = 64  # readings of a clock for which a function's answers are kept
ONE_BY_ONE = 'make the environment with vectorization_mode="sync"'
SURE = 0.001  # the most that an exploitability may be wrong by to be given as one number

Chooses = Callable[[Sight[Any, Any]], Any]
Odds = Callable[[Sight[Any, Any]], list[float]]
"""From what a seat knows to the probability of each of its actions."""


class Grader:
    """Grades a game under way, for each seat from what that seat knows and nothing else.

    Values are probabilities of winning under perfect play of both; a regret is what the seat's last
    action gave away of it. `exactness` says how sure both are: as sure as the less sure of them.
    """

    def __init__(self, engine: MatchEngine) -> None:
        self._engine = engine
        self._oracle: Oracle[Any, Any] = find_game(engine.rules.name).oracle(engine.rules)
        self.reset()

    def reset(self) -> None:
        """Forget the regrets: a new game begins."""
        self._regret = [0.0, 0.0]
        self._judged = [Exactness.EXACT, Exactness.EXACT]

    def before(self, action: int) -> None:
        """Judge an action of the seat to move, which is about to be played."""
        seat = self._engine.actor
        verdict = self._oracle.judge(self._engine.sight(seat))
        self._regret[seat] = verdict.loss(self._engine.action(action))
        self._judged[seat] = verdict.value.exactness

    def forfeit(self, seat: int) -> dict[str, Any]:
        """What `info` holds for a seat that has just lost by an action that is not allowed."""
        lost = self._oracle.value(self._engine.sight(seat))
        return {"value": 0.0, "regret": lost.number, "exactness": lost.exactness.value}

    def info(self, seat: int) -> dict[str, Any]:
        """What `info` holds for a seat: the position's value to it now, and its last action's regret."""
        value = self._oracle.value(self._engine.sight(seat))
        sure = _least_sure(value.exactness, self._judged[seat])
        return {"value": value.number, "regret": self._regret[seat], "exactness": sure.value}


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
def grades_of(rules: Rules[Any, Any, Any]) -> Grades:
    """The grades of a game without secrets, aligned with its tables."""
    _refuse_untabled(rules)
    refuse_clocked(rules)
    met = {Exactness.EXACT}
    tables = shared_tables(rules).tables
    oracle = find_game(rules.name).oracle(rules)
    number = {action: place for place, action in enumerate(rules.all_actions())}
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


def tabled(rules: Rules[Any, Any, Any]) -> bool:
    """Whether what a seat knows is a state of the game's tables."""
    return not (rules.has_secrets or kernel_of(rules.name, "batch"))


def _refuse_untabled(rules: Rules[Any, Any, Any]) -> None:
    if rules.has_secrets:
        raise DuelsError(f"{rules.name} has secrets: a table of its states would tell them.")
    _refuse_many_states(rules)


def _refuse_many_states(rules: Rules[Any, Any, Any]) -> None:
    if kernel_of(rules.name, "batch"):
        raise DuelsError(f"{rules.name} has too many states for a table of all of them.")


def exploitability(policy: Any, game: str, **options: int | None) -> float:
    """How much more than its due the best opponent wins against `policy`, on average over both seats.

    In probabilities of winning: 0 for perfect play, at most one half. Never-ending play counts one
    half, and so does a game that is cut off by a limit. (OpenSpiel counts in points from -1 to 1, so
    its number is twice this one.) The policy is a player that tells its `odds` or its name, a table as
    `duels.vector` takes it (`duels.table_of` makes one of an agent), or a function from a `Sight`, what a
    seat knows, to one of `sight.actions`, or to a mapping from actions to probabilities.

    Exact for lights, leap and chain, and for forms of hunt and flip that are small enough to be searched
    whole. For flip on its whole board the policy is a `Boardless` one, never a name: the number is then right
    to within SURE. What is known of other policies, in hunt above all, `exploitability_bounds` tells.
    """
    found = exploitability_bounds(policy, game, **options)
    if found.high - found.low > 2 * SURE:
        raise DuelsError(
            f"It lies between {found.low:.4f} and {found.high:.4f}, and more is not known: "
            "use exploitability_bounds."
        )
    return (found.low + found.high) / 2


def exploitability_bounds(policy: Any, game: str, **options: int | None) -> Bounds:
    """The same, as two numbers that it is proven to lie between; they are equal where it is exact.

    On the whole of hunt this takes a table, a function that looks at `sight.view` and `sight.actions` alone
    (about a minute), or a strategy of the shipped kind (`duels.games.hunt.strategy`; minutes).
    """
    if not isinstance(game, str):
        raise DuelsError(f"The game comes after the policy, by its name; {game!r} is no game's name.")
    room = find_game(game)
    rules = room.rules(**options)
    with extra("solve"):
        known = room.response_bounds(rules, policy)
    if not known:
        _refuse_no_policy(policy)
        if isinstance(policy, str) or is_player(policy):
            policy = player_odds(policy, room, rules)
        if tabled(rules):
            return _exactly(_answers_to_table(policy, rules))
        odds = _aligned(policy) if callable(policy) else _as_seen(policy, rules)
        if _searchable(rules):
            return _exactly([best_response(rules, seat, odds) for seat in Seat])
        with extra("solve"):
            known = room.agent_bounds(rules, odds)
    if not known:
        raise DuelsError(
            f"{rules} is too large to be searched whole, as this policy needs. What works: "
            f"{room.response_kind or 'nothing else'}; or a smaller form, or a limit."
        )
    return _gain([b.low for b in known.values()], [b.high for b in known.values()])


def _refuse_no_policy(policy: Any) -> None:
    """Refuse what nobody can mean by a policy, once the game has no method for such objects of its own."""
    if isinstance(policy, str) or is_player(policy):
        return
    if callable(policy):
        if not takes(policy, 1):
            raise DuelsError(
                "A policy that is a function is called with one argument, a Sight; this one cannot be. "
                "Of an agent over an observation and a mask, duels.table_of makes a table."
            )
    elif np.ndim(policy) == 0 and type(policy).__module__ == "builtins":
        raise DuelsError(
            "A policy is a player or its name, a table (duels.table_of makes one of an agent) or a function "
            "from a Sight to an action or to a mapping of actions to probabilities, "
            f"not a {type(policy).__name__}."
        )


def _exactly(answers: list[float]) -> Bounds:
    return _gain(answers, answers)


def _gain(lows: list[float], highs: list[float]) -> Bounds:
    """The exploitability of a policy whose best responders win so much, at least and at most."""
    return Bounds(max(0.0, (sum(lows) - 1) / 2), min(0.5, (sum(highs) - 1) / 2))


def _answers_to_table(policy: Any, rules: Rules[Any, Any, Any]) -> list[float]:
    """What the best responder wins in either seat, in a game that has tables and no secrets."""
    tables = shared_tables(rules).tables
    limit = getattr(rules, rules.limit) if rules.limit else None
    table = None if callable(policy) else shared_tables(rules).probabilities(policy)

    @lru_cache(MOST_CLOCKS)
    def at_clock(clock: int) -> NDArray[np.float64]:
        return tabulate(policy, rules, clock) if table is None else table

    return [best_response_value(tables, at_clock, seat, limit) for seat in (0, 1)]


def _as_seen(table: Any, rules: Rules[Any, Any, Any]) -> Odds:
    """A table of a game with secrets, as a function of what the seat to move is shown."""
    _refuse_many_states(rules)
    shared, encoding = shared_tables(rules), find_game(rules.name).encoding(rules)
    tables, odds = shared.tables, shared.probabilities(table)
    shared.refuse_peeking(odds)
    number = {action: place for place, action in enumerate(rules.all_actions())}
    deciding = np.flatnonzero(tables.actor != NOBODY)
    examples = deciding[np.unique(shared.observation_groups[deciding], return_index=True)[1]]
    shown = {
        (actor, tables.observation[actor, state].tobytes()): odds[state]
        for state, actor in zip(examples.tolist(), tables.actor[examples].tolist(), strict=True)
    }

    def at(sight: Sight[Any, Any]) -> list[float]:
        row = shown.get((sight.seat - 1, encoding.encode(sight.view, sight.seat)))
        if row is None:  # no state of the game looks like that, so nothing hangs on the answer
            return [1 / len(sight.actions)] * len(sight.actions)
        return [float(row[number[action]]) for action in sight.actions]

    return at


def _searchable(rules: Rules[Any, Any, Any]) -> bool:
    """The best response to a function is found on all lines of play, so they must be few."""
    length = 1
    while True:
        counts = count_lines(rules, length)
        if counts[-1] == 0:
            return True
        if sum(counts) > MOST_LINES:
            return False
        length += 1


def _aligned(policy: Chooses) -> Odds:
    """The same policy, giving the probability of each of the sight's actions in order."""

    def odds(sight: Sight[Any, Any]) -> list[float]:
        chosen = odds_at(policy, sight)
        return [chosen.get(action, 0.0) for action in sight.actions]

    return odds


def odds_at(policy: Chooses, sight: Sight[Any, Any]) -> Mapping[Any, float]:
    """The probabilities of the actions that a policy can take; DuelsError if it may not, or they are none."""
    chosen = policy(sight)
    if not isinstance(chosen, Hashable | Mapping):
        raise DuelsError(f"A policy gives an action or a mapping of actions, not a {type(chosen).__name__}.")
    odds: Mapping[Any, float] = chosen if isinstance(chosen, Mapping) else {chosen: 1.0}
    for action, probability in odds.items():
        if action not in sight.actions and probability != 0:
            raise DuelsError(
                f"The policy takes {action!r}, which is not allowed at {sight.view}: "
                "it has to be one of `sight.actions`."
            )
    total = sum(odds.values())
    if not (all(p >= 0 for p in odds.values()) and isclose(total, 1, rel_tol=1e-5)):
        raise DuelsError(f"A policy's probabilities of the actions must sum to 1, also at {sight.view}.")
    return {action: probability / total for action, probability in odds.items() if probability}


def tabulate(policy: Chooses, rules: Rules[Any, Any, Any], clock: int = 0) -> NDArray[np.float64]:
    """[state, action] the probabilities of a policy that is given as a function of what a seat knows.

    Under a limit, they are those at this reading of the clock.
    """
    _refuse_untabled(rules)
    tables = shared_tables(rules).tables
    number = {action: place for place, action in enumerate(rules.all_actions())}
    table = np.zeros((tables.states, tables.actions))
    for place, state in enumerate(tables.rules_states(rules)):
        if tables.actor[place] >= 0:
            sight = rules.sight(_at_clock(rules, state, clock), Seat(int(tables.actor[place]) + 1))
            for action, probability in odds_at(policy, sight).items():
                table[place, number[action]] = probability
    return table


def _at_clock(rules: Rules[Any, Any, Any], state: Any, clock: int) -> Any:
    """The same state at another reading of the clock that counts towards a limit."""
    return replace(state, **{rules.clock: clock}) if clock and rules.clock else state


@lru_cache(maxsize=16)
def refuse_clocked(rules: Rules[Any, Any, Any]) -> None:
    """Refuse limits that change what positions are worth: a table of states knows no clock.

    A limit changes nothing if wherever the clock ticks, at any reading, the game is worth one half: what it
    is worth when it is cut off.
    """
    limit = getattr(rules, rules.limit) if rules.limit else None
    if limit is None:
        return
    tables, oracle = shared_tables(rules).tables, find_game(rules.name).oracle(rules)
    states = tables.rules_states(rules)
    ticking = tables.successor[(tables.successor & 1 == 1) & (tables.successor != ILLEGAL)]
    for place in np.unique(ticking >> 1).tolist():
        if tables.actor[place] == NOBODY:
            continue
        for clock in range(1, limit):
            sight = rules.sight(_at_clock(rules, states[place], clock), Seat.ONE)
            if oracle.value(sight).number != 0.5:
                raise DuelsError(
                    f"Under {rules} what a position is worth depends on the {rules.clock} played, which "
                    f"a table of positions does not know: {ONE_BY_ONE}."
                )
