"""A game written out as a tree: every history, and for each seat what it has seen there.

For games with secrets, where one state can be reached by histories that a seat can tell apart.
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
"""A game with more histories than this is refused: each takes memory, and time in every iteration."""


class InformationSetIndex:
    """All that one seat can have seen, each sequence of events under a number; 0 is nothing yet."""

    def __init__(self) -> None:
        self._events: dict[Event, int] = {}
        self._longer: dict[tuple[int, int], int] = {}

    def note(self, events: Iterable[Event]) -> tuple[int, ...]:
        """Events as `extend` takes them."""
        return tuple([self._events.setdefault(event, len(self._events)) for event in events])

    def extend(self, memory: int, noted: tuple[int, ...]) -> int:
        """The number of `memory` with more events seen."""
        for event in noted:
            memory = self._longer.setdefault((memory, event), len(self._longer) + 1)
        return memory

    def find(self, events: Iterable[Event]) -> int | None:
        """The number of what was seen; None if it cannot be seen in this game."""
        memory: int | None = 0
        for event in events:
            if memory is None or event not in self._events:
                return None
            memory = self._longer.get((memory, self._events[event]))
        return memory

    def __len__(self) -> int:
        return len(self._longer) + 1


@dataclass
class Tree:
    """Histories have numbers, from 0 for the opening, each higher than the one it continues.

    Lists are aligned with them.
    """

    actor: list[Actor | None] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    children: list[range] = field(default_factory=list)
    """The histories one entry longer, in the order of the rules' actions."""
    odds: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """At chance nodes, aligned with `children`."""
    score: dict[int, float] = field(default_factory=dict)
    """Where the game is over: what it was worth to player 1."""
    memory: dict[Seat, list[int]] = field(default_factory=lambda: {Seat.ONE: [], Seat.TWO: []})
    """The number in `memories` of what the seat has seen."""
    memories: dict[Seat, InformationSetIndex] = field(
        default_factory=lambda: {seat: InformationSetIndex() for seat in Seat}
    )

    def __len__(self) -> int:
        return len(self.actor)


def check_tree_size(rules: AnyRules) -> int:
    """How many histories there are; TooLarge, before any long work, if more than MOST_HISTORIES."""
    found = 1
    for layer in count_histories(rules):
        for state, ways in layer.items():
            found += ways * len(rules.actions(state))
            if found > MAX_HISTORIES:  # known before they are listed
                raise TooLarge(
                    f"{rules.name} can go more than {MAX_HISTORIES:,} ways with these options, too many to "
                    "be listed: choose smaller ones, set a limit, or write the game an oracle."
                )
        if not layer:
            break
    return found


class NodeMatches:
    """The matches that are histories of a tree, worked out as they are asked for."""

    def __init__(self, rules: AnyRules, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[int, AnyMatch] = {0: Match.start(rules)}

    def at(self, node: int) -> AnyMatch:
        """The match that is history `node`."""
        way = []
        while node not in self._known:
            way.append(node)
            node = self._tree.parent[node]
        match = self._known[node]
        for after in reversed(way):
            place = self._tree.children[node].index(after)
            assert match.actor is not None
            match = self._known[after] = match.play(match.actor, match.actions[place])
            node = after
        return match


@dataclass(slots=True)
class _Position:
    """A state with what follows from it: worked out once, however many histories lead there."""

    state: Any
    actor: Actor | None
    odds: tuple[float, ...]
    score: float | None
    steps: "list[tuple[_Position, tuple[int, ...], tuple[int, ...]]] | None" = None
    """What may come next, and what either seat sees of it."""


def build_tree(rules: AnyRules, progress: Progress = no_progress) -> Tree:
    """The tree of all histories; TooLarge if they are too many."""
    count = check_tree_size(rules)
    tree = Tree()
    explorer = _Explorer(rules, tree)
    at = [explorer.position(rules.initial())]
    tree.parent.append(-1)
    one, two = tree.memory.values()
    recall_one, recall_two = (memories.extend for memories in tree.memories.values())
    one.append(0)
    two.append(0)
    for node, position in enumerate(at):  # grows while it is read
        if node % 10_000 == 0:
            progress(f"{node:,} of {count:,} histories walked through")
        steps = explorer.steps(position) if position.steps is None else position.steps
        tree.actor.append(position.actor)
        tree.children.append(range(len(at), len(at) + len(steps)))
        if position.odds:
            tree.odds[node] = position.odds
        if position.score is not None:
            tree.score[node] = position.score
        for after, seen_by_one, seen_by_two in steps:
            at.append(after)
            tree.parent.append(node)
            one.append(recall_one(one[node], seen_by_one))
            two.append(recall_two(two[node], seen_by_two))
    return tree


class _Explorer:
    def __init__(self, rules: AnyRules, tree: Tree) -> None:
        self._rules = rules
        self._memories = tree.memories
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
                self._memories[seat].note(event for event in step.events if seat in event.seen_by)
                for seat in Seat
            )
            position.steps.append((self.position(step.state), seen_by_one, seen_by_two))
        return position.steps
