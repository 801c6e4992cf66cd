"""The base class of batches: many games with the same rules, stepped together as arrays.

Seats are counted from 0 here.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from duels.core.errors import DuelsError, IllegalMove
from duels.core.extras import require_extra
from duels.core.rules import AnyRules
from duels.core.validation import check_int
from duels.envs import dice
from duels.envs.history import EntryHistory
from duels.envs.results import BatchTally, Steps
from duels.envs.settings import DEFAULT_SETTINGS, Copyable, EnvSettings, FeatureNames, encode_limit_left

with require_extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from duels.solving.tables import NOBODY, ONGOING, POINTS, GameTables, Tables

Bytes = NDArray[np.int8]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

RANDOM = "random"

_GAMMA, _HALF, _HALF_AT = (np.uint64(number) for number in (dice.GAMMA, dice.HALF, 32))

_FINAL = ("final_observations", "final_masks", "final_actors")


def check_action_array(actions: ArrayLike, count: int) -> Ints:
    """Return the actions as an array of `count` integers. Raises DuelsError if they are something else."""
    array = np.asarray(actions)
    if array.shape == (count,) and array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    what = f"{array.dtype} of shape {array.shape}"
    raise DuelsError(f"A step needs {count} integers, one action per environment, not {what}.")


class NoTablesError(DuelsError, AttributeError):
    """The game has too many states for tables."""


@dataclass(frozen=True)
class PreparedPolicy:
    """A policy prepared for sampling."""

    shared: GameTables
    bounds: Ints
    """[row, k] the 32-bit number below which the k-th legal action or an earlier one is drawn."""

    def rows(self, states: Any, clock: Any) -> Any:
        """Return the rows of `bounds` for these states at this clock."""
        clocked = len(self.bounds) > self.shared.tables.states
        return states + self.shared.tables.states * clock if clocked else states


class Batch(FeatureNames, Copyable, ABC):
    """`num_envs` games played at the same time.

    Environment number `first + i` depends on the seed, on that number and on its own actions, never on the
    rest of the batch. A copy, pickled or not, continues as the original would.
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
        """Whether the `final_*` arrays are filled when games end and are reset."""
        self.final_observations: Bytes
        """[seat, ended env, feature] the last observations of the games that the last step ended."""
        self.final_masks: Bytes
        """[seat, ended env, action] after truncation, 1 for the actions that were possible next as far as the
        seat knows; otherwise 0."""
        self.final_actors: Bytes
        """[ended env] the seat to move next if the limit truncated the game; otherwise NOBODY."""
        self._clock = np.zeros(num_envs, np.int64)
        self._over: Flags | None = None if autoreset else np.zeros(num_envs, np.bool_)
        self._cut = np.zeros(num_envs, np.bool_)
        self._streams: NDArray[np.uint64] = dice.streams(seed, first, num_envs)
        self._copied_names = (*vars(self), *_FINAL, "_copied_names")
        self._set_up()
        self._clear_final()
        self._start(None)

    def _set_up(self) -> None:
        self._plain = self.settings == DEFAULT_SETTINGS
        self._word: NDArray[np.uint64] | None = None
        self._prepare()
        self._left = encode_limit_left(self.rules) if self.settings.is_limit_draw else None
        self._history = (
            EntryHistory(self.rules, self.settings.memory, self.num_envs) if self.settings.memory else None
        )
        self.observation_size += self.settings.size(self.rules)

    def __getstate__(self) -> dict[str, Any]:
        # Tables made from the rules are shared within a process and too large to pickle.
        kept = {name: getattr(self, name) for name in self._copied_names}
        return kept | {"position": self._position(), "past": self._history}

    def __setstate__(self, state: dict[str, Any]) -> None:
        position, past = state.pop("position"), state.pop("past")
        vars(self).update(state)
        self._set_up()
        self._history = past
        self._place(position)

    # -- what a subclass implements ----------------------------------------------------------------

    @abstractmethod
    def _prepare(self) -> None:
        """Set `num_actions` and `observation_size`, and build what the batch needs before its first reset."""

    @abstractmethod
    def _position(self) -> Any:
        """Return the positions of all games as a value that can be copied."""

    @abstractmethod
    def _place(self, position: Any) -> None:
        """Restore positions returned by `_position`."""

    @abstractmethod
    def _begin(self, which: Places | None) -> None:
        """Start games in these environments (None: all); chance draws from their streams."""

    @abstractmethod
    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        """Play one action in every environment that is not `idle`; return the results and the clock's ticks.

        Idle games have no result and no ticks. Raises IllegalMove before anything has changed.
        """

    @abstractmethod
    def _actor(self) -> Bytes:
        """[env] the seat to move, ignoring ended games."""

    @abstractmethod
    def _masks(self) -> Bytes:
        """[env, action] 1 for legal actions, ignoring ended games."""

    @abstractmethod
    def _sample(self, bits: Ints, policy: PreparedPolicy | None) -> Ints:
        """[env] a legal action by `policy`, or uniformly at random, from 32 random bits."""

    @abstractmethod
    def _observe(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        """[env, feature] the game's features for `seats`, in all environments or in `which`."""

    def _observe_mover(self) -> Bytes:
        """[env, feature] the game's features for the seat to move; no game has ended."""
        return self._observe(self._actor())

    def _masks_view(self) -> Bytes:
        """`_masks`, as a view of the batch's own array if it may be shared."""
        return self._masks()

    def _encode(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        features = self._observe(seats, which)
        if self._plain:
            return features
        parts, places = [features], slice(None) if which is None else which
        if self._left is not None:
            parts.append(self._left.take(len(self._left) - 1 - self._clock[places], axis=0))
        if self._history:
            parts.append(self._history.encode(seats, places))
        return np.concatenate(parts, axis=1)

    def _hides(self, actions: Ints) -> Flags:
        """[env] whether these actions are hidden from the other seat."""
        raise NotImplementedError(f"{self.rules.name} has secrets but does not say which actions are hidden.")

    # -- playing -----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """Start a new game in every environment. A seed also restarts the random streams."""
        if seed is None:
            self._streams += np.uint64(dice.GAMMA)
        else:
            self._streams = dice.streams(seed, self.first, self.num_envs)
        self._start(None)

    def reseed(self, seeds: NDArray[np.uint64], which: Flags | None = None) -> None:
        """Start new games (None: in all environments) as single environments with these seeds would."""
        if which is None:
            self._streams = dice.streams_from_seeds(seeds)
        else:
            which = self._flags(which)
            self._streams[which] = dice.streams_from_seeds(seeds[which])
        self._start(None if which is None else np.flatnonzero(which))

    def restart(self, which: Flags) -> None:
        """Start new games in `which` environments; unfinished games there are abandoned."""
        which = self._flags(which)
        self._streams[which if self._over is None else which & ~self._over] += np.uint64(dice.GAMMA)
        self._start(np.flatnonzero(which))

    def _start(self, which: Places | None) -> None:
        places = slice(None) if which is None else which
        self._word = None
        if self.limit is not None:
            self._clock[places] = 0
        if self._history:
            self._history.clear(places)
        if self._over is not None:
            self._over[places] = False
            self._cut[places] = False
        self._begin(which)

    @property
    def actor(self) -> Bytes:
        """[env] the seat to move; NOBODY if the game is over and waits for a reset."""
        actor = self._actor()
        if self._over is not None:
            actor[self._over] = NOBODY
        return actor

    @property
    def cut_off(self) -> Flags:
        """[env] whether the limit ended the game that waits for a reset."""
        return self._cut.copy()

    def masks(self) -> Bytes:
        """[env, action] 1 for the legal actions of the seat to move.

        If a limit truncated the game, the legal actions of the seat that would have moved next.
        """
        if self._over is None:
            return self._masks_view()
        return self._masks_now()

    def _masks_now(self) -> Bytes:
        masks = self._masks()
        if self._over is not None and self._over.any():
            masks[self._over & ~self._truncated] = 0
        return masks

    @property
    def _truncated(self) -> Flags:
        return np.zeros_like(self._cut) if self.settings.is_limit_draw else self._cut

    def masks_for(self, seat: int | Bytes) -> Bytes:
        """[env, action] 1 for the actions that an agent at `seat` may take; all 0 on the other's turn.

        If a limit truncated the game, 1 for the actions that were possible next as far as the seat knows.
        `seat` can be an array with one seat per environment.
        """
        masks, others = self._masks_now(), self._actor() != self._check_seats(seat)
        if others.any():
            truncated = self._truncated
            masks[others & ~truncated] = 0
            self._hide_opponent_moves(masks, others & truncated)
        return masks

    def _hide_opponent_moves(self, masks: Bytes, others: Flags) -> None:
        """Allow every action: the legal ones would reveal where the other seat is."""
        if self.rules.has_secrets:
            masks[others] = 1

    def observe(self, seat: int | Bytes | None = None) -> Bytes:
        """[env, feature] the observations of `seat`, by default of the seat to move.

        `seat` can be an array with one seat per environment. After the end of a game, the default is seat 0.
        """
        if seat is None and self._over is None and self._plain:
            return self._observe_mover()
        return self._encode(self._check_seats(self.actor if seat is None else seat))

    def _check_seats(self, seat: int | Bytes) -> int | Bytes:
        if isinstance(seat, np.ndarray):
            fits = seat.shape == (self.num_envs,) and seat.dtype.kind in "iu"
            if fits and seat.min() >= NOBODY and seat.max() <= 1:
                return np.maximum(seat, 0)
        elif seat in (0, 1):
            return int(seat)
        raise DuelsError(f"A seat is 0 or 1, or an array of {self.num_envs} of them, not {seat}.")

    def draw_seats(self) -> Bytes:
        """[env] a random seat for the agent of the game that starts now."""
        return dice.draw_seats(self._streams)

    @property
    def tables(self) -> Tables:
        """The rules as tables. Raises NoTablesError if the game has none."""
        raise self._no_tables()

    @property
    def states(self) -> Ints:
        """[env] the number of each game's state in `tables`. Raises NoTablesError if the game has none."""
        raise self._no_tables()

    def policy(self, table: ArrayLike | PreparedPolicy) -> PreparedPolicy:
        """Prepare a policy table for `sample` and `rollout` (see `TableBatch.policy`).

        Raises NoTablesError if the game has no tables.
        """
        raise self._no_tables()

    def _no_tables(self) -> NoTablesError:
        return NoTablesError(
            f"Batches of {self.rules.name} have no tables: "
            "use a function of an observation and a mask instead of a policy table."
        )

    def _prepare_policy(self, policy: ArrayLike | PreparedPolicy | None) -> PreparedPolicy | None:
        if not isinstance(policy, str):
            return None if policy is None else self.policy(policy)
        if policy == RANDOM:
            return None
        raise DuelsError(f"A policy must be {RANDOM!r} or a table (see duels.table_of), not {policy!r}.")

    def sample(self, policy: ArrayLike | PreparedPolicy | None = None) -> Ints:
        """[env] legal actions by a policy, by default uniformly at random; the same until the next step.

        `policy` is `random` or a table. Prepare a table with `policy()` if you use it often.
        """
        return self._sample(self.bits(), self._prepare_policy(policy))

    def rollout(self, steps: int, policy: ArrayLike | PreparedPolicy | None = None) -> BatchTally:
        """Play `steps` steps in every environment and count the results; ended games are restarted.

        Both seats play by `policy`, exactly as `step(sample(policy))` would.
        """
        ready = self._prepare_policy(policy)
        tally = BatchTally.empty(self.num_envs, check_int("steps", steps, 0))
        if not self.autoreset:
            raise DuelsError("A rollout needs a batch with autoreset=True.")
        for _ in range(steps):
            tally.add(self._step(self._sample(self.bits(), ready), None))
        return tally

    def bits(self) -> Ints:
        """[env] 32 random bits for choosing an action; the same until the next step."""
        bits: Ints = (self._next_words() & _HALF).view(np.int64)
        return bits

    def _next_words(self) -> NDArray[np.uint64]:
        if self._word is None:
            self._word = dice.next_words(self._streams)
        return self._word

    def step(self, actions: ArrayLike, which: Flags | None = None) -> Steps:
        """Play an action of the seat to move in every environment, and the chance that follows it.

        Environments where `which` is False do not change. Ended games restart at once; with
        `autoreset=False` they stay over, and further actions there are ignored.

        Raises DuelsError if the actions are not integers, IllegalMove if one is not legal.
        """
        idle = self._idle(which)
        return self._step(self._check_actions(actions, idle), idle)

    def _step(self, actions: Ints, idle: Flags | None) -> Steps:
        chance = (self._next_words() >> _HALF_AT).view(np.int64)
        entries = (self._actor(), actions, self._hides(actions)) if self._history else None
        result, ticks = self._play(actions, chance, idle)
        if self._history and entries:
            self._history.add(*entries, None if idle is None else ~idle)
        self._word = None
        self._streams += _GAMMA if idle is None else _GAMMA * ~idle
        terminated = result != ONGOING
        cut = self._count(ticks) & ~terminated
        (places,) = (terminated | cut).nonzero()
        rewards = np.zeros((self.num_envs, 2), np.float32)
        rewards[places] = POINTS.take(result.take(places) + 1, axis=0)
        self._finish(places, cut)
        if self.settings.is_limit_draw:
            return Steps(rewards, terminated | cut, np.zeros_like(cut))
        return Steps(rewards, terminated, cut)

    def _count(self, ticks: Bytes | None) -> Flags:
        """Advance the clocks; [env] whether the limit is reached now."""
        if self.limit is None or ticks is None:
            return np.zeros(self.num_envs, np.bool_)
        self._clock += ticks
        reached: Flags = (self._clock >= self.limit) & (ticks > 0)
        return reached

    def _idle(self, which: Flags | None) -> Flags | None:
        if which is None:
            return self._over if self._over is not None and self._over.any() else None
        which = self._flags(which)
        return ~which if self._over is None else self._over | ~which

    def _flags(self, which: ArrayLike) -> Flags:
        flags = np.asarray(which)
        if flags.shape != (self.num_envs,) or flags.dtype != np.bool_:
            raise DuelsError(f"`which` must be a boolean array of length {self.num_envs}.")
        return flags

    def _finish(self, places: Places, cut: Flags) -> None:
        if not len(places):
            if self.keep_final:
                self._clear_final()
            return
        if self.keep_final:
            self._store_final(places, cut & (not self.settings.is_limit_draw))
        if self._over is not None:
            self._over[places] = True
            self._cut |= cut
        else:
            self._start(places)

    def _clear_final(self) -> None:
        self.final_observations = np.zeros((2, 0, self.observation_size), np.int8)
        self.final_masks = np.zeros((2, 0, self.num_actions), np.int8)
        self.final_actors = np.zeros(0, np.int8)

    def _store_final(self, places: NDArray[np.intp], truncated: Flags) -> None:
        cut = truncated[places]
        self.final_observations = np.stack([self._encode(seat, places) for seat in (0, 1)])
        self.final_actors = np.where(cut, self._actor()[places], NOBODY).astype(np.int8)
        self.final_masks = np.stack([self._masks()[places] * cut[:, None]] * 2)
        for seat in (0, 1):
            self._hide_opponent_moves(self.final_masks[seat], cut & (self.final_actors != seat))

    def _check_actions(self, actions: ArrayLike, idle: Flags | None) -> Ints:
        numbers = check_action_array(actions, self.num_envs)
        if idle is not None:
            numbers = np.where(idle, 0, numbers)
        wrong = (numbers < 0) | (numbers >= self.num_actions)
        if wrong.any():
            self._refuse(wrong, numbers)
        return numbers

    def _refuse(self, wrong: Flags, actions: Ints) -> None:
        env = int(np.argmax(wrong))
        raise IllegalMove(f"Action {actions[env]} is not legal now in environment {env}.")
