"""A game's rules written out as a graph, and its values from the end backwards.

Backward induction is for games that cannot come back to a state, with chance or without. Retrograde analysis
does not mind play that comes back; what neither seat can force counts one half.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Generic, TypeVar

from duels.core.errors import TooLarge
from duels.core.rules import CHANCE, A, Actor, Rules, S, Seat, V
from duels.solving.progress import Progress, no_progress

HALF = Fraction(1, 2)
Number = TypeVar("Number", Fraction, float)


@dataclass
class Graph(Generic[S]):
    """States are numbered in the order they were found; lists are aligned with that number."""

    states: list[S] = field(default_factory=list)
    number: dict[S, int] = field(default_factory=dict)
    actor: list[Actor | None] = field(default_factory=list)
    followers: list[tuple[int, ...]] = field(default_factory=list)
    odds: list[tuple[Fraction, ...]] = field(default_factory=list)
    """At chance nodes, aligned with `followers`."""
    result: dict[int, Fraction] = field(default_factory=dict)
    """Where the game is over: 1 if player 1 won, 0 if player 2 did, 1/2 if nobody did."""

    def __len__(self) -> int:
        return len(self.states)


def explore(
    rules: Rules[S, A, V],
    starts: Iterable[S] | None = None,
    progress: Progress = no_progress,
    most: int | None = None,
) -> Graph[S]:
    """The graph of all states that can be reached from `starts` (from the opening, if none are given).

    TooLarge as soon as there are more than `most`.
    """
    graph: Graph[S] = Graph()
    for state in starts if starts is not None else (rules.initial(),):
        _enter(graph, state)
    for count, state in enumerate(graph.states):  # grows while it is read
        if count % 1000 == 0:
            progress(f"{count:,} states walked through")
            if most is not None:
                check_state_count(rules, len(graph), most)
        actor = rules.actor(state)
        steps = [rules.apply(state, action).state for action in rules.actions(state)]
        graph.actor.append(actor)
        graph.odds.append(rules.odds(state) if actor is CHANCE else ())
        graph.followers.append(tuple([_enter(graph, after) for after in steps]))
        outcome = rules.outcome(state)
        if outcome:
            graph.result[graph.number[state]] = outcome.score(Seat.ONE)
    if most is not None:
        check_state_count(rules, len(graph), most)
    return graph


def has_cycle(graph: Graph[S]) -> bool:
    """Whether play can come back to a state, and so go on for ever."""
    try:
        _from_the_end(graph).prepare()
    except CycleError:
        return True
    return False


def _from_the_end(graph: Graph[S]) -> TopologicalSorter[int]:
    return TopologicalSorter(dict(enumerate(graph.followers)))


def check_state_count(rules: Rules[S, A, V], states: int | None, most: int) -> None:
    """TooLarge if there are more than `most` states; None: it is not known."""
    if states is not None and states > most:
        raise TooLarge(
            f"{rules.name} has more than {most:,} states with these options, too many to be listed: "
            "choose smaller ones, or write the game an oracle."
        )


def _enter(graph: Graph[S], state: S) -> int:
    number = graph.number.setdefault(state, len(graph.states))
    if number == len(graph.states):
        graph.states.append(state)
    return number


def backup(graph: Graph[S], node: int, values: Sequence[Number]) -> Number:
    """The value of a state where the game goes on, from the values of what follows."""
    after = [values[follower] for follower in graph.followers[node]]
    if graph.actor[node] is CHANCE:
        mean, *more = (
            value * odds.numerator / odds.denominator
            for value, odds in zip(after, graph.odds[node], strict=True)
        )
        for part in more:
            mean += part
        return mean
    return max(after) if graph.actor[node] is Seat.ONE else min(after)


def backward_induction(graph: Graph[S]) -> list[Fraction]:
    """The probability that player 1 wins, for every state of a graph; CycleError if play can come back."""
    values = [Fraction(0)] * len(graph)
    for node in _from_the_end(graph).static_order():
        values[node] = graph.result[node] if node in graph.result else backup(graph, node, values)
    return values


def forced_wins(graph: Graph[S], seat: Seat) -> dict[int, int]:
    """The states from which `seat` wins whatever the other and chance do, with the entries until then.

    `seat` takes the shortest way, all others the longest.
    """
    won = Fraction(seat is Seat.ONE)
    entries = {node: 0 for node, result in graph.result.items() if result == won}
    before: list[list[int]] = [[] for _ in range(len(graph))]
    for node, followers in enumerate(graph.followers):
        for follower in followers:
            before[follower].append(node)
    # Where `seat` decides one way into its wins is enough; elsewhere all have to lead there.
    ways_out = [1 if actor is seat else len(graph.followers[node]) for node, actor in enumerate(graph.actor)]
    layer = list(entries)
    while layer:
        further = []
        for node in layer:
            for earlier in before[node]:
                ways_out[earlier] -= 1
                if ways_out[earlier] == 0:
                    entries[earlier] = entries[node] + 1
                    further.append(earlier)
        layer = further
    return entries


def retrograde_values(graph: Graph[S]) -> list[Fraction]:
    """The probability that player 1 wins, for every state of a graph without chance."""
    assert CHANCE not in graph.actor
    wins, losses = (forced_wins(graph, seat) for seat in Seat)
    return [Fraction(node in wins) if node in wins or node in losses else HALF for node in range(len(graph))]
