"""The exact best response to a fixed policy, by searching the whole game tree of a small game."""

from collections.abc import Callable, Sequence

from duels.core.match import Match
from duels.core.rules import A, Event, Rules, S, Seat, Sight, V

Policy = Callable[[Sight[A, V]], Sequence[float]]
"""A function from a sight to the probability of each of `sight.actions`."""
WeightedMatch = tuple[float, Match[S, A, V]]
"""A match and its reach probability."""


def best_response(rules: Rules[S, A, V], responder: Seat, policy: Policy[A, V]) -> float:
    """Return the value of the best response of `responder` to the other seat's `policy`.

    The responder remembers everything. A draw and a match that is cut off count one half.
    """
    return _best_value(responder, policy, [(1.0, Match.start(rules))])


def _best_value(responder: Seat, policy: Policy[A, V], matches: list[WeightedMatch[S, A, V]]) -> float:
    """Return the value of an information set of the responder, times its reach probability."""
    _, first = matches[0]
    if first.outcome:
        return float(first.outcome.score(responder)) * sum(reach for reach, _ in matches)
    if first.actor is responder:
        return max(
            _total_value(
                responder, policy, [(reach, match.play(responder, action)) for reach, match in matches]
            )
            for action in first.actions
        )
    successors = []
    for reach, match in matches:
        assert match.actor is not None
        if match.actor is responder.other:
            chances = policy(match.sight(responder.other))
        else:
            chances = [float(odds) for odds in match.rules.odds(match.state)]
        for action, chance in zip(match.actions, chances, strict=True):
            if chance:
                successors.append((reach * chance, match.play(match.actor, action)))
    return _total_value(responder, policy, successors)


def _total_value(responder: Seat, policy: Policy[A, V], matches: list[WeightedMatch[S, A, V]]) -> float:
    """Return the value of matches that have just had a turn, summed over the responder's information sets."""
    information_sets: dict[tuple[Event, ...], list[WeightedMatch[S, A, V]]] = {}
    for reach, match in matches:
        events = tuple(event for event in match.turns[-1].events if responder in event.seen_by)
        information_sets.setdefault(events, []).append((reach, match))
    return sum(_best_value(responder, policy, group) for group in information_sets.values())
