"""The game tree: every history, with the information set of each seat.

In games with hidden information, two histories that lead to one state can differ in information sets.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from duels.core.errors import TooLarge
from duels.core.explore import count_histories
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, Actor, AnyRules, Event, Seat
from duels.solving.oracle import Progress, no_progress

MAX_HISTORIES = 400_000
"""The maximum number of histories: each takes memory, and time in every iteration."""


class InformationSetIndex:
    """Numbers for the information sets of one seat: one for each sequence of events that it can see."""

    def __init__(self) -> None:
        self._successors: dict[tuple[int, Event], int] = {}

    def extend(self, information_set: int, events: Iterable[Event]) -> int:
        """Return the information set after more events."""
        for event in events:
            information_set = self._successors.setdefault((information_set, event), len(self))
        return information_set

    def find(self, events: Iterable[Event]) -> int | None:
        """Return the information set after these events, or None if the game has none."""
        information_set: int | None = 0
        for event in events:
            if information_set is not None:
                information_set = self._successors.get((information_set, event))
        return information_set

    def __len__(self) -> int:
        return len(self._successors) + 1


@dataclass
class Tree:
    """A game tree. Histories are numbered from 0, the root; a child has a higher number than its parent.

    Lists are indexed by history.
    """

    actor: list[Actor | None] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    children: list[range] = field(default_factory=list)
    """The children, in the order of the rules' actions."""
    odds: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """The probabilities of the children, at chance nodes only."""
    score: dict[int, float] = field(default_factory=dict)
    """Player 1's score at terminal histories."""
    information_set: dict[Seat, list[int]] = field(default_factory=lambda: {Seat.ONE: [], Seat.TWO: []})
    """The information set of each seat at each history."""
    information_sets: dict[Seat, InformationSetIndex] = field(
        default_factory=lambda: {seat: InformationSetIndex() for seat in Seat}
    )

    def __len__(self) -> int:
        return len(self.actor)


def check_tree_size(rules: AnyRules) -> int:
    """Return the number of histories. Raises TooLarge if there are more than MAX_HISTORIES."""
    total = 1
    for layer in count_histories(rules):
        for state, count in layer.items():
            total += count * len(rules.actions(state))
            if total > MAX_HISTORIES:
                raise TooLarge(
                    f"{rules.name} has more than {MAX_HISTORIES:,} histories with these options, too many to "
                    "list: choose smaller options, set a limit, or write an oracle for the game."
                )
        if not layer:
            break
    return total


class NodeMatches:
    """The matches of a tree's histories, replayed on demand."""

    def __init__(self, rules: AnyRules, tree: Tree) -> None:
        self._tree = tree
        self._matches: dict[int, AnyMatch] = {0: Match.start(rules)}

    def get_match(self, node: int) -> AnyMatch:
        """Return the match of history `node`."""
        path = []
        while node not in self._matches:
            path.append(node)
            node = self._tree.parent[node]
        match = self._matches[node]
        for child in reversed(path):
            index = self._tree.children[node].index(child)
            assert match.actor is not None
            match = self._matches[child] = match.play(match.actor, match.actions[index])
            node = child
        return match


@dataclass(frozen=True, slots=True)
class _Expansion:
    """A state's successors, computed once for all histories that lead to the state."""

    actor: Actor | None
    odds: tuple[float, ...]
    score: float | None
    successors: list[tuple[Any, dict[Seat, list[Event]]]]
    """The next states, with the events that each seat sees."""


def build_tree(rules: AnyRules, progress: Progress = no_progress) -> Tree:
    """Return the tree of all histories. Raises TooLarge if there are too many."""
    count = check_tree_size(rules)
    tree = Tree(parent=[-1], information_set={Seat.ONE: [0], Seat.TWO: [0]})
    states = [rules.initial()]
    expand = cache(lambda state: _expand(rules, state))
    for node, state in enumerate(states):  # the list grows during the loop
        if node % 10_000 == 0:
            progress(f"{node:,} of {count:,} histories explored")
        expansion = expand(state)
        tree.actor.append(expansion.actor)
        tree.children.append(range(len(states), len(states) + len(expansion.successors)))
        if expansion.odds:
            tree.odds[node] = expansion.odds
        if expansion.score is not None:
            tree.score[node] = expansion.score
        for next_state, events in expansion.successors:
            states.append(next_state)
            tree.parent.append(node)
            for seat, information_sets in tree.information_set.items():
                index = tree.information_sets[seat]
                information_sets.append(index.extend(information_sets[node], events[seat]))
    return tree


def _expand(rules: AnyRules, state: Any) -> _Expansion:
    actor, outcome = rules.actor(state), rules.outcome(state)
    steps = [rules.apply(state, action) for action in rules.actions(state)]
    return _Expansion(
        actor,
        tuple(map(float, rules.odds(state))) if actor is CHANCE else (),
        float(outcome.score(Seat.ONE)) if outcome else None,
        [
            (step.state, {seat: [event for event in step.events if seat in event.seen_by] for seat in Seat})
            for step in steps
        ],
    )
