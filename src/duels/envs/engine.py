"""Engines: a single game, stepped by action numbers. Environments of one game use them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.analysis.grading import set_clock
from duels.core.features import Encoding
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.core.validation import check_int
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
    """One game; seats are 0 and 1. A deep copy or a pickled copy continues like the original."""

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
        """Whether the game was won or drawn, also by its limit if `settings.is_drawn_at_limit`."""
        return self.result != ONGOING

    @abstractmethod
    def reset(self, stream: int) -> None:
        """Start a game. Chance before the first decision draws from this stream of `dice`."""

    @abstractmethod
    def step(self, action: int, chance: int) -> None:
        """Play a legal action, with 32 random bits for the chance that follows."""

    @abstractmethod
    def allows(self, action: int) -> bool:
        """Return whether the action is legal now."""

    @abstractmethod
    def mask(self) -> NDArray[np.int8]:
        """Return a new mask of the legal actions of `next_actor`, even after truncation; indexed [action]."""

    @abstractmethod
    def observe(self, seat: int) -> NDArray[np.int8]:
        """Return a new observation of `seat`, indexed [feature]."""

    def mask_for(self, seat: int) -> NDArray[np.int8]:
        """Return the mask of `seat`, indexed [action]: 1 for legal actions, all 0 on the opponent's turn.

        After truncation, 1 for actions that may be legal next, as far as the seat knows. Learners need this
        mask to estimate the value of the last position.
        """
        if self.actor == seat:
            return self.mask()
        if not self.truncated:
            return np.zeros(self.num_actions, np.int8)
        if self.next_actor != seat and self.rules.has_hidden_information:
            # The opponent's legal actions would reveal hidden information.
            return np.ones(self.num_actions, np.int8)
        return self.mask()


_Branch = tuple[int, Any, int]
"""A possible successor: its cumulative probability times 2**32, the state, and the clock's ticks."""


def _add_bounds(transitions: list[Transition[Any]]) -> list[_Branch]:
    # Rounded up in integers: a product of fractions takes longer than a move.
    totals = accumulate(t.odds for t in transitions)
    bounds = [-(-(total.numerator << 32) // total.denominator) for total in totals]
    return [(bound, t.state, t.ticks) for bound, t in zip(bounds, transitions, strict=True)]


class _Position:
    """A state of the rules. Its observations and successors are computed on first use."""

    def __init__(self, decisions: Decisions[Any, Any, Any], encoding: Encoding, state: Any) -> None:
        self._decisions, self._encoding = decisions, encoding
        self.state = state
        actor = decisions.actor(state)
        self.actor = actor - 1 if actor else NOBODY
        self.result = get_state_result(decisions, state)
        self.legal = decisions.legal(state)
        self.mask = np.zeros(len(decisions.actions), np.int8)
        self.mask[list(self.legal)] = 1
        self._branches: dict[int, list[_Branch]] = {}

    def list_branches(self, action: int) -> list[_Branch]:
        branches = self._branches.get(action)
        if branches is None:
            transitions = self._decisions.transitions(self.state, self.legal[action])
            branches = self._branches[action] = _add_bounds(transitions)
        return branches

    @cached_property
    def observations(self) -> list[NDArray[np.int8]]:
        views = [(self._decisions.rules.view(self.state, seat), seat) for seat in Seat]
        return [np.frombuffer(self._encoding.encode(view, seat), np.int8) for view, seat in views]


class _PositionCache:
    """The positions computed so far, shared by all engines with the same rules."""

    def __init__(self, rules: AnyRules) -> None:
        # Without a limit nobody reads the clock, and counting would slow down every move.
        decisions = self.decisions = Decisions(rules, counts_ticks=rules.limit_value is not None)
        encoding = self.encoding = rules.game.encoding(rules)
        max_positions = min(MAX_POSITIONS, MAX_BYTES // (len(decisions.actions) + 2 * encoding.size))
        self.get = lru_cache(max_positions)(partial(_Position, decisions, encoding))
        self.starts = _add_bounds(decisions.starts)


_get_position_cache = lru_cache(maxsize=16)(_PositionCache)


class RulesEngine(Engine):
    """An engine for any rules and settings. It counts the steps towards the limit in `clock`."""

    def __init__(self, rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> None:
        self.rules = rules
        self.settings = settings
        self._limit_features = encode_limit_left(rules) if settings.is_drawn_at_limit else None
        self._history = EntryHistory(rules, settings.memory, 1) if settings.memory else None
        self._cache = _get_position_cache(rules)
        self._limit = self._cache.decisions.limit
        self.num_actions = len(self._cache.decisions.actions)
        self.observation_size = self._cache.encoding.size + settings.size(rules)
        self.reset(0)

    def reset(self, stream: int) -> None:
        self.clock = 0
        if self._history:
            self._history.clear(slice(None))
        self._take(self._cache.starts, dice.start_bits(stream))

    def step(self, action: int, chance: int) -> None:
        if self._history:
            hidden = self._cache.decisions.hides(self.state, self._position.legal[action])
            self._history.add(np.array([self.actor], np.int8), np.array([action]), np.array([hidden]), None)
        self._take(self._position.list_branches(action), chance)

    def _take(self, branches: list[_Branch], chance: int) -> None:
        """Enter the branch that 32 random bits select."""
        _, state, ticks = next(branch for branch in branches if chance < branch[0])
        self._enter(state, self.clock + ticks)

    def _enter(self, state: Any, clock: int) -> None:
        self.clock = clock
        self._position = position = self._cache.get(state)
        self.actor = self.next_actor = position.actor
        self.result, self.truncated = position.result, False
        if self._limit is None or clock < self._limit or self.actor == NOBODY:
            return
        self.actor = NOBODY
        if self.settings.is_drawn_at_limit:
            self.result, self.next_actor = DRAWN, NOBODY
        else:
            self.truncated = True

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy shares the cache, which is too large to pickle.
        return type(self), (self.rules, self.settings), (self.state, self.clock, self._history)

    def __setstate__(self, saved: tuple[Any, int, EntryHistory | None]) -> None:
        state, clock, self._history = saved
        self._enter(state, clock)

    @property
    def state(self) -> Any:
        """The rules' state, in which the clock is always at the start (see `clock`)."""
        return self._position.state

    def allows(self, action: int) -> bool:
        return action in self._position.legal and self.actor != NOBODY

    def mask(self) -> NDArray[np.int8]:
        return self._position.mask.copy()

    def observe(self, seat: int) -> NDArray[np.int8]:
        parts = [self._position.observations[seat]]
        if self._limit_features is not None:
            parts.append(self._limit_features[-1 - min(self.clock, len(self._limit_features) - 1)])
        if self._history:
            parts.append(self._history.encode(seat)[0])
        return np.concatenate(parts)


def draw_chance(match: AnyMatch, chance: int) -> AnyMatch:
    """Play chance outcomes, drawn from 32 random bits, until the next decision or the end."""
    share = Fraction(chance, 2**32)
    while match.actor is CHANCE:
        # The share selects an outcome. Its relative position within that outcome selects the next one.
        odds = match.rules.odds(match.state)
        index = next(i for i, reached in enumerate(accumulate(odds)) if share < reached)
        share = (share - sum(odds[:index])) / odds[index]
        match = match.play(CHANCE, match.actions[index])
    return match


def make_engine(rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> Engine:
    """Make the fastest engine for `rules`."""
    engine_class = find_kernel(rules, "engine") or RulesEngine
    engine: Engine = engine_class(rules, settings)
    return engine


class GameSession:
    """A game in progress: its engine, its random numbers and the sights of both seats.

    Without hidden information, a sight is made from the engine's state. Otherwise a match replays the game.
    """

    def __init__(self, rules: AnyRules, settings: EnvSettings) -> None:
        self.engine = make_engine(rules, settings)
        self.actions = rules.all_actions()
        self.random_stream: int | None = None
        """Random numbers of the game (see `dice`); None before the first game."""
        self._match: AnyMatch | None = None
        self._start = 0
        self._moves: list[tuple[int, int]] = []
        self._is_open = isinstance(self.engine, RulesEngine) and not rules.has_hidden_information

    def begin(self, seed: int | None, draw_seed: Callable[[], int]) -> None:
        """Start a game. Without a seed, the stream continues; the first game then uses `draw_seed()`.

        Raises DuelsError if the seed is not an integer.
        """
        if seed is not None or self.random_stream is None:
            self.random_stream = dice.stream(draw_seed() if seed is None else check_int("seed", seed))
        elif self.engine.actor != NOBODY:
            self.random_stream = dice.advance(self.random_stream)
        self._start = self.random_stream
        self._match = None
        self._moves.clear()
        self.engine.reset(self.random_stream)

    def roll(self) -> tuple[int, int]:
        """Return 32 random bits for chance and 32 for a player. They do not change until the next move."""
        assert self.random_stream is not None
        return dice.roll(self.random_stream)

    def draw_seat(self) -> int:
        """Return a random seat, 0 or 1, for the agent of the game that starts now."""
        return dice.draw_seat(self._start)

    def play(self, action: int) -> None:
        """Play a legal action and the chance outcomes that follow it."""
        assert self.random_stream is not None
        chance, _ = self.roll()
        self.engine.step(action, chance)
        self.random_stream = dice.advance(self.random_stream)
        if not self._is_open:
            self._moves.append((action, chance))

    def sight(self, seat: int) -> AnySight:
        """Return what `seat` knows of the game."""
        engine, rules = self.engine, self.engine.rules
        if self._is_open:
            assert isinstance(engine, RulesEngine)
            return rules.sight(set_clock(rules, engine.state, engine.clock), Seat(seat + 1))
        match = self._match or draw_chance(Match.start(rules), dice.start_bits(self._start))
        for action, chance in self._moves:
            assert isinstance(match.actor, Seat)
            match = draw_chance(match.play(match.actor, self.actions[action]), chance)
        self._moves.clear()
        self._match = match
        # Without hidden information the history adds nothing to the position, and is slow to collect.
        observer = Seat(seat + 1)
        return match.sight(observer) if rules.has_hidden_information else rules.sight(match.state, observer)
