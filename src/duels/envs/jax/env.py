"""What all JAX environments have in common: turns, rewards, limits and illegal actions, as Pgx has them.

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
from duels.envs.form import Form, Named, left_shown
from duels.envs.jax.chance import Purpose, random_bits, share
from duels.envs.jax.state import State
from duels.envs.versions import LATEST
from duels.solving.tables import ONGOING, POINTS

Step = Callable[..., State]


class StepStatus(NamedTuple):
    """How a position stands."""

    seat: Any
    """Who is to move, 0 or 1; anything once the game is over."""
    result: Any
    """ONGOING, FIRST_WON, SECOND_WON or DRAWN (see `solving.tables`)."""


class Env(Named, ABC):
    """A game as pure functions, with Pgx's interface.

    A step after the end changes nothing and gives no rewards. An illegal action loses the game at once.
    """

    has_chance: bool
    """Whether a step needs a key."""
    begins_by_chance = False
    """Whether chance comes before the first decision."""

    def __init__(self, rules: AnyRules, form: Form) -> None:
        self.rules = rules
        self.form = form
        self._limit = rules.limit_value
        self._left = left_shown(rules).astype(bool) if form.is_limit_draw else None
        self._hash = hash((rules, form))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rules, self.form)  # what is worked out from the rules is not copied

    def __eq__(self, other: object) -> bool:
        # States hold their environment, and are compared with every call of a compiled function.
        if self is other:
            return True
        return isinstance(other, Env) and (self.rules, self.form) == (other.rules, other.form)

    def __hash__(self) -> int:
        return self._hash

    # -- what a kind of environment has to say -----------------------------------------------------

    @abstractmethod
    def _begin(self, bits: Any) -> Any:
        """The position that a game begins with, by 32 random bits if it begins by chance, else None."""

    @abstractmethod
    def _play(self, position: Any, action: Any, bits: Any) -> tuple[Any, Any]:
        """The position after a legal action, by 32 random bits where it leaves something to chance.

        And how far the clock goes on. Anything if the action is not legal, or the game over.
        """

    @abstractmethod
    def _standing(self, position: Any) -> StepStatus:
        """How a position stands."""

    @abstractmethod
    def _legal(self, position: Any) -> Any:
        """[action] what the seat to move may do."""

    @abstractmethod
    def _features(self, position: Any, seat: Any) -> Any:
        """[number] what a seat is shown by the game's features."""

    @abstractmethod
    def rules_state(self, position: Any) -> Any:
        """The rules' own state of a position, outside of compiled code."""

    # -- Pgx's interface ---------------------------------------------------------------------------

    def init(self, key: Any) -> State:
        """A game that begins; the key draws who moves first, and chance before the first decision."""
        return self._shown(self._fresh(key), False)

    def step(self, state: State, action: Any, key: Any = None) -> State:
        """Play an action of the current player; chance, if there is any, falls by the key."""
        after = self._advance(state, action, key)
        return self._shown(after, after.terminated)

    def observe(self, state: State, player_id: Any = None) -> Any:
        """What a player is shown, by default the current one: nothing that its seat may not know."""
        player = state.current_player if player_id is None else jnp.asarray(player_id, jnp.int32)
        shown = self._features(state._position, player ^ state._first)
        if self._left is None or self._limit is None:
            return shown
        return jnp.concatenate([shown, jnp.asarray(self._left)[self._limit - state._clock]])

    @property
    def id(self) -> str:
        """What `make` calls the game."""
        return self.rules.name

    @property
    def version(self) -> str:
        """The version of its behaviour."""
        return f"v{LATEST}"

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return 2

    @property
    def num_actions(self) -> int:
        """How many actions there are, legal or not."""
        return len(self.rules.all_actions())

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        return (len(self.feature_names),)

    def draw(self, state: State) -> str:
        """The board of a state, or those of a batch under one another, with the secrets of both seats."""
        position = jax.tree.map(np.asarray, state._position)
        games = [
            jax.tree.map(lambda part, at=at: part[at], position)
            for at in np.ndindex(state.current_player.shape)
        ]
        return _draw_boards(self.rules, [self.rules_state(game) for game in games])

    # -- how a step is made ------------------------------------------------------------------------

    def _fresh(self, key: Any) -> State:
        """A game that begins, not looked at yet."""
        first = share(random_bits(key, Purpose.FIRST), 2)
        position = self._begin(random_bits(key, Purpose.START) if self.begins_by_chance else None)
        no = jnp.bool_(False)
        return State(
            current_player=self._standing(position).seat ^ first,
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
        """The state after an action, not looked at yet."""
        if key is None and self.has_chance:
            raise DuelsError(f"Chance falls by a key in {self.rules.name}: step(state, action, key).")
        bits = random_bits(key, Purpose.STEP) if self.has_chance else None
        action = jnp.asarray(action, jnp.int32)
        over = state.terminated | state.truncated
        known = (action >= 0) & (action < self.num_actions)
        illegal = ~over & ~(known & state.legal_action_mask[action])
        plays = ~over & ~illegal
        moved, ticks = self._play(state._position, action, bits)
        position = _where(plays, moved, state._position)
        standing = self._standing(position)
        mover, first = state.current_player, state._first
        ended = ~over & (illegal | (standing.result != ONGOING))
        by_seat = jnp.asarray(POINTS)[standing.result + 1]
        points = jnp.where(first == 0, by_seat, by_seat[::-1])
        lost = jnp.where(jnp.arange(2) == mover, -1.0, 1.0).astype(jnp.float32)
        rewards = jnp.where(illegal, lost, jnp.where(ended, points, 0.0))
        clock, cut = state._clock, jnp.bool_(False)
        if self._limit is not None:
            clock = clock + jnp.where(plays, ticks, 0)
            cut = plays & ~ended & (clock >= self._limit)
        if self.form.is_limit_draw:
            ended, cut = ended | cut, jnp.bool_(False)
        player = jnp.where(ended, 1 - mover, standing.seat ^ first)
        return state.replace(
            current_player=jnp.where(over, mover, player),
            rewards=rewards,
            terminated=state.terminated | ended,
            truncated=state.truncated | cut,
            _step_count=state._step_count + ~over,
            _position=position,
            _clock=clock,
        )

    def _shown(self, state: State, terminated: Any) -> State:
        """The state with what its current player is shown and may do."""
        return state.replace(
            observation=self.observe(state),
            legal_action_mask=self._legal(state._position) | terminated,
        )

    def _step_and_reset(self, state: State, action: Any, key: Any) -> State:
        """What `auto_reset` does, looking once at what it comes to."""
        no = jnp.bool_(False)
        # One key will do for both: bits for another purpose are other bits.
        after = self._advance(state.replace(terminated=no, truncated=no), action, key)
        over = after.terminated | after.truncated
        fresh = self._fresh(key)
        after = after.replace(observation=None, legal_action_mask=None)
        told = {name: getattr(after, name) for name in ("rewards", "terminated", "truncated")}
        return self._shown(_where(over, fresh, after).replace(**told), False)


def auto_reset(step: Step, init: Step) -> Step:
    """A step that begins a new game at once where one ends, as `pgx.experimental.auto_reset` makes it.

    `rewards`, `terminated` and `truncated` are then those of the game that ended, all else is of the new one.
    """
    env = getattr(step, "__self__", None)
    if not isinstance(env, Env) or step != env.step or init != env.init:
        raise DuelsError("auto_reset takes the functions of one environment: auto_reset(env.step, env.init).")
    return env._step_and_reset


def _where(condition: Any, this: Any, that: Any) -> Any:
    """One of two trees of arrays."""
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), this, that)


def _draw_boards(rules: AnyRules, states: Sequence[Any]) -> str:
    """Draw the boards of states under one another, with the secrets of both seats, as one `<svg>` element."""
    drawing = rules.game.drawing(rules)
    drawn, top = [], 0
    for state in states:
        board = drawing.open_picture(*(rules.sight(state, seat) for seat in Seat))
        drawn.append(f'<svg y="{top}" width="{WIDTH}" height="{board.height}">{board}</svg>')
        top += board.height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}">{"".join(drawn)}</svg>'
