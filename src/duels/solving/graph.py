"""A game's rules written out as a graph: every state that can be reached, who acts there, what follows."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic

from duels.core.errors import TooLarge
from duels.core.rules import CHANCE, A, Actor, Rules, S, Seat, V
from duels.solving.progress import Progress, quiet

HALF = Fraction(1, 2)


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
    progress: Progress = quiet,
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
                refuse_many(rules, len(graph), most)
        actor = rules.actor(state)
        steps = [rules.apply(state, action).state for action in rules.actions(state)]
        graph.actor.append(actor)
        graph.odds.append(rules.odds(state) if actor is CHANCE else ())
        graph.followers.append(tuple([_enter(graph, after) for after in steps]))
        outcome = rules.outcome(state)
        if outcome:
            graph.result[graph.number[state]] = outcome.score(Seat.ONE)
    if most is not None:
        refuse_many(rules, len(graph), most)
    return graph


def comes_back(graph: Graph[S]) -> bool:
    """Whether play can come back to a state, and so go on for ever."""
    ways_in = [0] * len(graph)
    for followers in graph.followers:
        for follower in followers:
            ways_in[follower] += 1
    free = [node for node, ways in enumerate(ways_in) if not ways]
    for node in free:  # grows while it is read
        for follower in graph.followers[node]:
            ways_in[follower] -= 1
            if not ways_in[follower]:
                free.append(follower)
    return len(free) < len(graph)


def refuse_many(rules: Rules[S, A, V], states: int | None, most: int) -> None:
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
