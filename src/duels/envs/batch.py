"""The base class of batches: many games with the same rules, stepped together as arrays.

In this module, seats are 0 and 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from duels.core.errors import DuelsError, IllegalMove, require_extra
from duels.core.rules import AnyRules
from duels.core.validation import check_int
from duels.envs import dice
from duels.envs.history import EntryHistory
from duels.envs.settings import DEFAULT_SETTINGS, Copyable, EnvSettings, FeatureNames, encode_limit_left

with require_extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from duels.solving.tables import NOBODY, ONGOING, POINTS, GameTables, Tables

Bytes = NDArray[np.int8]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp] | slice

ALL = slice(None)

RANDOM = "random"


def check_action_array(actions: ArrayLike, count: int) -> Ints:
    """Return the actions as an array. Raises DuelsError unless they are `count` integers."""
    array = np.asarray(actions)
    if array.shape == (count,) and array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    kind = f"{array.dtype} of shape {array.shape}"
    raise DuelsError(f"A step needs {count} integers, one action per environment, not {kind}.")


def check_flag_array(name: str, flags: object, count: int) -> Flags:
    """Return the argument `name` as an array. Raises DuelsError unless it has `count` booleans."""
    array = np.asarray(flags)
    if array.shape == (count,) and array.dtype == np.bool_:
        return array
    raise DuelsError(f"{name} must be a boolean array of length {count}.")


class NoTablesError(DuelsError, AttributeError):
    """The game has too many states for tables."""


@dataclass(frozen=True)
class PreparedPolicy:
    """A policy prepared for sampling."""

    shared: GameTables
    bounds: Ints
    """Cumulative probabilities of the legal actions, times 2**32; indexed [row, k-th legal action]."""

    def rows(self, states: Any, clock: Any) -> Any:
        """Return the rows of `bounds` for these states at this clock."""
        has_clock = len(self.bounds) > self.shared.tables.states
        return states + self.shared.tables.states * clock if has_clock else states


class Steps(NamedTuple):
    """The result of one step of a batch."""

    rewards: NDArray[np.float32]
    """1 for a win, -1 for a loss, otherwise 0; indexed [env, seat]."""
    terminated: Flags
    """Whether the game ended in a win or a draw, indexed [env]."""
    truncated: Flags
    """Whether the limit truncated the game, indexed [env]."""


@dataclass(frozen=True)
class BatchTally:
    """The number of games won, drawn and truncated in a rollout, per environment."""

    steps: int
    wins: Ints
    """Games won, indexed [env, seat]."""
    draws: Ints
    """Games drawn, indexed [env]."""
    truncated: Ints
    """Games truncated by the limit, indexed [env]."""

    @classmethod
    def empty(cls, envs: int, steps: int = 0) -> "BatchTally":
        """Make an empty tally."""
        counts = np.zeros((4, envs), np.int64)
        return cls(steps * envs, np.ascontiguousarray(counts[:2].T), counts[2], counts[3])

    @property
    def games(self) -> int:
        """The number of games that ended, summed over all environments."""
        return int(self.wins.sum() + self.draws.sum() + self.truncated.sum())

    def add(self, step: Steps) -> None:
        """Count the games that a step ended."""
        (ended,) = (step.terminated | step.truncated).nonzero()
        won = step.rewards[ended] > 0
        self.wins[ended] += won
        self.draws[ended] += step.terminated[ended] & ~won.any(axis=1)
        self.truncated[ended] += step.truncated[ended]


class Batch(FeatureNames, Copyable, ABC):
    """`num_envs` games played at the same time.

    Environment number `first + i` depends only on the seed, its number and its own actions. A deep copy or a
    pickled copy continues like the original.
    """

    num_actions: int
    observation_size: int

    def __init__(
        self,
        rules: AnyRules,
        num_envs: int,
        seed: int,
        first: int = 0,
        autoreset: bool = True,
        settings: EnvSettings = DEFAULT_SETTINGS,
        copy: bool = True,
    ) -> None:
        self.rules = rules
        self.settings = settings
        self.num_envs = num_envs
        self.limit = rules.limit_value
        self.first = first
        self.autoreset = autoreset
        self._copy = copy
        self.keep_final = False
        """Whether a step fills the `final_*` arrays when games end."""
        self.final_observations: Bytes
        """The last observations of games that ended in this step, indexed [seat, ended env, feature]."""
        self.final_masks: Bytes
        """The last masks of these games, indexed [seat, ended env, action]. All 0 unless a limit truncated
        the game: then 1 for actions that may be legal next, as far as the seat knows."""
        self.final_actors: Bytes
        """The seats that would have moved next in truncated games, otherwise NOBODY; indexed [ended env]."""
        self._clock = np.zeros(num_envs, np.int64)
        self._ended: Flags | None = None if autoreset else np.zeros(num_envs, np.bool_)
        self._cut_off = np.zeros(num_envs, np.bool_)
        self._streams = self._make_streams(seed)
        self._random_bits: tuple[Ints, Ints] | None = None
        self._prepare()
        self._limit_features = encode_limit_left(rules) if settings.is_drawn_at_limit else None
        self._history = EntryHistory(rules, settings.memory, num_envs) if settings.memory else None
        self.observation_size += settings.size(rules)
        self._clear_final()
        self._start(ALL)

    # -- methods of a subclass ---------------------------------------------------------------------

    @abstractmethod
    def _prepare(self) -> None:
        """Set `num_actions` and `observation_size`, and allocate the arrays."""

    @abstractmethod
    def _begin(self, indices: Indices) -> None:
        """Start games in these environments. Chance draws from their streams."""

    @abstractmethod
    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        """Play one action in every game that is not `idle`; return the results and the clocks' ticks.

        An idle game has the result ONGOING and no tick. Raises IllegalMove before anything changes.
        """

    @abstractmethod
    def _actor(self) -> Bytes:
        """Return the seats to move, indexed [env]; undefined in ended games."""

    @abstractmethod
    def _masks(self) -> Bytes:
        """Return the masks of legal actions, indexed [env, action]; undefined in ended games.

        With `copy=False`, this may be the batch's own array.
        """

    @abstractmethod
    def _sample(self, bits: Ints, policy: PreparedPolicy | None) -> Ints:
        """Return legal actions by `policy`, or uniformly at random, from 32 random bits; indexed [env]."""

    @abstractmethod
    def _observe(self, seats: int | Bytes, indices: Indices = ALL) -> Bytes:
        """Return the game's features for `seats` in these environments, indexed [env, feature].

        With `copy=False`, this may be the batch's own array.
        """

    def _encode(self, seats: int | Bytes, indices: Indices = ALL) -> Bytes:
        features = self._observe(seats, indices)
        parts = [features]
        if self._limit_features is not None:
            parts.append(self._limit_features[-1 - self._clock[indices]])
        if self._history:
            parts.append(self._history.encode(seats, indices))
        return np.concatenate(parts, axis=1) if len(parts) > 1 else features

    def _is_hidden(self, actions: Ints) -> Flags:
        """Return whether the action is hidden from the other seat, indexed [env]."""
        raise NotImplementedError(f"{self.rules.name} has hidden information but no `_is_hidden`.")

    # -- playing -----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """Start a new game in every environment. A seed also restarts the random streams."""
        if seed is None:
            self._streams = dice.advance(self._streams)
        else:
            self._streams = self._make_streams(seed)
        self._start(ALL)

    def _make_streams(self, seed: int) -> NDArray[np.uint64]:
        numbers = np.uint64(self.first & dice.WORD) + np.arange(self.num_envs, dtype=np.uint64)
        seeds = np.full(self.num_envs, check_int("seed", seed) & dice.WORD, np.uint64)
        return dice.stream(seeds, numbers)

    def reseed(self, seeds: NDArray[np.uint64], env_mask: Flags | None = None) -> None:
        """Start new games with one seed per environment, by default in all environments.

        Each environment plays the same games as a single environment with its seed.
        """
        indices: Indices = ALL
        if env_mask is not None:
            indices = np.flatnonzero(check_flag_array("env_mask", env_mask, self.num_envs))
        self._streams[indices] = dice.stream(seeds[indices])
        self._start(indices)

    def restart(self, env_mask: Flags) -> None:
        """Start new games in the environments that `env_mask` selects. Unfinished games there are lost."""
        env_mask = check_flag_array("env_mask", env_mask, self.num_envs)
        self._streams[env_mask if self._ended is None else env_mask & ~self._ended] += np.uint64(dice.GAMMA)
        self._start(np.flatnonzero(env_mask))

    def _start(self, indices: Indices) -> None:
        self._random_bits = None
        if self.limit is not None:
            self._clock[indices] = 0
        if self._history:
            self._history.clear(indices)
        if self._ended is not None:
            self._ended[indices] = False
            self._cut_off[indices] = False
        self._begin(indices)

    @property
    def actor(self) -> Bytes:
        """The seats to move, indexed [env]; NOBODY in games that have ended and were not reset."""
        actor = self._actor()
        if self._ended is not None:
            actor[self._ended] = NOBODY
        return actor

    @property
    def cut_off(self) -> Flags:
        """Whether the limit has ended the game, indexed [env]; False again after a reset."""
        return self._cut_off.copy()

    def masks(self) -> Bytes:
        """Return the masks of the seats to move, indexed [env, action]: 1 for legal actions.

        In truncated games, they are the masks of the seats that would have moved next.
        """
        masks = self._masks()
        if self._ended is None or not self._ended.any():
            return masks
        return masks * ~(self._ended & ~self._truncated)[:, None]

    @property
    def _truncated(self) -> Flags:
        return np.zeros_like(self._cut_off) if self.settings.is_drawn_at_limit else self._cut_off

    def masks_for(self, seat: int | Bytes) -> Bytes:
        """Return the masks of `seat`, indexed [env, action].

        A mask is 1 for legal actions, and all 0 on the opponent's turn.

        In truncated games, 1 for actions that may be legal next, as far as the seat knows. `seat` can be an
        array with one seat per environment.
        """
        truncated, is_waiting = self._truncated, self._actor() != self._check_seats(seat)
        masks: Bytes = self.masks() * (~is_waiting | truncated)[:, None]
        self._hide_opponent_moves(masks, is_waiting & truncated)
        return masks

    def _hide_opponent_moves(self, masks: Bytes, env_mask: Flags) -> None:
        """Allow every action, because the opponent's legal actions would reveal hidden information."""
        if self.rules.has_hidden_information:
            masks[env_mask] = 1

    def observe(self, seat: int | Bytes | None = None) -> Bytes:
        """Return the observations of `seat`, by default of the seat to move, indexed [env, feature].

        `seat` can be an array with one seat per environment. After the end of a game, the default is seat 0.
        """
        return self._encode(np.maximum(self.actor, 0) if seat is None else self._check_seats(seat))

    def _check_seats(self, seat: int | Bytes) -> int | Bytes:
        if isinstance(seat, np.ndarray):
            is_seat_array = seat.shape == (self.num_envs,) and seat.dtype.kind in "iu"
            if is_seat_array and seat.min() >= NOBODY and seat.max() <= 1:
                return np.maximum(seat, 0)
        elif seat in (0, 1):
            return int(seat)
        raise DuelsError(f"'seat' must be 0, 1 or an array of {self.num_envs} of these numbers, not {seat}.")

    def draw_seats(self) -> Bytes:
        """Return random seats for the agents of games that start now, indexed [env]."""
        return dice.draw_seat(self._streams).astype(np.int8)

    @property
    def tables(self) -> Tables:
        """The rules as tables. Raises NoTablesError if the game has none."""
        raise self._no_tables()

    @property
    def states(self) -> Ints:
        """Each game's state in `tables`, indexed [env]. Raises NoTablesError if the game has none."""
        raise self._no_tables()

    def policy(self, table: ArrayLike | PreparedPolicy) -> PreparedPolicy:
        """Prepare a policy table for `sample` and `rollout` (see `TableBatch.policy`).

        Raises NoTablesError if the game has no tables.
        """
        raise self._no_tables()

    def _no_tables(self) -> NoTablesError:
        return NoTablesError(
            f"{self.rules.name} has no tables: pass a function of an observation and a mask "
            "instead of a policy table."
        )

    def _prepare_policy(self, policy: ArrayLike | PreparedPolicy | None) -> PreparedPolicy | None:
        if not isinstance(policy, str):
            return None if policy is None else self.policy(policy)
        if policy == RANDOM:
            return None
        raise DuelsError(f"A policy must be {RANDOM!r} or a table (see duels.table_of), not {policy!r}.")

    def sample(self, policy: ArrayLike | PreparedPolicy | None = None) -> Ints:
        """Return legal actions drawn from a policy, indexed [env]. Until the next step, they stay the same.

        `policy` is `random` (the default) or a table. Prepare a table with `policy()` if you use it often.
        Raises DuelsError for any other policy.
        """
        return self._sample(self.bits(), self._prepare_policy(policy))

    def rollout(self, steps: int, policy: ArrayLike | PreparedPolicy | None = None) -> BatchTally:
        """Play `steps` steps in every environment, restart ended games and count the results.

        Both seats play by `policy`, as in a loop over `step(sample(policy))`.
        Raises DuelsError if `sample` does not accept the policy, or if the batch has `autoreset=False`.
        """
        prepared = self._prepare_policy(policy)
        tally = BatchTally.empty(self.num_envs, check_int("steps", steps, 0))
        if not self.autoreset:
            raise DuelsError("A rollout needs a batch with autoreset=True.")
        for _ in range(steps):
            tally.add(self._step(self._sample(self.bits(), prepared), None))
        return tally

    def bits(self) -> Ints:
        """Return 32 random bits to choose an action, indexed [env]. A step draws new ones."""
        return self._draw_bits()[1]

    def _draw_bits(self) -> tuple[Ints, Ints]:
        """Return 32 random bits for chance and 32 to choose an action, both indexed [env]."""
        if self._random_bits is None:
            chance, bits = dice.roll(self._streams)
            self._random_bits = chance.view(np.int64), bits.view(np.int64)
        return self._random_bits

    def step(self, actions: ArrayLike, env_mask: Flags | None = None) -> Steps:
        """Play one action in every environment, for the seat to move, and the chance events that follow.

        Environments where `env_mask` is False do not change. Games that end restart at once. With
        `autoreset=False` they do not restart, and further actions in them are ignored.

        Raises DuelsError if the actions are not integers, IllegalMove if one is illegal.
        """
        idle = self._get_idle(env_mask)
        return self._step(self._check_actions(actions, idle), idle)

    def _step(self, actions: Ints, idle: Flags | None) -> Steps:
        chance, _ = self._draw_bits()
        entries = (self._actor(), actions, self._is_hidden(actions)) if self._history else None
        result, ticks = self._play(actions, chance, idle)
        if self._history and entries:
            self._history.add(*entries, None if idle is None else ~idle)
        self._random_bits = None
        self._streams += np.uint64(dice.GAMMA) * (True if idle is None else ~idle)
        terminated = result != ONGOING
        cut_off = self._advance_clocks(ticks) & ~terminated
        (indices,) = (terminated | cut_off).nonzero()
        rewards = np.zeros((self.num_envs, 2), np.float32)
        rewards[indices] = POINTS.take(result.take(indices) + 1, axis=0)
        self._end_games(indices, cut_off)
        if self.settings.is_drawn_at_limit:
            return Steps(rewards, terminated | cut_off, np.zeros_like(cut_off))
        return Steps(rewards, terminated, cut_off)

    def _advance_clocks(self, ticks: Bytes | None) -> Flags:
        """Advance the clocks and return whether the game reached its limit, indexed [env]."""
        if self.limit is None or ticks is None:
            return np.zeros(self.num_envs, np.bool_)
        self._clock += ticks
        reached: Flags = (self._clock >= self.limit) & (ticks > 0)
        return reached

    def _get_idle(self, env_mask: Flags | None) -> Flags | None:
        if env_mask is None:
            return self._ended if self._ended is not None and self._ended.any() else None
        env_mask = check_flag_array("env_mask", env_mask, self.num_envs)
        return ~env_mask if self._ended is None else self._ended | ~env_mask

    def _end_games(self, indices: NDArray[np.intp], cut_off: Flags) -> None:
        if not len(indices):
            if self.keep_final:
                self._clear_final()
            return
        if self.keep_final:
            self._store_final(indices, cut_off & (not self.settings.is_drawn_at_limit))
        if self._ended is not None:
            self._ended[indices] = True
            self._cut_off |= cut_off
        else:
            self._start(indices)

    def _clear_final(self) -> None:
        self.final_observations = np.zeros((2, 0, self.observation_size), np.int8)
        self.final_masks = np.zeros((2, 0, self.num_actions), np.int8)
        self.final_actors = np.zeros(0, np.int8)

    def _store_final(self, indices: NDArray[np.intp], truncated: Flags) -> None:
        is_truncated = truncated[indices]
        self.final_observations = np.stack([self._encode(seat, indices) for seat in (0, 1)])
        self.final_actors = np.where(is_truncated, self._actor()[indices], NOBODY).astype(np.int8)
        self.final_masks = np.stack([self._masks()[indices] * is_truncated[:, None]] * 2)
        for seat in (0, 1):
            self._hide_opponent_moves(self.final_masks[seat], is_truncated & (self.final_actors != seat))

    def _check_actions(self, actions: ArrayLike, idle: Flags | None) -> Ints:
        numbers = check_action_array(actions, self.num_envs)
        if idle is not None:
            numbers = np.where(idle, 0, numbers)
        illegal = (numbers < 0) | (numbers >= self.num_actions)
        if illegal.any():
            self._reject(illegal, numbers)
        return numbers

    def _reject(self, illegal: Flags, actions: Ints) -> None:
        env = int(np.argmax(illegal))
        raise IllegalMove(f"Action {actions[env]} is illegal in environment {env}. See its mask in masks().")
