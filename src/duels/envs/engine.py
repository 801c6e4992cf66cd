"""One game stepped quickly by integers: what the environments of a single game run on.

Every position that is met is worked out from the rules once and then remembered.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.match import Match
from duels.core.rules import CHANCE, Rules, Seat, Sight
from duels.envs.kernels import kernel_of
from duels.games import find_game
from duels.solving.decisions import Decisions

NOBODY = -1
# Beyond so many positions, or bytes shown of them, memory matters more than speed.
MOST_REMEMBERED = 100_000
MOST_BYTES = 1 << 28


class Engine(ABC):
    """A game under way; seats are 0 and 1."""

    num_actions: int
    observation_size: int
    actor: int
    """Who is to move; NOBODY when the game is over."""
    winner: int
    """Who has won; NOBODY while the game goes on or when it was cut off."""
    truncated: bool

    @abstractmethod
    def reset(self) -> None:
        """Go to the start of a game."""

    @abstractmethod
    def step(self, action: int, chance: int) -> None:
        """Play a legal action, with 32 random bits for what it leaves to chance."""

    @abstractmethod
    def allows(self, action: int) -> bool:
        """Whether the seat to move may take the action."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """[action] 1 where the seat to move may take the action; a new array."""

    @abstractmethod
    def observe(self, seat: int) -> NDArray[np.int8]:
        """What `seat` is shown; a new array."""


class _Node:
    """A position: what both seats are shown of it, and where moves lead, each once it was asked for."""

    __slots__ = ("actor", "after", "legal", "mask", "shown", "state", "winner")

    def __init__(self, decisions: Decisions[Any, Any, Any], state: Any) -> None:
        self.state = state
        actor = decisions.actor(state)
        outcome = None if actor else decisions.rules.outcome(state)
        self.actor = actor - 1 if actor else NOBODY
        self.winner = outcome.winner - 1 if outcome and outcome.winner else NOBODY
        self.legal = decisions.legal(state)
        self.mask = np.zeros(len(decisions.actions), np.int8)
        self.mask[list(self.legal)] = 1
        self.shown: list[NDArray[np.int8] | None] = [None, None]
        self.after: dict[int, list[tuple[int, _Node, int]]] = {}


class _Map:
    """The positions of one set of rules that have been met so far, shared by all who play by them."""

    def __init__(self, rules: Rules[Any, Any, Any]) -> None:
        self.decisions = Decisions(rules)
        self.encoding = find_game(rules.name).encoding(rules)
        self.nodes: dict[Any, _Node] = {}
        shown = len(self.decisions.actions) + 2 * self.encoding.size
        self.most = min(MOST_REMEMBERED, MOST_BYTES // shown)
        self.start = self._node(self.decisions.initial)

    def _node(self, state: Any) -> _Node:
        node = self.nodes.get(state)
        if node is None:
            if len(self.nodes) >= self.most:
                self.nodes.clear()
                self.start.after.clear()
            node = self.nodes[state] = _Node(self.decisions, state)
        return node

    def after(self, node: _Node, action: int) -> list[tuple[int, _Node, int]]:
        """Every way `action` can turn out: the 32-bit number below which it does, the position, the ticks."""
        ways = node.after.get(action)
        if ways is None:
            found = self.decisions.ways(node.state, node.legal[action])
            # Fractions are slow, and most moves leave nothing to chance.
            bounds = [1 << 32] if len(found) == 1 else _bounds([way.odds for way in found])
            ways = [
                (bound, self._node(way.state), way.ticks) for bound, way in zip(bounds, found, strict=True)
            ]
            node.after[action] = ways
        return ways

    def show(self, node: _Node, seat: int) -> NDArray[np.int8]:
        """What `seat` is shown of a position, worked out anew."""
        view = self.decisions.rules.view(node.state, Seat(seat + 1))
        shown = node.shown[seat] = np.frombuffer(self.encoding.encode(view, Seat(seat + 1)), np.int8)
        return shown


def _bounds(odds: list[Fraction]) -> list[int]:
    """The 32-bit numbers below which each outcome, or one before it, falls."""
    return [ceil(reached * 2**32) for reached in accumulate(odds)]


_map_of = lru_cache(maxsize=16)(_Map)


class RulesEngine(Engine):
    """A game by its rules; the limit, if there is one, is counted here."""

    def __init__(self, rules: Rules[Any, Any, Any]) -> None:
        self.rules = rules
        self._map = _map_of(rules)
        self._limit = self._map.decisions.limit
        self.num_actions = len(self._map.decisions.actions)
        self.observation_size = self._map.encoding.size
        self.reset()

    def reset(self) -> None:
        self._clock = 0
        self._enter(self._map.start)
        self.truncated = False

    def _enter(self, node: _Node) -> None:
        self._node = node
        self.actor = node.actor
        self.winner = node.winner

    def step(self, action: int, chance: int) -> None:
        ways = self._node.after.get(action) or self._map.after(self._node, action)
        below, node, ticks = ways[0]
        if chance >= below:
            below, node, ticks = next(way for way in ways if chance < way[0])
        self._enter(node)
        if ticks and self._limit is not None:
            self._clock += ticks
            if self._clock >= self._limit and node.actor != NOBODY:
                self.truncated = True
                self.actor = NOBODY

    def allows(self, action: int) -> bool:
        return action in self._node.legal and not self.truncated

    def mask(self) -> NDArray[np.int8]:
        if self.truncated:
            return np.zeros(self.num_actions, np.int8)
        return self._node.mask.copy()

    def observe(self, seat: int) -> NDArray[np.int8]:
        shown = self._node.shown[seat]
        return (self._map.show(self._node, seat) if shown is None else shown).copy()


class MatchEngine(Engine):
    """A game as a match, with all its history: slower, for whoever needs sights of it."""

    def __init__(self, rules: Rules[Any, Any, Any]) -> None:
        self.rules = rules
        self._actions = rules.all_actions()
        self._number = {action: number for number, action in enumerate(self._actions)}
        self._encoding = find_game(rules.name).encoding(rules)
        self.num_actions = len(self._actions)
        self.observation_size = self._encoding.size
        self.reset()

    def reset(self) -> None:
        self.match = Match.start(self.rules)
        self._look()

    def _look(self) -> None:
        actor, outcome = self.match.actor, self.match.outcome
        self.actor = actor - 1 if isinstance(actor, Seat) else NOBODY
        self.winner = outcome.winner - 1 if outcome and outcome.winner else NOBODY
        self.truncated = outcome is not None and outcome.truncated

    def step(self, action: int, chance: int) -> None:
        actor = self.match.actor
        assert isinstance(actor, Seat)
        self.match = self.match.play(actor, self._actions[action])
        share = Fraction(chance, 2**32)
        while self.match.actor is CHANCE:
            # The number that fell lies in one outcome's share of the whole; what is left of it decides on.
            for outcome, odds in zip(self.match.actions, self.rules.odds(self.match.state), strict=True):
                if share < odds:
                    self.match, share = self.match.play(CHANCE, outcome), share / odds
                    break
                share -= odds
        self._look()

    def action(self, number: int) -> Any:
        """The action of the rules that goes by an integer."""
        return self._actions[number]

    def number(self, action: Any) -> int:
        """The integer of an action of the rules."""
        return self._number[action]

    def sight(self, seat: int) -> Sight[Any, Any]:
        """What `seat` knows now; where nothing is hidden, the position without what led to it."""
        if self.rules.has_secrets:
            return self.match.sight(Seat(seat + 1))
        # A long history takes long to gather, and says nothing that the position does not.
        return self.rules.sight(self.match.state, Seat(seat + 1))

    def allows(self, action: int) -> bool:
        return 0 <= action < self.num_actions and self._actions[action] in self.match.actions

    def mask(self) -> NDArray[np.int8]:
        mask = np.zeros(self.num_actions, np.int8)
        mask[[self._number[action] for action in self.match.actions]] = 1
        return mask

    def observe(self, seat: int) -> NDArray[np.int8]:
        shown = self._encoding.encode(self.rules.view(self.match.state, Seat(seat + 1)), Seat(seat + 1))
        return np.frombuffer(shown, np.int8).copy()


def make_engine(rules: Rules[Any, Any, Any]) -> Engine:
    """The quickest way to play one game of `rules`."""
    kernel = kernel_of(rules.name, "engine")
    engine: Engine = kernel.ENGINE(rules) if kernel else RulesEngine(rules)
    return engine
