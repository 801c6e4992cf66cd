"""The state graph of a game, and its values by backward induction or retrograde analysis.

Backward induction is for games without cycles, with or without chance. Retrograde analysis allows cycles, but
no chance. A state in which neither seat can force a win counts one half.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Generic, TypeVar

from duels.core.errors import TooLarge
from duels.core.rules import CHANCE, A, Actor, Rules, S, Seat, V
from duels.solving.oracle import Progress, no_progress

HALF = Fraction(1, 2)
Number = TypeVar("Number", Fraction, float)


@dataclass
class Graph(Generic[S]):
    """A state graph. States are numbered in the order of discovery; lists are indexed by number."""

    states: list[S] = field(default_factory=list)
    state_numbers: dict[S, int] = field(default_factory=dict)
    actor: list[Actor | None] = field(default_factory=list)
    successors: list[tuple[int, ...]] = field(default_factory=list)
    odds: list[tuple[Fraction, ...]] = field(default_factory=list)
    """The probabilities of the successors at chance nodes, otherwise empty."""
    result: dict[int, Fraction] = field(default_factory=dict)
    """Player 1's score at terminal states: 1, 0 or 1/2."""

    def __len__(self) -> int:
        return len(self.states)


def explore(
    rules: Rules[S, A, V],
    starts: Iterable[S] | None = None,
    progress: Progress = no_progress,
    limit: int | None = None,
) -> Graph[S]:
    """Return the graph of all states reachable from `starts`, by default from the initial state.

    Raises TooLarge if there are more than `limit` states.
    """
    graph: Graph[S] = Graph()
    for state in starts if starts is not None else (rules.initial(),):
        _add_state(graph, state)
    for count, state in enumerate(graph.states):  # the list grows during the loop
        if count % 1000 == 0:
            progress(f"{count:,} states explored")
            if limit is not None:
                check_state_count(rules, len(graph), limit)
        actor = rules.actor(state)
        next_states = [rules.apply(state, action).state for action in rules.actions(state)]
        graph.actor.append(actor)
        graph.odds.append(rules.odds(state) if actor is CHANCE else ())
        graph.successors.append(tuple([_add_state(graph, next_state) for next_state in next_states]))
        outcome = rules.outcome(state)
        if outcome:
            graph.result[graph.state_numbers[state]] = outcome.score(Seat.ONE)
    if limit is not None:
        check_state_count(rules, len(graph), limit)
    return graph


def has_cycle(graph: Graph[S]) -> bool:
    """Return whether a state can repeat, so that a match can be endless."""
    try:
        _sort_backwards(graph).prepare()
    except CycleError:
        return True
    return False


def longest_match(graph: Graph[S]) -> tuple[float, float]:
    """Return the most moves and the most chance nodes of a match, infinity if a state can repeat."""
    if has_cycle(graph):
        return inf, inf
    moves, draws = [0] * len(graph), [0] * len(graph)
    for node in _sort_backwards(graph).static_order():
        if successors := graph.successors[node]:
            is_draw = graph.actor[node] is CHANCE
            moves[node] = max(moves[successor] for successor in successors) + (not is_draw)
            draws[node] = max(draws[successor] for successor in successors) + is_draw
    return moves[0], draws[0]


def _sort_backwards(graph: Graph[S]) -> TopologicalSorter[int]:
    return TopologicalSorter(dict(enumerate(graph.successors)))


def check_state_count(rules: Rules[S, A, V], states: int | None, limit: int) -> None:
    """Raise TooLarge if there are more than `limit` states; None means unknown."""
    if states is not None and states > limit:
        raise TooLarge(
            f"{rules.name} has more than {limit:,} states with these options, too many to list: "
            "choose smaller options, or write an oracle for the game."
        )


def _add_state(graph: Graph[S], state: S) -> int:
    number = graph.state_numbers.setdefault(state, len(graph.states))
    if number == len(graph.states):
        graph.states.append(state)
    return number


def backup(graph: Graph[S], node: int, values: Sequence[Number]) -> Number:
    """Return the value of a non-terminal state from the values of its successors."""
    successor_values = [values[successor] for successor in graph.successors[node]]
    if graph.actor[node] is CHANCE:
        mean, *terms = (
            value * odds.numerator / odds.denominator
            for value, odds in zip(successor_values, graph.odds[node], strict=True)
        )
        for term in terms:
            mean += term
        return mean
    return max(successor_values) if graph.actor[node] is Seat.ONE else min(successor_values)


def backward_induction(graph: Graph[S]) -> list[Fraction]:
    """Return player 1's probability of winning at every state. Raises CycleError if there is a cycle."""
    values = [Fraction(0)] * len(graph)
    for node in _sort_backwards(graph).static_order():
        values[node] = graph.result[node] if node in graph.result else backup(graph, node, values)
    return values


def forced_wins(graph: Graph[S], seat: Seat) -> dict[int, int]:
    """Return the states in which `seat` can force a win, with the number of entries until the win.

    `seat` takes the shortest path, and the other seat and chance take the longest.
    """
    won = Fraction(seat is Seat.ONE)
    entries = {node: 0 for node, result in graph.result.items() if result == won}
    predecessors: list[list[int]] = [[] for _ in range(len(graph))]
    for node, successors in enumerate(graph.successors):
        for successor in successors:
            predecessors[successor].append(node)
    # If `seat` decides, one successor must be a win; otherwise all of them.
    missing = [1 if actor is seat else len(graph.successors[node]) for node, actor in enumerate(graph.actor)]
    layer = list(entries)
    while layer:
        next_layer = []
        for node in layer:
            for predecessor in predecessors[node]:
                missing[predecessor] -= 1
                if missing[predecessor] == 0:
                    entries[predecessor] = entries[node] + 1
                    next_layer.append(predecessor)
        layer = next_layer
    return entries


def retrograde_values(graph: Graph[S]) -> list[Fraction]:
    """Return player 1's value at every state of a graph without chance."""
    assert CHANCE not in graph.actor
    wins, losses = (forced_wins(graph, seat) for seat in Seat)
    return [Fraction(node in wins) if node in wins or node in losses else HALF for node in range(len(graph))]
