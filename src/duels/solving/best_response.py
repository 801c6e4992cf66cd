"""The exact best response to a fixed policy, by searching the whole game tree of a small game."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from duels.core.rules import A, Event, Rules, S, Seat, Sight, V

Policy = Callable[[Sight[A, V]], Sequence[float]]
"""A function from a sight to the probability of each of `sight.actions`."""


@dataclass(frozen=True, slots=True)
class HistoryNode(Generic[S, A]):
    """A history, its reach probability, and the events and actions that the policy's seat has seen."""

    reach: float
    state: S
    events: tuple[Event, ...] = ()
    history: tuple[A | None, ...] = ()


def best_response(rules: Rules[S, A, V], responder: Seat, policy: Policy[A, V]) -> float:
    """Return the best-response value of `responder`, who remembers everything.

    A draw and a match that is cut off count one half.
    """
    return _best_value(rules, responder, policy, [HistoryNode(1.0, rules.initial())])


def _best_value(
    rules: Rules[S, A, V], responder: Seat, policy: Policy[A, V], nodes: list[HistoryNode[S, A]]
) -> float:
    """Return the value of `nodes`, which form an information set of the responder."""
    outcome = rules.outcome(nodes[0].state)
    if outcome:
        return float(outcome.score(responder)) * sum(node.reach for node in nodes)

    def total_value(moves: Iterable[tuple[HistoryNode[S, A], float, A]]) -> float:
        groups = _group_successors(rules, responder, moves)
        return sum(_best_value(rules, responder, policy, group) for group in groups)

    if rules.actor(nodes[0].state) is responder:
        actions = rules.actions(nodes[0].state)
        return max(total_value((node, 1.0, action) for node in nodes) for action in actions)
    return total_value(_expand(rules, responder.other, policy, nodes))


def _expand(
    rules: Rules[S, A, V], seat: Seat, policy: Policy[A, V], nodes: list[HistoryNode[S, A]]
) -> Iterable[tuple[HistoryNode[S, A], float, A]]:
    for node in nodes:
        actions = rules.actions(node.state)
        if rules.actor(node.state) is seat:
            chances = policy(rules.sight(node.state, seat, node.events, node.history))
        else:
            chances = [float(chance) for chance in rules.odds(node.state)]
        yield from ((node, chance, action) for action, chance in zip(actions, chances, strict=True) if chance)


def _group_successors(
    rules: Rules[S, A, V], responder: Seat, moves: Iterable[tuple[HistoryNode[S, A], float, A]]
) -> list[list[HistoryNode[S, A]]]:
    """Return the histories after `moves`, grouped by the responder's information sets."""
    seat = responder.other
    groups: dict[tuple[Event, ...], list[HistoryNode[S, A]]] = {}
    for node, chance, action in moves:
        step = rules.apply(node.state, action)
        hidden = any(seat not in event.seen_by for event in step.events)
        policy_events = tuple(event for event in step.events if seat in event.seen_by)
        responder_events = tuple(event for event in step.events if responder in event.seen_by)
        groups.setdefault(responder_events, []).append(
            HistoryNode(
                node.reach * chance,
                step.state,
                node.events + policy_events,
                (*node.history, None if hidden else action),
            )
        )
    return list(groups.values())
