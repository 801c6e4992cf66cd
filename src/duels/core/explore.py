"""Enumeration of reachable states and of lines of play, for games of moderate size.

The counts are in `docs/counts.md`.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from duels.core.match import Match
from duels.core.rules import A, Rules, S, V


def iter_reachable(rules: Rules[S, A, V]) -> Iterator[Match[S, A, V]]:
    """Yield a shortest match to every reachable state, in order of length."""
    layer = {rules.initial(): Match.start(rules)}
    met = set(layer)
    while layer:
        yield from layer.values()
        further: dict[S, Match[S, A, V]] = {}
        for match in layer.values():
            actor = match.actor
            if actor is None:
                continue
            for action in match.actions:
                after = match.play(actor, action)
                if after.state not in met:
                    met.add(after.state)
                    further[after.state] = after
        layer = further


def count_lines(rules: Rules[S, A, V], length: int) -> tuple[int, ...]:
    """Return the number of histories of 1, 2, … `length` entries (perft).

    A chance outcome counts as an entry.
    """
    return tuple(
        sum(ways * len(rules.actions(state)) for state, ways in layer.items())
        for layer in islice(count_histories(rules), length)
    )


def count_histories(rules: Rules[S, A, V]) -> Iterator[Counter[S]]:
    """Yield the states after 0, 1, 2, … entries with the number of histories of each; never ends."""
    layer = Counter({rules.initial(): 1})
    while True:
        yield layer
        longer: Counter[S] = Counter()
        for state, ways in layer.items():
            for action in rules.actions(state):
                longer[rules.apply(state, action).state] += ways
        layer = longer
