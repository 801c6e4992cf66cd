"""Backward induction: exact values of a game that always moves on and so cannot come back to a state."""

from fractions import Fraction
from graphlib import TopologicalSorter

from duels.core.rules import CHANCE, S, Seat
from duels.solving.graph import Graph


def backward_induction(graph: Graph[S]) -> list[Fraction]:
    """The probability that player 1 wins, for every state of a graph; CycleError if play can come back."""
    values = [Fraction(0)] * len(graph)
    for node in TopologicalSorter(dict(enumerate(graph.followers))).static_order():
        after = [values[follower] for follower in graph.followers[node]]
        actor = graph.actor[node]
        if actor is None:
            values[node] = graph.result[node]
        elif actor is CHANCE:
            chances = zip(graph.odds[node], after, strict=True)
            values[node] = sum((odds * value for odds, value in chances), Fraction(0))
        else:
            values[node] = max(after) if actor is Seat.ONE else min(after)
    return values
