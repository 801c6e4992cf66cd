"""JAX environments with Pgx's interface: pure functions for `jit`, `vmap` and `scan`.

As in Pgx, an environment plays one game; use `vmap` for many. The tables are the same as in the other
environments. Pgx is not required.

All functions of an environment take one game, have static shapes and never call the host. In a batch, every
field of a state has one more dimension.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from duels.core.errors import DuelsError, TooLarge, require_extra
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules, Seat
from duels.core.svg import WIDTH
from duels.envs.kernels import find_kernel
from duels.envs.settings import (
    DEFAULT_SETTINGS,
    EnvSettings,
    FeatureNames,
    encode_limit_left,
    make_settings,
    resolve_env_rules,
)
from duels.envs.versions import LATEST
from duels.solving.tables import ONGOING, POINTS, get_tables

with require_extra("jax"):
    import jax
    import jax.numpy as jnp
    import numpy as np

__all__ = ["Env", "State", "auto_reset", "make"]

MAX_OUTCOMES = 2**16  # with more, the products in `pick` overflow 32 bits


@dataclass(frozen=True)
class State:
    """The whole game, including hidden information. Agents may use `observation` and `legal_action_mask`.

    Players are 0 and 1. As in Pgx, the player who moves first is drawn at random.
    """

    current_player: Any
    """The player to move; after the end, the player who did not move last."""
    observation: Any
    """The observation of the current player: zeros and ones."""
    rewards: Any
    """The rewards of the last step, indexed [player]: 1 for a win, -1 for a loss, otherwise 0."""
    terminated: Any
    """Whether the game was won or drawn, or lost by an illegal action."""
    truncated: Any
    """Whether a limit truncated the game."""
    legal_action_mask: Any
    """The legal actions of the current player, indexed [action]; all True after termination."""
    _step_count: Any
    _position: Any
    _clock: Any
    """Steps counted towards the limit, or None without a limit."""
    _first: Any
    """The player who moved first."""
    _discount: Any
    _key: Any
    """The words of the key of `init`, for steps without a key."""
    _env: Any = field(metadata={"static": True})

    def replace(self, **changes: Any) -> "State":
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    @property
    def discount(self) -> Any:
        """The factor that converts the current player's value to the player who made the last step.

        1 if the same player moves again, -1 if the opponent does, 0 after termination and before the first
        step. In chain, hunt and flip a player can move twice in a row, so a learner must not assume -1.
        """
        return self._discount

    @property
    def env_id(self) -> str:
        """The id of the environment."""
        return str(self._env.id)

    def to_svg(self) -> str:
        """Return the board with the hidden information of both seats as SVG, or the boards of a batch."""
        return str(self._env.draw(self))

    def save_svg(self, filename: str | Path) -> None:
        """Write the board to a file."""
        Path(filename).write_text(self.to_svg(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.to_svg()


jax.tree_util.register_dataclass(State)


Step = Callable[..., State]


class Purpose(IntEnum):
    """The purpose of random bits. A key gives different bits for each purpose."""

    STEP = 1
    """Chance after an action."""
    FIRST = 2
    """The player who moves first."""
    START = 3
    """Chance before the first decision."""
    STATE_STEP = 4
    """Chance after an action without a key."""
    STATE_INIT = 5
    """The key of the game after a reset without a key."""


def random_bits(key: Any, purpose: Purpose) -> Any:
    """Return 32 random bits.

    A key is already random, so a short hash of the key and the purpose is enough. JAX's own generator would
    take longer than everything else in a step.
    """
    return _hash_words(jax.random.key_data(key), purpose)


def _hash_words(words: Any, purpose: Purpose) -> Any:
    mixed = jnp.uint32(purpose)
    for word in words:
        mixed = _mix(mixed ^ word)
    return mixed


def pick(bits: Any, count: Any) -> Any:
    """Return a uniformly random number below `count` (at most MAX_OUTCOMES), from 32 random bits."""
    upper, lower = bits >> 16, bits & 0xFFFF
    count = jnp.asarray(count).astype(jnp.uint32)
    return ((upper * count + (lower * count >> 16)) >> 16).astype(jnp.int32)


def _mix(word: Any) -> Any:
    # lowbias32 by C. Wellons, a permutation: every input bit affects every output bit.
    word = (word ^ (word >> 16)) * np.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * np.uint32(0x846CA68B)
    return word ^ (word >> 16)


class StepStatus(NamedTuple):
    """The seat to move and the result of a position."""

    seat: Any
    """The seat to move, 0 or 1; undefined after the end."""
    result: Any
    """ONGOING, FIRST_WON, SECOND_WON or DRAWN (see `solving.tables`)."""


class Env(FeatureNames, ABC):
    """A game as pure functions, with Pgx's interface.

    A step after the end changes nothing and gives no rewards. An illegal action loses the game.
    """

    has_chance: bool
    """Whether chance can follow an action."""
    begins_by_chance = False
    """Whether chance comes before the first decision."""

    def __init__(self, rules: AnyRules, settings: EnvSettings) -> None:
        self.rules = rules
        self.settings = settings
        self._limit = rules.limit_value
        self._limit_features = encode_limit_left(rules).astype(bool) if settings.is_drawn_at_limit else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rules, self.settings)  # the copy finds its tables by the rules

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Env) and (self.rules, self.settings) == (other.rules, other.settings)

    def __hash__(self) -> int:
        return hash((self.rules, self.settings))

    # -- methods of a subclass ---------------------------------------------------------------------

    @abstractmethod
    def _begin(self, bits: Any) -> Any:
        """Return the first position. `bits` are 32 random bits, or None if no chance comes before it."""

    @abstractmethod
    def _play(self, position: Any, action: Any, bits: Any) -> tuple[Any, Any]:
        """Return the position after a legal action, and the clock's ticks. `bits` are 32 random bits.

        The result is undefined if the action is illegal or the game is over.
        """

    @abstractmethod
    def _status(self, position: Any) -> StepStatus:
        """Return the seat to move and the result."""

    @abstractmethod
    def _legal(self, position: Any) -> Any:
        """Return the mask of the legal actions of the seat to move, indexed [action]."""

    @abstractmethod
    def _features(self, position: Any, seat: Any) -> Any:
        """Return the features of the position for a seat, indexed [feature]."""

    @abstractmethod
    def rules_state(self, position: Any) -> Any:
        """Return the rules' state of a position. Compiled code cannot call this."""

    # -- Pgx's interface ---------------------------------------------------------------------------

    def init(self, key: Any) -> State:
        """Start a game. The key draws the first player and chance before the first decision."""
        return self._init(jax.random.key_data(key))

    def _init(self, words: Any) -> State:
        first = pick(_hash_words(words, Purpose.FIRST), 2)
        position = self._begin(_hash_words(words, Purpose.START) if self.begins_by_chance else None)
        false = jnp.bool_(False)
        state = State(
            current_player=self._status(position).seat ^ first,
            observation=None,
            rewards=jnp.zeros(2, jnp.float32),
            terminated=false,
            truncated=false,
            legal_action_mask=self._legal(position),
            _step_count=jnp.int32(0),
            _position=position,
            _clock=None if self._limit is None else jnp.int32(0),
            _first=first,
            _discount=jnp.float32(0),
            _key=words,
            _env=self,
        )
        return state.replace(observation=self.observe(state))

    def step(self, state: State, action: Any, key: Any = None) -> State:
        """Play an action of the current player. The key draws the chance outcomes that follow.

        Without a key, the state's own key draws them. In a search, pass a key: otherwise it foresees chance.
        """
        bits = self._chance_bits(state, key) if self.has_chance else None
        action = jnp.asarray(action, jnp.int32)
        was_over = state.terminated | state.truncated
        exists = (action >= 0) & (action < self.num_actions)
        illegal = ~was_over & ~(exists & state.legal_action_mask[action])
        is_legal = ~was_over & ~illegal
        moved, ticks = self._play(state._position, action, bits)
        position = _where(is_legal, moved, state._position)
        status = self._status(position)
        mover, first = state.current_player, state._first
        ended = ~was_over & (illegal | (status.result != ONGOING))
        by_seat = jnp.asarray(POINTS)[status.result + 1]
        points = jnp.where(first == 0, by_seat, by_seat[::-1])
        lost = jnp.where(jnp.arange(2) == mover, -1.0, 1.0).astype(jnp.float32)
        rewards = jnp.where(illegal, lost, jnp.where(ended, points, 0.0))
        clock, truncated = state._clock, jnp.bool_(False)
        if self._limit is not None:
            clock = clock + jnp.where(is_legal, ticks, 0)
            truncated = is_legal & ~ended & (clock >= self._limit)
        if self.settings.is_drawn_at_limit:
            ended, truncated = ended | truncated, jnp.bool_(False)
        player = jnp.where(ended, 1 - mover, status.seat ^ first)
        after = state.replace(
            current_player=jnp.where(was_over, mover, player),
            rewards=rewards,
            terminated=state.terminated | ended,
            truncated=state.truncated | truncated,
            _discount=jnp.where(was_over | ended, 0.0, jnp.where(player == mover, 1.0, -1.0)),
            legal_action_mask=self._legal(position) | state.terminated | ended,
            _step_count=state._step_count + ~was_over,
            _position=position,
            _clock=clock,
        )
        return after.replace(observation=self.observe(after))

    @staticmethod
    def _chance_bits(state: State, key: Any) -> Any:
        if key is not None:
            return random_bits(key, Purpose.STEP)
        return _mix(_hash_words(state._key, Purpose.STATE_STEP) ^ state._step_count.astype(jnp.uint32))

    def observe(self, state: State, player_id: Any = None) -> Any:
        """Return the observation of a player, by default the current one."""
        player = state.current_player if player_id is None else jnp.asarray(player_id, jnp.int32)
        features = self._features(state._position, player ^ state._first)
        if self._limit_features is None or self._limit is None:
            return features
        return jnp.concatenate([features, jnp.asarray(self._limit_features)[self._limit - state._clock]])

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
        """Return an SVG of the board with the hidden information of both seats. A batch is a column."""
        position = jax.tree.map(np.asarray, state._position)
        games = [
            jax.tree.map(lambda part, index=index: part[index], position)
            for index in np.ndindex(state.current_player.shape)
        ]
        return _draw_boards(self.rules, [self.rules_state(game) for game in games])


def auto_reset(step: Step, init: Step) -> Step:
    """Return a step function that restarts ended games at once, like `pgx.experimental.auto_reset`.

    `rewards`, `terminated` and `truncated` describe the game that ended, all other fields the new one. So
    `discount` is 0. Without a key, the state's own key draws the new game.
    Raises DuelsError if the functions do not belong to the same environment.

    >>> from duels.envs.jax import make
    >>> env = make("lights", lights=1)
    >>> state = env.init(jax.random.key(7))
    >>> after = auto_reset(env.step, env.init)(state, 0, jax.random.key(8))
    >>> bool(after.terminated), int(after.legal_action_mask.sum())
    (True, 1)
    """
    env = getattr(step, "__self__", None)
    if not isinstance(env, Env) or step != env.step or init != env.init:
        raise DuelsError("Pass two functions of the same environment: auto_reset(env.step, env.init).")

    def step_and_reset(state: State, action: Any, key: Any = None) -> State:
        false = jnp.bool_(False)
        # The step and the new game share a key, because each purpose gets its own bits.
        after = step(state.replace(terminated=false, truncated=false), action, key)
        result = {name: getattr(after, name) for name in ("rewards", "terminated", "truncated")}
        if key is None:
            new = env._init(_mix(state._key ^ _hash_words(state._key, Purpose.STATE_INIT)))
        else:
            new = init(key)
        return cast(State, _where(after.terminated | after.truncated, new.replace(**result), after))

    return step_and_reset


def _where(condition: Any, if_true: Any, if_false: Any) -> Any:
    return jax.tree.map(lambda true, false: jnp.where(condition, true, false), if_true, if_false)


def _draw_boards(rules: AnyRules, states: Sequence[Any]) -> str:
    drawing = rules.game.drawing(rules)
    boards, top = [], 0
    for state in states:
        board = drawing.draw_open(*(rules.sight(state, seat) for seat in Seat))
        boards.append(f'<svg y="{top}" width="{WIDTH}" height="{board.height}">{board}</svg>')
        top += board.height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}">{"".join(boards)}</svg>'


class TableEnv(Env):
    """A game whose rules are compiled to tables. A position is the number of a state."""

    def __init__(self, rules: AnyRules, settings: EnvSettings) -> None:
        super().__init__(rules, settings)
        tables = self._tables = get_tables(rules).tables
        if (starts := len(tables.starts)) > MAX_OUTCOMES:
            raise TooLarge(
                f"{rules.name} has too many openings for JAX: {starts}, and the maximum is {MAX_OUTCOMES}."
            )
        self.has_chance = tables.tickets > 1
        self.begins_by_chance = len(tables.starts) > 1
        with jax.ensure_compile_time_eval():
            self._seat = jnp.asarray(np.maximum(tables.actor, 0), jnp.int32)
            self._result = jnp.asarray(tables.result, jnp.int32)
            self._legal_actions = jnp.asarray(tables.legal)
            self._successor = jnp.asarray(tables.successor.ravel())
            self._observation = jnp.asarray(tables.observation, jnp.bool_)
            self._starts = jnp.asarray(tables.starts)

    def _begin(self, bits: Any) -> Any:
        return self._starts[pick(bits, len(self._starts)) if self.begins_by_chance else 0]

    def _play(self, position: Any, action: Any, bits: Any) -> tuple[Any, Any]:
        index = position * self._tables.actions + action
        if self.has_chance:
            index = index * self._tables.tickets + pick(bits, self._tables.tickets)
        state_and_tick = self._successor[index]
        return state_and_tick >> 1, state_and_tick & 1

    def _status(self, position: Any) -> StepStatus:
        return StepStatus(self._seat[position], self._result[position])

    def _legal(self, position: Any) -> Any:
        return self._legal_actions[position]

    def _features(self, position: Any, seat: Any) -> Any:
        return self._observation[seat, position]

    def rules_state(self, position: Any) -> Any:
        return self._rules_states[int(position)]

    @cached_property
    def _rules_states(self) -> list[Any]:
        return self._tables.rules_states(self.rules)


@lru_cache(maxsize=16)
def get_env(rules: AnyRules, settings: EnvSettings = DEFAULT_SETTINGS) -> Env:
    """Return the environment of `rules`, cached per process."""
    env_class: type[Env] = find_kernel(rules, "jax") or TableEnv
    return env_class(rules, settings)


def make(game: str | Game | AnyRules, *, limit_ends: str = TRUNCATION, **options: OptionValue) -> Env:
    """Make an environment. `game` is a name, a `Game` or rules.

    Only a name or a `Game` takes options, such as `max_turns=40`.

    With `limit_ends="draw"`, a limit ends the game as a draw, and observations show the moves left.
    Raises TooLarge if the game has too many states for tables.

    >>> import jax
    >>> env = make("lights")
    >>> states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(7), 3))
    >>> states.legal_action_mask.sum(axis=1).tolist()
    [13, 13, 13]
    """
    rules = resolve_env_rules(game, **options)
    return get_env(rules, make_settings(rules, limit_ends))
