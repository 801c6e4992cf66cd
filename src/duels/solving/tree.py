"""The game tree: every history, with the information set of each seat.

In games with hidden information, histories of one state can belong to different information sets.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from duels.core.errors import TooLarge
from duels.core.explore import count_histories
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, Actor, AnyRules, Event, Seat
from duels.solving.progress import Progress, no_progress

MAX_HISTORIES = 400_000
"""The maximum number of histories: each takes memory, and time in every iteration."""


class InformationSetIndex:
    """The information sets of one seat: one number per sequence of events that it can see."""

    def __init__(self) -> None:
        self._events: dict[Event, int] = {}
        self._extensions: dict[tuple[int, int], int] = {}

    def number_events(self, events: Iterable[Event]) -> tuple[int, ...]:
        """Return the numbers of events, for `extend`."""
        return tuple([self._events.setdefault(event, len(self._events)) for event in events])

    def extend(self, information_set: int, events: tuple[int, ...]) -> int:
        """Return the information set after more events."""
        for event in events:
            information_set = self._extensions.setdefault((information_set, event), len(self._extensions) + 1)
        return information_set

    def find(self, events: Iterable[Event]) -> int | None:
        """Return the information set after these events, or None if the game has none."""
        information_set: int | None = 0
        for event in events:
            if information_set is None or event not in self._events:
                return None
            information_set = self._extensions.get((information_set, self._events[event]))
        return information_set

    def __len__(self) -> int:
        return len(self._extensions) + 1


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
    """At chance nodes, aligned with `children`."""
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


@dataclass(slots=True)
class _Position:
    """A state and its successors, computed once for all histories that lead there."""

    state: Any
    actor: Actor | None
    odds: tuple[float, ...]
    score: float | None
    steps: "list[tuple[_Position, tuple[int, ...], tuple[int, ...]]] | None" = None
    """The successors, with the events that each seat sees."""


def build_tree(rules: AnyRules, progress: Progress = no_progress) -> Tree:
    """Return the tree of all histories. Raises TooLarge if there are too many."""
    count = check_tree_size(rules)
    tree = Tree()
    explorer = _Explorer(rules, tree)
    positions = [explorer.position(rules.initial())]
    tree.parent.append(-1)
    one, two = tree.information_set.values()
    extend_one, extend_two = (index.extend for index in tree.information_sets.values())
    one.append(0)
    two.append(0)
    for node, position in enumerate(positions):  # grows while it is read
        if node % 10_000 == 0:
            progress(f"{node:,} of {count:,} histories explored")
        steps = explorer.steps(position) if position.steps is None else position.steps
        tree.actor.append(position.actor)
        tree.children.append(range(len(positions), len(positions) + len(steps)))
        if position.odds:
            tree.odds[node] = position.odds
        if position.score is not None:
            tree.score[node] = position.score
        for child, seen_by_one, seen_by_two in steps:
            positions.append(child)
            tree.parent.append(node)
            one.append(extend_one(one[node], seen_by_one))
            two.append(extend_two(two[node], seen_by_two))
    return tree


class _Explorer:
    def __init__(self, rules: AnyRules, tree: Tree) -> None:
        self._rules = rules
        self._indexes = tree.information_sets
        self._positions: dict[Hashable, _Position] = {}

    def position(self, state: Any) -> _Position:
        if state not in self._positions:
            rules = self._rules
            actor, outcome = rules.actor(state), rules.outcome(state)
            odds = tuple(map(float, rules.odds(state))) if actor is CHANCE else ()
            score = float(outcome.score(Seat.ONE)) if outcome else None
            self._positions[state] = _Position(state, actor, odds, score)
        return self._positions[state]

    def steps(self, position: _Position) -> list[tuple[_Position, tuple[int, ...], tuple[int, ...]]]:
        position.steps = []
        for action in self._rules.actions(position.state):
            step = self._rules.apply(position.state, action)
            seen_by_one, seen_by_two = (
                self._indexes[seat].number_events(event for event in step.events if seat in event.seen_by)
                for seat in Seat
            )
            position.steps.append((self.position(step.state), seen_by_one, seen_by_two))
        return position.steps
