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

from duels.analysis.grading import set_clock
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.envs import dice
from duels.envs.form import PLAIN, Copyable, Form, left_shown
from duels.envs.kernels import kernel_of
from duels.envs.past import Past
from duels.solving.decisions import Decisions, Transition
from duels.solving.tables import DRAWN, NOBODY, ONGOING, get_state_result

# Beyond so many positions, or bytes shown of them, memory matters more than speed.
MOST_REMEMBERED = 100_000
MOST_BYTES = 1 << 28


class Engine(Copyable, ABC):
    """A game under way; seats are 0 and 1.

    A copy, pickled or not, goes on as the original would; what is worked out from the rules is not copied.
    """

    rules: AnyRules
    form: Form = PLAIN
    num_actions: int
    observation_size: int
    actor: int
    """Who is to move; NOBODY when the game is over."""
    next_actor: int
    """Like `actor`, but after truncation the seat that would have moved next."""
    result: int
    """ONGOING, FIRST_WON, SECOND_WON or DRAWN (see `solving.tables`); ONGOING too when it was truncated."""
    truncated: bool
    """Whether a limit has truncated the game."""

    @property
    def terminated(self) -> bool:
        """Whether the game has ended by itself: won or drawn, by its limit too if `form` says so."""
        return self.result != ONGOING

    @abstractmethod
    def reset(self, stream: int) -> None:
        """Begin a game; chance that comes before its first decision draws from this stream of `dice`."""

    @abstractmethod
    def step(self, action: int, chance: int) -> None:
        """Play a legal action, with 32 random bits for what it leaves to chance."""

    @abstractmethod
    def allows(self, action: int) -> bool:
        """Whether the seat to move may take the action."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """[action] 1 where `next_actor` may take the action, were it not for the limit; a new array."""

    @abstractmethod
    def observe(self, seat: int) -> NDArray[np.int8]:
        """What `seat` is shown; a new array."""

    def mask_for(self, seat: int) -> NDArray[np.int8]:
        """[action] 1 where an agent at `seat` may take the action: nothing while it is the other's turn.

        Where a limit has cut the game off, a learner looks ahead from there: 1 where the next action could
        have been this one, as far as the seat knows.
        """
        if self.actor == seat:
            return self.mask()
        if not self.truncated:
            return np.zeros(self.num_actions, np.int8)
        if self.next_actor != seat and self.rules.has_secrets:
            return np.ones(self.num_actions, np.int8)  # what the other may do can tell where it is
        return self.mask()

    @abstractmethod
    def _position(self) -> Any:
        """Where the game is, as something that can be copied."""

    @abstractmethod
    def _place(self, position: Any) -> None:
        """Go to a position that `_position` gave."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _placed, (type(self), self.rules, self.form, self._position())


def _placed(kind: type[Any], rules: AnyRules, form: Form, position: Any) -> Engine:
    engine: Engine = kind(rules, form)
    engine._place(position)
    return engine


class _Node:
    """A position: what both seats are shown of it, and where moves lead, each once it was asked for."""

    __slots__ = ("actor", "after", "legal", "mask", "result", "shown", "state")

    def __init__(self, decisions: Decisions[Any, Any, Any], state: Any) -> None:
        self.state = state
        actor = decisions.actor(state)
        self.actor = actor - 1 if actor else NOBODY
        self.result = get_state_result(decisions, state)
        self.legal = decisions.legal(state)
        self.mask = np.zeros(len(decisions.actions), np.int8)
        self.mask[list(self.legal)] = 1
        self.shown: list[NDArray[np.int8] | None] = [None, None]
        self.after: dict[int, list[_Branch]] = {}


_Branch = tuple[int, _Node, int]
"""What can come of a move: the 32-bit number below which it does, the position, the clock's ticks."""


class _Map:
    """The positions of one set of rules that have been met so far, shared by all who play by them."""

    def __init__(self, rules: AnyRules) -> None:
        # To stop a clock at every move takes longer than to look the move up.
        self.decisions = Decisions(rules, clocked=rules.limit_value is not None)
        self.encoding = rules.game.encoding(rules)
        self.nodes: dict[Any, _Node] = {}
        shown = len(self.decisions.actions) + 2 * self.encoding.size
        self.most = min(MOST_REMEMBERED, MOST_BYTES // shown)
        self.starts: list[_Branch] = []
        self.starts = self._branches(self.decisions.starts)

    def node(self, state: Any) -> _Node:
        """What is known of a position."""
        node = self.nodes.get(state)
        if node is None:
            if len(self.nodes) >= self.most:
                self.nodes.clear()
                for _, start, _ in self.starts:
                    start.after.clear()
            node = self.nodes[state] = _Node(self.decisions, state)
        return node

    def _branches(self, transitions: list[Transition[Any]]) -> list[_Branch]:
        # Fractions are slow, and most moves leave nothing to chance.
        odds = [transition.odds for transition in transitions]
        bounds = [1 << 32] if len(odds) == 1 else _bounds(odds)
        return [(bound, self.node(t.state), t.ticks) for bound, t in zip(bounds, transitions, strict=True)]

    def after(self, node: _Node, action: int) -> list[_Branch]:
        """Everything that can come of `action`."""
        branches = node.after.get(action)
        if branches is None:
            branches = self._branches(self.decisions.transitions(node.state, node.legal[action]))
            node.after[action] = branches
        return branches

    def hides(self, node: _Node, action: int) -> bool:
        """Whether the other seat is not told that the seat to move takes `action`."""
        return self.decisions.hides(node.state, node.legal[action])

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
    """A game by its rules, in any form; the limit, if there is one, is counted here."""

    def __init__(self, rules: AnyRules, form: Form = PLAIN) -> None:
        self.rules = rules
        self.form = form
        self._plain = form == PLAIN
        self._left = left_shown(rules) if form.is_limit_draw else None
        self._past = Past(rules, form.memory, 1) if form.memory else None
        self._map = _map_of(rules)
        self._limit = self._map.decisions.limit
        self.num_actions = len(self._map.decisions.actions)
        self.observation_size = self._map.encoding.size + form.numbers(rules)
        self.reset(0)

    def reset(self, stream: int) -> None:
        self._clock = 0
        if self._past:
            self._past.clear(slice(None))
        starts = self._map.starts
        if len(starts) == 1:
            self._enter(starts[0][1])
        else:
            chance = dice.begin(stream)
            self._enter(next(node for below, node, _ in starts if chance < below))
        self.truncated = False

    def _enter(self, node: _Node) -> None:
        self._node = node
        self.actor = self.next_actor = node.actor
        self.result = node.result

    def _position(self) -> Any:
        return self._node.state, self._clock, self._past

    def _place(self, position: Any) -> None:
        state, self._clock, self._past = position
        self.truncated = False
        self._enter(self._map.node(state))
        self._count(0)

    def step(self, action: int, chance: int) -> None:
        if self._past:
            hidden = self._map.hides(self._node, action)
            self._past.add(np.array([self.actor], np.int8), np.array([action]), np.array([hidden]), None)
        branches = self._node.after.get(action) or self._map.after(self._node, action)
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
        """The limit is reached."""
        self.actor = NOBODY
        if self.form.is_limit_draw:
            self.result, self.next_actor = DRAWN, NOBODY
        else:
            self.truncated = True

    @property
    def state(self) -> Any:
        """The position as the rules have it, but for `clock`, which is at its start there."""
        return self._node.state

    @property
    def clock(self) -> int:
        """What the limit, if there is one, counts."""
        return self._clock

    def allows(self, action: int) -> bool:
        return action in self._node.legal and self.actor != NOBODY

    def mask(self) -> NDArray[np.int8]:
        return self._node.mask.copy()

    def observe(self, seat: int) -> NDArray[np.int8]:
        shown = self._node.shown[seat]
        if shown is None:
            shown = self._map.show(self._node, seat)
        if self._plain:
            return shown.copy()
        parts = [shown]
        if self._left is not None:
            parts.append(self._left[-1 - min(self._clock, len(self._left) - 1)])
        if self._past:
            parts.append(self._past.shown(seat)[0])
        return np.concatenate(parts)


def drawn(match: AnyMatch, chance: int) -> AnyMatch:
    """The match at its next decision or end, by 32 random bits."""
    share = Fraction(chance, 2**32)
    while match.actor is CHANCE:
        # The outcome in whose share of the whole the bits lie; the rest of them decides what comes next.
        odds, place = match.rules.odds(match.state), 0
        while share >= odds[place]:
            share -= odds[place]
            place += 1
        share /= odds[place]
        match = match.play(CHANCE, match.actions[place])
    return match


def make_engine(rules: AnyRules, form: Form = PLAIN) -> Engine:
    """The quickest way to play one game of `rules`."""
    kernel = kernel_of(rules, "engine")
    engine: Engine = (kernel.ENGINE if kernel else RulesEngine)(rules, form)
    return engine


class Sights:
    """Sights of a game under way, made when somebody asks for them.

    Where nothing is hidden and the engine knows the position as the rules have it, that is all it takes.
    Otherwise the game is played once more, as a match, up to where it stands.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._actions = engine.rules.all_actions()
        self._match: AnyMatch | None = None
        self._stream = 0
        self._moves: list[tuple[int, int]] = []
        self._known = isinstance(engine, RulesEngine) and not engine.rules.has_secrets

    def begin(self, stream: int) -> None:
        """A game begins, as `Engine.reset` has it."""
        self._match = None
        self._stream = stream
        self._moves.clear()

    def add(self, action: int, chance: int) -> None:
        """A move is made, as `Engine.step` has it."""
        if not self._known:
            self._moves.append((action, chance))

    def of(self, seat: int) -> AnySight:
        """What `seat` knows now."""
        engine, rules = self._engine, self._engine.rules
        if self._known:
            assert isinstance(engine, RulesEngine)
            return rules.sight(set_clock(rules, engine.state, engine.clock), Seat(seat + 1))
        match = self._match or drawn(Match.start(rules), dice.begin(self._stream))
        for action, chance in self._moves:
            assert isinstance(match.actor, Seat)
            match = drawn(match.play(match.actor, self._actions[action]), chance)
        self._moves.clear()
        self._match = match
        # Where nothing is hidden, the history takes long to gather and adds nothing to the position.
        return match.sight(Seat(seat + 1)) if rules.has_secrets else rules.sight(match.state, Seat(seat + 1))
