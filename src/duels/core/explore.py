"""Enumeration of reachable states and histories, for games of moderate size.

`docs/counts.md` lists the counts of our games.
"""

from collections import Counter
from collections.abc import Iterator

from duels.core.match import Match
from duels.core.rules import A, Rules, S, V


def iter_reachable(rules: Rules[S, A, V]) -> Iterator[Match[S, A, V]]:
    """Yield a shortest match to every reachable state, in order of length."""
    layer = {rules.initial(): Match.start(rules)}
    visited = set(layer)
    while layer:
        yield from layer.values()
        next_layer: dict[S, Match[S, A, V]] = {}
        for match in layer.values():
            actor = match.actor
            if actor is None:
                continue
            for action in match.actions:
                successor = match.play(actor, action)
                if successor.state not in visited:
                    visited.add(successor.state)
                    next_layer[successor.state] = successor
        layer = next_layer


def count_histories(rules: Rules[S, A, V]) -> Iterator[Counter[S]]:
    """Count the histories that lead to each state, after 0 entries, then after 1, and so on without end."""
    layer = Counter({rules.initial(): 1})
    while True:
        yield layer
        next_layer: Counter[S] = Counter()
        for state, histories in layer.items():
            for action in rules.actions(state):
                next_layer[rules.apply(state, action).state] += histories
        layer = next_layer
