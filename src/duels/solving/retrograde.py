"""Retrograde analysis: who can force a win, worked out backwards from where games end.

It does not mind play that comes back to a state; what neither seat can force counts one half.
"""

from fractions import Fraction

from duels.core.rules import CHANCE, S, Seat
from duels.solving.graph import HALF, Graph


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
