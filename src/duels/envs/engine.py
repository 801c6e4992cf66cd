"""Engines: one game stepped by integers, for environments of a single game.

Positions are computed from the rules once and then cached.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.analysis.grading import set_clock
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.envs import dice
from duels.envs.history import EntryHistory
from duels.envs.kernels import find_kernel
from duels.envs.settings import DEFAULT_SETTINGS, Copyable, EnvSettings, encode_limit_left
from duels.solving.decisions import Decisions, Transition
from duels.solving.tables import DRAWN, NOBODY, ONGOING, get_state_result

# Limits of the cache, in positions and in bytes of their observations.
MAX_POSITIONS = 100_000
MAX_BYTES = 1 << 28


class Engine(Copyable, ABC):
    """One game; seats are 0 and 1.

    A copy, pickled or not, continues as the original would. The cache of positions is not copied.
    """

    rules: AnyRules
    settings: EnvSettings = DEFAULT_SETTINGS
    num_actions: int
    observation_size: int
    actor: int
    """The seat to move; NOBODY when the game is over."""
    next_actor: int
    """Like `actor`, but after truncation the seat that would have moved next."""
    result: int
    """ONGOING, FIRST_WON, SECOND_WON or DRAWN (see `solving.tables`); ONGOING also after truncation."""
    truncated: bool
    """Whether a limit truncated the game."""

    @property
    def terminated(self) -> bool:
        """Whether the game was won or drawn, also by its limit if `settings.is_limit_draw`."""
        return self.result != ONGOING

    @abstractmethod
    def reset(self, stream: int) -> None:
        """Start a game; chance before its first decision draws from this stream of `dice`."""

    @abstractmethod
    def step(self, action: int, chance: int) -> None:
        """Play a legal action, with 32 random bits for the chance that follows."""

    @abstractmethod
    def allows(self, action: int) -> bool:
        """Return whether the action is legal now."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """[action] 1 for the legal actions of `next_actor`, ignoring the limit; a new array."""

    @abstractmethod
    def observe(self, seat: int) -> NDArray[np.int8]:
        """[feature] the observation of `seat`; a new array."""

    def mask_for(self, seat: int) -> NDArray[np.int8]:
        """[action] 1 for the actions that an agent at `seat` may take; all 0 on the other's turn.

        After truncation, 1 for the actions that were possible next as far as the seat knows: learners
        bootstrap from there.
        """
        if self.actor == seat:
            return self.mask()
        if not self.truncated:
            return np.zeros(self.num_actions, np.int8)
        if self.next_actor != seat and self.rules.has_secrets:
            return np.ones(
                self.num_actions, np.int8
            )  # the legal actions would reveal where the other seat is
        return self.mask()

    @abstractmethod
    def _position(self) -> Any:
        """Return the position as a value that can be copied."""

    @abstractmethod
    def _place(self, position: Any) -> None:
        """Restore a position returned by `_position`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_engine, (type(self), self.rules, self.settings, self._position())


def _restore_engine(kind: type[Any], rules: AnyRules, settings: EnvSettings, position: Any) -> Engine:
    engine: Engine = kind(rules, settings)
    engine._place(position)
    return engine


class _Node:
    """A position with its observations and successors, which are filled on first use."""

    __slots__ = ("actor", "after", "legal", "mask", "observations", "result", "state")

    def __init__(self, decisions: Decisions[Any, Any, Any], state: Any) -> None:
        self.state = state
        actor = decisions.actor(state)
        self.actor = actor - 1 if actor else NOBODY
        self.result = get_state_result(decisions, state)
        self.legal = decisions.legal(state)
        self.mask = np.zeros(len(decisions.actions), np.int8)
        self.mask[list(self.legal)] = 1
        self.observations: list[NDArray[np.int8] | None] = [None, None]
        self.after: dict[int, list[_Branch]] = {}


_Branch = tuple[int, _Node, int]
"""A possible successor: the 32-bit number below which it is drawn, the position, the clock's ticks."""


class _PositionCache:
    """The positions met so far under one set of rules, shared by all engines of these rules."""

    def __init__(self, rules: AnyRules) -> None:
        # Handling the clock at every move would take longer than the lookup.
        self.decisions = Decisions(rules, clocked=rules.limit_value is not None)
        self.encoding = rules.game.encoding(rules)
        self.nodes: dict[Any, _Node] = {}
        size = len(self.decisions.actions) + 2 * self.encoding.size
        self.max_nodes = min(MAX_POSITIONS, MAX_BYTES // size)
        self.starts: list[_Branch] = []
        self.starts = self._branches(self.decisions.starts)

    def node(self, state: Any) -> _Node:
        node = self.nodes.get(state)
        if node is None:
            if len(self.nodes) >= self.max_nodes:
                self.nodes.clear()
                for _, start, _ in self.starts:
                    start.after.clear()
            node = self.nodes[state] = _Node(self.decisions, state)
        return node

    def _branches(self, transitions: list[Transition[Any]]) -> list[_Branch]:
        # Fractions are slow, and after most moves there is no chance.
        odds = [transition.odds for transition in transitions]
        bounds = [1 << 32] if len(odds) == 1 else _bounds(odds)
        return [(bound, self.node(t.state), t.ticks) for bound, t in zip(bounds, transitions, strict=True)]

    def after(self, node: _Node, action: int) -> list[_Branch]:
        """Return the possible successors of `action`."""
        branches = node.after.get(action)
        if branches is None:
            branches = self._branches(self.decisions.transitions(node.state, node.legal[action]))
            node.after[action] = branches
        return branches

    def hides(self, node: _Node, action: int) -> bool:
        """Return whether `action` is hidden from the other seat."""
        return self.decisions.hides(node.state, node.legal[action])

    def encode(self, node: _Node, seat: int) -> NDArray[np.int8]:
        """Encode a position for `seat` and store the result in the node."""
        view = self.decisions.rules.view(node.state, Seat(seat + 1))
        features = np.frombuffer(self.encoding.encode(view, Seat(seat + 1)), np.int8)
        node.observations[seat] = features
        return features


def _bounds(odds: list[Fraction]) -> list[int]:
    return [ceil(reached * 2**32) for reached in accumulate(odds)]


_get_position_cache = lru_cache(maxsize=16)(_PositionCache)


class RulesEngine(Engine):
    """An engine that follows the rules, with any settings. It counts the limit itself."""

    def __init__(self, rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> None:
        self.rules = rules
        self.settings = settings
        self._plain = settings == DEFAULT_SETTINGS
        self._left = encode_limit_left(rules) if settings.is_limit_draw else None
        self._history = EntryHistory(rules, settings.memory, 1) if settings.memory else None
        self._cache = _get_position_cache(rules)
        self._limit = self._cache.decisions.limit
        self.num_actions = len(self._cache.decisions.actions)
        self.observation_size = self._cache.encoding.size + settings.size(rules)
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._clock = 0
        if self._history:
            self._history.clear(slice(None))
        starts = self._cache.starts
        if len(starts) == 1:
            self._enter(starts[0][1])
        else:
            chance = dice.start_bits(stream)
            self._enter(next(node for below, node, _ in starts if chance < below))
        self.truncated = False

    def _enter(self, node: _Node) -> None:
        self._node = node
        self.actor = self.next_actor = node.actor
        self.result = node.result

    def _position(self) -> Any:
        return self._node.state, self._clock, self._history

    def _place(self, position: Any) -> None:
        state, self._clock, self._history = position
        self.truncated = False
        self._enter(self._cache.node(state))
        self._count(0)

    def step(self, action: int, chance: int) -> None:
        if self._history:
            hidden = self._cache.hides(self._node, action)
            self._history.add(np.array([self.actor], np.int8), np.array([action]), np.array([hidden]), None)
        branches = self._node.after.get(action) or self._cache.after(self._node, action)
        below, node, ticks = branches[0]
        if chance >= below:
            below, node, ticks = next(branch for branch in branches if chance < branch[0])
        self._enter(node)
        if ticks:
            self._count(ticks)

    def _count(self, ticks: int) -> None:
        if self._limit is not None:
            self._clock += ticks
            if self._clock >= self._limit and self.actor != NOBODY:
                self._cut_off()

    def _cut_off(self) -> None:
        self.actor = NOBODY
        if self.settings.is_limit_draw:
            self.result, self.next_actor = DRAWN, NOBODY
        else:
            self.truncated = True

    @property
    def state(self) -> Any:
        """The rules' state, with its clock at the start (see `clock`)."""
        return self._node.state

    @property
    def clock(self) -> int:
        """The count that the limit applies to."""
        return self._clock

    def allows(self, action: int) -> bool:
        return action in self._node.legal and self.actor != NOBODY

    def mask(self) -> NDArray[np.int8]:
        return self._node.mask.copy()

    def observe(self, seat: int) -> NDArray[np.int8]:
        features = self._node.observations[seat]
        if features is None:
            features = self._cache.encode(self._node, seat)
        if self._plain:
            return features.copy()
        parts = [features]
        if self._left is not None:
            parts.append(self._left[-1 - min(self._clock, len(self._left) - 1)])
        if self._history:
            parts.append(self._history.encode(seat)[0])
        return np.concatenate(parts)


def draw_chance(match: AnyMatch, chance: int) -> AnyMatch:
    """Play chance outcomes, drawn from 32 random bits, up to the next decision or the end."""
    share = Fraction(chance, 2**32)
    while match.actor is CHANCE:
        # The bits select an outcome; what is left of them selects the next one.
        odds, place = match.rules.odds(match.state), 0
        while share >= odds[place]:
            share -= odds[place]
            place += 1
        share /= odds[place]
        match = match.play(CHANCE, match.actions[place])
    return match


def make_engine(rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> Engine:
    """Make the fastest engine for `rules`."""
    kernel = find_kernel(rules, "engine")
    engine: Engine = (kernel.ENGINE if kernel else RulesEngine)(rules, settings)
    return engine


class SightTracker:
    """Makes the sights of a running game on request.

    Without secrets, a sight needs only the engine's state. Otherwise the game is replayed as a match.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._actions = engine.rules.all_actions()
        self._match: AnyMatch | None = None
        self._stream = 0
        self._moves: list[tuple[int, int]] = []
        self._is_open = isinstance(engine, RulesEngine) and not engine.rules.has_secrets

    def begin(self, stream: int) -> None:
        """Start a game (see `Engine.reset`)."""
        self._match = None
        self._stream = stream
        self._moves.clear()

    def add(self, action: int, chance: int) -> None:
        """Add a move (see `Engine.step`)."""
        if not self._is_open:
            self._moves.append((action, chance))

    def get(self, seat: int) -> AnySight:
        """Return the sight of `seat`."""
        engine, rules = self._engine, self._engine.rules
        if self._is_open:
            assert isinstance(engine, RulesEngine)
            return rules.sight(set_clock(rules, engine.state, engine.clock), Seat(seat + 1))
        match = self._match or draw_chance(Match.start(rules), dice.start_bits(self._stream))
        for action, chance in self._moves:
            assert isinstance(match.actor, Seat)
            match = draw_chance(match.play(match.actor, self._actions[action]), chance)
        self._moves.clear()
        self._match = match
        # Without secrets the history adds nothing to the position, and is slow to collect.
        return match.sight(Seat(seat + 1)) if rules.has_secrets else rules.sight(match.state, Seat(seat + 1))
