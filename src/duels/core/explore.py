"""Enumerates what rules allow: all reachable states, and all lines of play up to a length.

For games of moderate size. The counts are a game's fingerprint (`docs/counts.md`).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from duels.core.match import Match
from duels.core.rules import A, Rules, S, V


def iter_reachable(rules: Rules[S, A, V]) -> Iterator[Match[S, A, V]]:
    """A shortest match to every reachable state, nearest first."""
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
    """How many histories of 1, 2, … `length` entries there are (perft).

    An outcome of chance counts as an entry; a finished match has no longer lines.
    """
    return tuple(
        sum(ways * len(rules.actions(state)) for state, ways in layer.items())
        for layer in islice(count_histories(rules), length)
    )


def count_histories(rules: Rules[S, A, V]) -> Iterator[Counter[S]]:
    """The states after 0, 1, 2, … entries, each with the number of histories that lead to it; never ends."""
    # Histories that meet in one state go on alike, so only their number is carried along.
    layer = Counter({rules.initial(): 1})
    while True:
        yield layer
        longer: Counter[S] = Counter()
        for state, ways in layer.items():
            for action in rules.actions(state):
                longer[rules.apply(state, action).state] += ways
        layer = longer
