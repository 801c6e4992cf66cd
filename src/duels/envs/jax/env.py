"""The base class of JAX environments: turns, rewards, limits and illegal actions, as in Pgx.

Everything here is for one game and has static shapes; there are no callbacks to the host.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from duels.core.errors import DuelsError
from duels.core.rules import AnyRules, Seat
from duels.core.svg import WIDTH
from duels.envs.jax.chance import Purpose, pick, random_bits
from duels.envs.jax.state import State
from duels.envs.settings import EnvSettings, FeatureNames, encode_limit_left
from duels.envs.versions import LATEST
from duels.solving.tables import ONGOING, POINTS

Step = Callable[..., State]


class StepStatus(NamedTuple):
    """The seat to move and the result of a position."""

    seat: Any
    """The seat to move, 0 or 1; undefined after the end."""
    result: Any
    """ONGOING, FIRST_WON, SECOND_WON or DRAWN (see `solving.tables`)."""


class Env(FeatureNames, ABC):
    """A game as pure functions, with Pgx's interface.

    A step after the end changes nothing and has no rewards. An illegal action loses the game.
    """

    has_chance: bool
    """Whether a step needs a key."""
    begins_by_chance = False
    """Whether chance comes before the first decision."""

    def __init__(self, rules: AnyRules, settings: EnvSettings) -> None:
        self.rules = rules
        self.settings = settings
        self._limit = rules.limit_value
        self._left = encode_limit_left(rules).astype(bool) if settings.is_limit_draw else None
        self._hash = hash((rules, settings))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rules, self.settings)  # tables are not copied

    def __eq__(self, other: object) -> bool:
        # JAX compares the static fields of states, this one among them, at every call.
        if self is other:
            return True
        return isinstance(other, Env) and (self.rules, self.settings) == (other.rules, other.settings)

    def __hash__(self) -> int:
        return self._hash

    # -- what a subclass implements ----------------------------------------------------------------

    @abstractmethod
    def _begin(self, bits: Any) -> Any:
        """Return the first position; `bits` are 32 random bits, or None if no chance precedes it."""

    @abstractmethod
    def _play(self, position: Any, action: Any, bits: Any) -> tuple[Any, Any]:
        """Return the position after a legal action and the clock's ticks; `bits` are 32 random bits.

        The result is undefined if the action is illegal or the game is over.
        """

    @abstractmethod
    def _status(self, position: Any) -> StepStatus:
        """Return the seat to move and the result."""

    @abstractmethod
    def _legal(self, position: Any) -> Any:
        """[action] the legal actions of the seat to move."""

    @abstractmethod
    def _features(self, position: Any, seat: Any) -> Any:
        """[feature] the game's features for a seat."""

    @abstractmethod
    def rules_state(self, position: Any) -> Any:
        """Return the rules' state of a position; not for compiled code."""

    # -- Pgx's interface ---------------------------------------------------------------------------

    def init(self, key: Any) -> State:
        """Start a game; the key draws who moves first, and chance before the first decision."""
        return self._with_observation(self._fresh(key), False)

    def step(self, state: State, action: Any, key: Any = None) -> State:
        """Play an action of the current player; the key draws the chance that follows.

        Raises DuelsError without a key in a game with chance.
        """
        after = self._advance(state, action, key)
        return self._with_observation(after, after.terminated)

    def observe(self, state: State, player_id: Any = None) -> Any:
        """Return the observation of a player, by default the current one."""
        player = state.current_player if player_id is None else jnp.asarray(player_id, jnp.int32)
        features = self._features(state._position, player ^ state._first)
        if self._left is None or self._limit is None:
            return features
        return jnp.concatenate([features, jnp.asarray(self._left)[self._limit - state._clock]])

    @property
    def id(self) -> str:
        """The game's name."""
        return self.rules.name

    @property
    def version(self) -> str:
        """The version of the environment."""
        return f"v{LATEST}"

    @property
    def num_players(self) -> int:
        """The number of players."""
        return 2

    @property
    def num_actions(self) -> int:
        """The number of actions, legal or not."""
        return len(self.rules.all_actions())

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        return (len(self.feature_names),)

    def draw(self, state: State) -> str:
        """Draw the board with the secrets of both seats; the boards of a batch are stacked."""
        position = jax.tree.map(np.asarray, state._position)
        games = [
            jax.tree.map(lambda part, at=at: part[at], position)
            for at in np.ndindex(state.current_player.shape)
        ]
        return _draw_boards(self.rules, [self.rules_state(game) for game in games])

    # -- how a step is made ------------------------------------------------------------------------

    def _fresh(self, key: Any) -> State:
        """Return the first state, without observation and mask."""
        first = pick(random_bits(key, Purpose.FIRST), 2)
        position = self._begin(random_bits(key, Purpose.START) if self.begins_by_chance else None)
        no = jnp.bool_(False)
        return State(
            current_player=self._status(position).seat ^ first,
            observation=None,
            rewards=jnp.zeros(2, jnp.float32),
            terminated=no,
            truncated=no,
            legal_action_mask=None,
            _step_count=jnp.int32(0),
            _position=position,
            _clock=None if self._limit is None else jnp.int32(0),
            _first=first,
            _env=self,
        )

    def _advance(self, state: State, action: Any, key: Any) -> State:
        """Return the state after an action, without observation and mask."""
        if key is None and self.has_chance:
            raise DuelsError(f"{self.rules.name} has chance: call step(state, action, key).")
        bits = random_bits(key, Purpose.STEP) if self.has_chance else None
        action = jnp.asarray(action, jnp.int32)
        over = state.terminated | state.truncated
        known = (action >= 0) & (action < self.num_actions)
        illegal = ~over & ~(known & state.legal_action_mask[action])
        plays = ~over & ~illegal
        moved, ticks = self._play(state._position, action, bits)
        position = _where(plays, moved, state._position)
        status = self._status(position)
        mover, first = state.current_player, state._first
        ended = ~over & (illegal | (status.result != ONGOING))
        by_seat = jnp.asarray(POINTS)[status.result + 1]
        points = jnp.where(first == 0, by_seat, by_seat[::-1])
        lost = jnp.where(jnp.arange(2) == mover, -1.0, 1.0).astype(jnp.float32)
        rewards = jnp.where(illegal, lost, jnp.where(ended, points, 0.0))
        clock, cut = state._clock, jnp.bool_(False)
        if self._limit is not None:
            clock = clock + jnp.where(plays, ticks, 0)
            cut = plays & ~ended & (clock >= self._limit)
        if self.settings.is_limit_draw:
            ended, cut = ended | cut, jnp.bool_(False)
        player = jnp.where(ended, 1 - mover, status.seat ^ first)
        return state.replace(
            current_player=jnp.where(over, mover, player),
            rewards=rewards,
            terminated=state.terminated | ended,
            truncated=state.truncated | cut,
            _step_count=state._step_count + ~over,
            _position=position,
            _clock=clock,
        )

    def _with_observation(self, state: State, terminated: Any) -> State:
        return state.replace(
            observation=self.observe(state),
            legal_action_mask=self._legal(state._position) | terminated,
        )

    def _step_and_reset(self, state: State, action: Any, key: Any) -> State:
        """Step and reset as `auto_reset` does, with one observation."""
        no = jnp.bool_(False)
        # One key serves both: each purpose gets its own bits.
        after = self._advance(state.replace(terminated=no, truncated=no), action, key)
        over = after.terminated | after.truncated
        fresh = self._fresh(key)
        after = after.replace(observation=None, legal_action_mask=None)
        result = {name: getattr(after, name) for name in ("rewards", "terminated", "truncated")}
        return self._with_observation(_where(over, fresh, after).replace(**result), False)


def auto_reset(step: Step, init: Step) -> Step:
    """Return a step that restarts ended games at once, like `pgx.experimental.auto_reset`.

    `rewards`, `terminated` and `truncated` describe the game that ended, all other fields the new one.
    Raises DuelsError unless both functions belong to one environment.
    """
    env = getattr(step, "__self__", None)
    if not isinstance(env, Env) or step != env.step or init != env.init:
        raise DuelsError("auto_reset takes the functions of one environment: auto_reset(env.step, env.init).")
    return env._step_and_reset


def _where(condition: Any, this: Any, that: Any) -> Any:
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), this, that)


def _draw_boards(rules: AnyRules, states: Sequence[Any]) -> str:
    drawing = rules.game.drawing(rules)
    drawn, top = [], 0
    for state in states:
        board = drawing.open_picture(*(rules.sight(state, seat) for seat in Seat))
        drawn.append(f'<svg y="{top}" width="{WIDTH}" height="{board.height}">{board}</svg>')
        top += board.height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}">{"".join(drawn)}</svg>'
