"""Values of actions against an opponent whose policy is known, such as a level."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol, cast

from duels.core.errors import TooLarge
from duels.core.rules import CHANCE, AnyRules, AnySight, OpenRules, Seat
from duels.players.levels import LevelPlayer
from duels.solving.check import Brackets
from duels.solving.graph import Graph, explore
from duels.solving.oracle import Exactness, Oracle, Value

_MAX_STATES = 20_000  # about a second
_MAX_SWEEPS = 200  # of value iteration; endless play may need more
_ERROR = 1e-7
_MAX_DENOMINATOR = 10**9  # of a probability


class KnownPlayer(Protocol):
    """A player whose action probabilities are known."""

    def odds(self, sight: AnySight) -> Mapping[Any, float]:
        """Return the probability of each action."""


def compute_response_values(
    sight: AnySight, opponent: KnownPlayer, oracle: Oracle[Any, Any]
) -> dict[Any, Value]:
    """Return the value of each of `sight.actions` if the opponent goes on with its policy.

    If the rest of the match can be searched, they are those of the best response. Otherwise they are
    estimates that assume perfect play after the opponent's next decision. They are empty for a game with
    hidden information whose oracle has no `values_against`.

    In a game with a limit, the search ends at the next tick of the clock (in chain, with the board), which
    counts one half. Without an end, the best response to an opponent who errs wins sooner or later after any
    action.
    """
    rules = sight.rules
    if not isinstance(rules, OpenRules):
        share = opponent.share if isinstance(opponent, LevelPlayer) else None
        return {} if share is None else dict(oracle.values_against(sight, share))
    try:
        return _search(rules, sight, opponent)
    except (TooLarge, ArithmeticError):
        return _look_ahead(rules, sight, opponent, oracle)


def _search(rules: AnyRules, sight: AnySight, opponent: KnownPlayer) -> dict[Any, Value]:
    """Return exact values by value iteration.

    Raises TooLarge if there are too many states, and ArithmeticError if the values do not converge.
    """
    limited = rules
    if rules.limit and rules.clock:
        limited = cast(Any, replace)(rules, **{rules.limit: getattr(sight.view, rules.clock) + 1})
    graph: Graph[Any] = explore(limited, [sight.view], limit=_MAX_STATES)
    for node, actor in enumerate(graph.actor):
        if actor is sight.seat.other:  # to the responder, the policy is chance
            theirs = rules.sight(graph.states[node], actor)
            odds = opponent.odds(theirs)
            graph.actor[node] = CHANCE
            graph.odds[node] = tuple(_make_fraction(odds.get(action, 0.0)) for action in theirs.actions)
    brackets = Brackets(graph, {})
    brackets.narrow_to(_ERROR, _MAX_SWEEPS)
    own_values = brackets.low if sight.seat is Seat.ONE else [1 - value for value in brackets.high]
    successors = zip(sight.actions, graph.successors[0], strict=True)
    return {action: Value(own_values[node]) for action, node in successors}


def _make_fraction(probability: float) -> Fraction:
    return Fraction(probability).limit_denominator(_MAX_DENOMINATOR)


def _look_ahead(
    rules: OpenRules[Any, Any], sight: AnySight, opponent: KnownPlayer, oracle: Oracle[Any, Any]
) -> dict[Any, Value]:
    """Return estimates, one for each class of equivalent actions."""

    def estimate(state: Any) -> float:
        actor, outcome = rules.actor(state), rules.outcome(state)
        if outcome:
            return float(outcome.score(sight.seat))
        next_states = [rules.apply(state, action).state for action in rules.actions(state)]
        if actor is CHANCE:
            odds = rules.odds(state)
            return sum(float(p) * estimate(s) for p, s in zip(odds, next_states, strict=True))
        if actor is sight.seat:
            return max(map(estimate, next_states))
        theirs = rules.sight(state, sight.seat.other)
        policy = opponent.odds(theirs)
        judged = oracle.judge(theirs).actions
        return 1 - sum(policy.get(action.action, 0.0) * action.value.number for action in judged)

    values: dict[Any, Value] = {}
    for action in sight.actions:
        action_class = oracle.action_class(sight, action)
        if action_class not in values:
            number = estimate(rules.apply(sight.view, action).state)
            values[action_class] = Value(number, Exactness.ESTIMATE)
    return {action: values[oracle.action_class(sight, action)] for action in sight.actions}
