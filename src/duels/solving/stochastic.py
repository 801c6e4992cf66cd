"""Proofs about values of games with coins and cycles, from nothing but a graph of the rules.

What is proven here: given numbers are the values, where never-ending play counts one half.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from duels.core.rules import CHANCE, S, Seat
from duels.solving.graph import HALF, Graph

Number = TypeVar("Number", Fraction, float)


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


def broken_equations(graph: Graph[S], values: Sequence[Fraction]) -> Iterator[int]:
    """The states whose value is not exactly what their followers' values, or the result, make of it."""
    for node in range(len(graph)):
        expected = graph.result[node] if node in graph.result else backup(graph, node, values)
        if values[node] != expected:
            yield node


def hollow_promises(graph: Graph[S], values: Sequence[Fraction], seat: Seat) -> Iterator[int]:
    """States that promise `seat` more than one half, but where the other can keep it waiting for ever.

    If every equation holds and neither seat is made a hollow promise, the numbers are THE values. Proof,
    for player 1 (Everett 1957 proves more). Let player 1 take, among the actions that keep the value,
    those found here to lead out of the set of states with the same value. Then the value along the match
    never falls in expectation, whatever player 2 does. It is bounded, so it converges; the numbers are
    finitely many, so in a match that never ends it stays at some level from some time on, and from then
    on player 2 gave nothing away either (what is given away sums to at most 1, so it is given away
    finitely often). At a level above one half such a stay has probability 0: from every state there,
    within as many turns as there are states, it is left with a probability bounded from below. So
    never-ending matches, worth one half, stay at levels of at most one half: player 1 gets at least the
    value that was promised. The same for player 2, so both numbers are what each can make sure of.
    """
    mine = 1 if seat is Seat.ONE else -1
    waiting = {node for node in range(len(graph)) if mine * (values[node] - HALF) > 0}
    waiting -= graph.result.keys()

    def leaves(node: int) -> bool:
        level = values[node]
        if graph.actor[node] is CHANCE:
            return any(after not in waiting or values[after] != level for after in graph.followers[node])
        keeping = [after not in waiting for after in graph.followers[node] if values[after] == level]
        return any(keeping) if graph.actor[node] is seat else all(keeping)

    while found := {node for node in waiting if leaves(node)}:
        waiting -= found
    yield from sorted(waiting)


@dataclass
class Brackets(Generic[S]):
    """Bounds from below and from above on every value, closing in on each other by plain value iteration.

    `pinned` states are taken to be worth what is given and are not followed further. They must be enough
    to make every match end: then the lower bound starts as if all other matches were lost by player 1,
    the upper one as if they were won, and what lies between shrinks to nothing.
    """

    graph: Graph[S]
    pinned: Mapping[int, Fraction]

    def __post_init__(self) -> None:
        given = {**self.graph.result, **self.pinned}
        self.low = [float(given.get(node, 0)) for node in range(len(self.graph))]
        self.high = [float(given.get(node, 1)) for node in range(len(self.graph))]
        # What was found last is nearest to the end: news travels backwards.
        self._order = [node for node in reversed(range(len(self.graph))) if node not in given]

    def close_to(self, width: float, most_sweeps: int = 10_000) -> int:
        """Sweep until no bracket is wider than `width`; the number of sweeps it took."""
        for sweep in range(1, most_sweeps + 1):
            widest = 0.0
            for node in self._order:
                low = self.low[node] = backup(self.graph, node, self.low)
                high = self.high[node] = backup(self.graph, node, self.high)
                widest = max(widest, high - low)
            if widest <= width:
                return sweep
        raise ArithmeticError(f"brackets are still {widest} wide after {most_sweeps} sweeps")
