"""Many games of one kind, stepped together as arrays: what tables and kernels have in common.

Seats are 0 and 1 here.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from duels.core.errors import DuelsError, IllegalMove
from duels.core.extras import require_extra
from duels.core.rules import AnyRules
from duels.core.validation import check_int
from duels.envs import dice
from duels.envs.form import PLAIN, Copyable, Form, Named, left_shown
from duels.envs.past import Past
from duels.envs.results import BatchTally, Steps

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


def whole_numbers(actions: ArrayLike, count: int) -> Ints:
    """Actions as an array; DuelsError if they are not one whole number for each of `count` environments."""
    given = np.asarray(actions)
    if given.shape == (count,) and given.dtype.kind in "iu":
        return given.astype(np.int64, copy=False)
    what = f"{given.dtype} of shape {given.shape}"
    raise DuelsError(f"A step needs {count} whole numbers, one action an environment, not {what}.")


class NoTables(DuelsError, AttributeError):
    """Asked for tables of a game that has too many states for them."""


@dataclass(frozen=True)
class ReadyPolicy:
    """A policy made ready to be sampled from."""

    shared: GameTables
    bounds: Ints
    """[row, k] the 32-bit number below which the k-th legal action, or one before it, is taken."""

    def rows(self, states: Any, clock: Any) -> Any:
        """The rows of `bounds` of states at readings of the clock: a row a state, for every reading again."""
        clocked = len(self.bounds) > self.shared.tables.states
        return states + self.shared.tables.states * clock if clocked else states


class Batch(Named, Copyable, ABC):
    """`num_envs` games under way at once.

    What happens in environment number `first + i` depends on the seed, on that number and on the
    actions it is given, never on the rest of the batch. A copy, pickled or not, goes on as the
    original would.
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
        form: Form = PLAIN,
        copy: bool = True,
    ) -> None:
        self.rules = rules
        self.form = form
        self.num_envs = num_envs
        self.limit = rules.limit_value
        self.first = first
        self.autoreset = autoreset
        self._copy = copy
        self.keep_final = False
        """Whether the last look at games that are reset by themselves is kept, in what follows."""
        self.final_observations: Bytes
        """[seat, ended env] what the seats are shown of the games that the last step ended."""
        self.final_masks: Bytes
        """[seat, ended env, action] where the limit truncated a game, what could have been played next, as
        far as the seat knows; 0 in other games."""
        self.final_actors: Bytes
        """[ended env] who would have moved next where the limit truncated a game; NOBODY in other games."""
        self._clock = np.zeros(num_envs, np.int64)
        self._over: Flags | None = None if autoreset else np.zeros(num_envs, np.bool_)
        self._cut = np.zeros(num_envs, np.bool_)
        self._streams: NDArray[np.uint64] = dice.streams(seed, first, num_envs)
        self._copied = (*vars(self), *_FINAL, "_copied")
        self._get_ready()
        self._keep_nothing()
        self._start(None)

    def _get_ready(self) -> None:
        self._plain = self.form == PLAIN
        self._word: NDArray[np.uint64] | None = None
        self._prepare()
        self._left = left_shown(self.rules) if self.form.is_limit_draw else None
        self._past = Past(self.rules, self.form.memory, self.num_envs) if self.form.memory else None
        self.observation_size += self.form.numbers(self.rules)

    def __getstate__(self) -> dict[str, Any]:
        # What is prepared from the rules is shared by a process, and too large to be sent to another.
        kept = {name: getattr(self, name) for name in self._copied}
        return kept | {"position": self._position(), "past": self._past}

    def __setstate__(self, state: dict[str, Any]) -> None:
        position, past = state.pop("position"), state.pop("past")
        vars(self).update(state)
        self._get_ready()
        self._past = past
        self._place(position)

    # -- what a kind of batch has to say -----------------------------------------------------------

    @abstractmethod
    def _prepare(self) -> None:
        """Before the first reset: say `num_actions` and `observation_size`, and get ready what it takes."""

    @abstractmethod
    def _position(self) -> Any:
        """Where all games are, as something that can be copied."""

    @abstractmethod
    def _place(self, position: Any) -> None:
        """Put all games where `_position` said, in a batch that has been prepared."""

    @abstractmethod
    def _begin(self, which: Places | None) -> None:
        """Begin a game in environments (None: all), by their streams if it begins with chance."""

    @abstractmethod
    def _play(self, actions: Ints, chance: Ints, idle: Flags | None) -> tuple[Bytes, Bytes | None]:
        """Play one action everywhere except where it is `idle`; give the results and the clock's ticks.

        Games that are idle have no result and no ticks. Raises IllegalMove before anything has changed.
        """

    @abstractmethod
    def _actor(self) -> Bytes:
        """Who is to move, ignoring `over`."""

    @abstractmethod
    def _masks(self) -> Bytes:
        """[env, action] which actions the rules allow, ignoring `over`."""

    @abstractmethod
    def _sample(self, bits: Ints, policy: ReadyPolicy | None) -> Ints:
        """A legal action everywhere, by `policy` or uniformly at random, from 32 random bits each."""

    @abstractmethod
    def _observe(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        """What `seats` are shown by the game's features, in all environments or in those given."""

    def _shown_to_mover(self) -> Bytes:
        """What the seat to move is shown by the game's features, where all games are under way."""
        return self._observe(self._actor())

    def _masks_given(self) -> Bytes:
        """The same as `_masks`, in an array of the batch's own if it need not copy that."""
        return self._masks()

    def _shown(self, seats: int | Bytes, which: Places | None = None) -> Bytes:
        """All that `seats` are shown."""
        shown = self._observe(seats, which)
        if self._plain:
            return shown
        parts, places = [shown], slice(None) if which is None else which
        if self._left is not None:
            parts.append(self._left.take(len(self._left) - 1 - self._clock[places], axis=0))
        if self._past:
            parts.append(self._past.shown(seats, places))
        return np.concatenate(parts, axis=1)

    def _hides(self, actions: Ints) -> Flags:
        """[env] whether the other seat is not told that these actions are taken."""
        raise NotImplementedError(f"{self.rules.name} has secrets, and does not say what is hidden.")

    # -- playing -----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """Start every game afresh; with a seed, start the randomness afresh too."""
        if seed is None:
            self._streams += np.uint64(dice.GAMMA)
        else:
            self._streams = dice.streams(seed, self.first, self.num_envs)
        self._start(None)

    def reseed(self, seeds: NDArray[np.uint64], which: Flags | None = None) -> None:
        """Start games (None: all) and their randomness afresh, as single environments with these seeds."""
        if which is None:
            self._streams = dice.streams_of(seeds)
        else:
            which = self._flags(which)
            self._streams[which] = dice.streams_of(seeds[which])
        self._start(None if which is None else np.flatnonzero(which))

    def restart(self, which: Flags) -> None:
        """Begin new games where `which` says so; those that are under way are broken off."""
        which = self._flags(which)
        self._streams[which if self._over is None else which & ~self._over] += np.uint64(dice.GAMMA)
        self._start(np.flatnonzero(which))

    def _start(self, which: Places | None) -> None:
        places = slice(None) if which is None else which
        self._word = None
        if self.limit is not None:
            self._clock[places] = 0
        if self._past:
            self._past.clear(places)
        if self._over is not None:
            self._over[places] = False
            self._cut[places] = False
        self._begin(which)

    @property
    def actor(self) -> Bytes:
        """[env] the seat to move; NOBODY where the game is over and is not reset by itself."""
        actor = self._actor()
        if self._over is not None:
            actor[self._over] = NOBODY
        return actor

    @property
    def cut_off(self) -> Flags:
        """[env] whether the limit has ended the game; it is over until it is reset."""
        return self._cut.copy()

    def masks(self) -> Bytes:
        """[env, action] 1 where the seat to move may take the action.

        Where a limit has truncated the game, 1 where the seat that would have been to move could have taken
        it.
        """
        if self._over is None:
            return self._masks_given()
        return self._masks_now()

    def _masks_now(self) -> Bytes:
        """The same as a new array."""
        masks = self._masks()
        if self._over is not None and self._over.any():
            masks[self._over & ~self._truncated] = 0
        return masks

    @property
    def _truncated(self) -> Flags:
        """[env] whether the limit has truncated the game."""
        return np.zeros_like(self._cut) if self.form.is_limit_draw else self._cut

    def masks_for(self, seat: int | Bytes) -> Bytes:
        """[env, action] 1 where an agent at `seat` may take the action: nothing while it is the other's turn.

        Where a limit has truncated the game, 1 where the next action could have been this one, as far as the
        seat knows. Seats can be an array, one an environment.
        """
        masks, others = self._masks_now(), self._actor() != self._checked_seats(seat)
        if others.any():
            truncated = self._truncated
            masks[others & ~truncated] = 0
            self._veil(masks, others & truncated)
        return masks

    def _veil(self, masks: Bytes, others: Flags) -> None:
        """Hide what the other seat could have played next: it can tell where it is."""
        if self.rules.has_secrets:
            masks[others] = 1

    def observe(self, seat: int | Bytes | None = None) -> Bytes:
        """[env, number] what `seat` is shown, or, without one, what the seat to move is shown.

        Seats can be an array, one an environment. Where a game is over and nobody is to move, what the seat
        to move is shown is what seat 0 is.
        """
        if seat is None and self._over is None and self._plain:
            return self._shown_to_mover()
        return self._shown(self._checked_seats(self.actor if seat is None else seat))

    def _checked_seats(self, seat: int | Bytes) -> int | Bytes:
        """A seat, or one for each environment; seat 0 for NOBODY, as `actor` has it where games are over."""
        if isinstance(seat, np.ndarray):
            fits = seat.shape == (self.num_envs,) and seat.dtype.kind in "iu"
            if fits and seat.min() >= NOBODY and seat.max() <= 1:
                return np.maximum(seat, 0)
        elif seat in (0, 1):
            return int(seat)
        raise DuelsError(f"Seats are 0 and 1 here, or an array of {self.num_envs} of them, not {seat}.")

    def draw_seats(self) -> Bytes:
        """[env] a seat for an agent of the game that begins now, by lot."""
        return dice.seat_all(self._streams)

    @property
    def tables(self) -> Tables:
        """The rules as tables, in a game that has them (`TableBatch`)."""
        raise self._no_tables()

    @property
    def states(self) -> Ints:
        """[env] the state of every game, as `tables` number them."""
        raise self._no_tables()

    def policy(self, table: ArrayLike | ReadyPolicy) -> ReadyPolicy:
        """A policy given as a table, made ready for `sample` and `rollout`.

        What a table can be depends on the game: see `TableBatch.policy`.
        """
        raise self._no_tables()

    def _no_tables(self) -> NoTables:
        return NoTables(
            f"Batches of {self.rules.name} have no tables and take none: "
            "use a function of an observation and a mask."
        )

    def _ready(self, policy: ArrayLike | ReadyPolicy | None) -> ReadyPolicy | None:
        """A policy made ready; None for random play."""
        if not isinstance(policy, str):
            return None if policy is None else self.policy(policy)
        if policy == RANDOM:
            return None
        raise DuelsError(
            f"A policy of a batch is {RANDOM!r} or a table (duels.table_of makes one of an agent), "
            f"not {policy!r}."
        )

    def sample(self, policy: ArrayLike | ReadyPolicy | None = None) -> Ints:
        """[env] actions by a policy, or uniformly random legal ones; the same until the next step.

        A policy is a table, better made ready once by `policy` if it is used often, or `random`.
        """
        return self._sample(self.bits(), self._ready(policy))

    def rollout(self, steps: int, policy: ArrayLike | ReadyPolicy | None = None) -> BatchTally:
        """Play `steps` steps everywhere and count how games end; games that end start again.

        Both seats play by `policy`, a table or `random`: exactly as `step(sample(policy))` would.
        """
        ready = self._ready(policy)
        tally = BatchTally.of(self.num_envs, check_int("steps", steps, 0))
        if not self.autoreset:
            raise DuelsError("A rollout needs a batch that starts ended games again (autoreset=True).")
        for _ in range(steps):
            tally.add(self._step(self._sample(self.bits(), ready), None))
        return tally

    def bits(self) -> Ints:
        """[env] 32 random bits to choose an action by; the same until the next step."""
        bits: Ints = (self._fallen() & _HALF).view(np.int64)
        return bits

    def _fallen(self) -> NDArray[np.uint64]:
        """[env] the next words of the streams; the same until the next step."""
        if self._word is None:
            self._word = dice.next_words(self._streams)
        return self._word

    def step(self, actions: ArrayLike, which: Flags | None = None) -> Steps:
        """Play an action of the seat to move in every environment, and the chance that follows from it.

        Where `which` is False nothing happens, whatever the action. A game that ends is started again
        at once, unless the batch was made with `autoreset=False`: then it stays over, and whatever is
        played there is ignored.
        """
        idle = self._idle(which)
        return self._step(self._checked(actions, idle), idle)

    def _step(self, actions: Ints, idle: Flags | None) -> Steps:
        """Play numbers of actions everywhere except where it is `idle`."""
        chance = (self._fallen() >> _HALF_AT).view(np.int64)
        entries = (self._actor(), actions, self._hides(actions)) if self._past else None
        result, ticks = self._play(actions, chance, idle)
        if self._past and entries:
            self._past.add(*entries, None if idle is None else ~idle)
        self._word = None
        self._streams += _GAMMA if idle is None else _GAMMA * ~idle
        terminated = result != ONGOING
        cut = self._count(ticks) & ~terminated
        (places,) = (terminated | cut).nonzero()
        rewards = np.zeros((self.num_envs, 2), np.float32)
        rewards[places] = POINTS.take(result.take(places) + 1, axis=0)
        self._finish(places, cut)
        if self.form.is_limit_draw:
            return Steps(rewards, terminated | cut, np.zeros_like(cut))
        return Steps(rewards, terminated, cut)

    def _count(self, ticks: Bytes | None) -> Flags:
        """Let the clocks go on; [env] whether the limit is reached now."""
        if self.limit is None or ticks is None:
            return np.zeros(self.num_envs, np.bool_)
        self._clock += ticks
        reached: Flags = (self._clock >= self.limit) & (ticks > 0)
        return reached

    def _idle(self, which: Flags | None) -> Flags | None:
        """Where nothing is to be played; None: nowhere."""
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
        """Games have ended there."""
        if not len(places):
            if self.keep_final:
                self._keep_nothing()
            return
        if self.keep_final:
            self._keep_last(places, cut & (not self.form.is_limit_draw))
        if self._over is not None:
            self._over[places] = True
            self._cut |= cut
        else:
            self._start(places)

    def _keep_nothing(self) -> None:
        """Nothing has just ended."""
        self.final_observations = np.zeros((2, 0, self.observation_size), np.int8)
        self.final_masks = np.zeros((2, 0, self.num_actions), np.int8)
        self.final_actors = np.zeros(0, np.int8)

    def _keep_last(self, places: NDArray[np.intp], truncated: Flags) -> None:
        """Keep what is to be seen of games that have just ended."""
        cut = truncated[places]
        self.final_observations = np.stack([self._shown(seat, places) for seat in (0, 1)])
        self.final_actors = np.where(cut, self._actor()[places], NOBODY).astype(np.int8)
        self.final_masks = np.stack([self._masks()[places] * cut[:, None]] * 2)
        for seat in (0, 1):
            self._veil(self.final_masks[seat], cut & (self.final_actors != seat))

    def _checked(self, actions: ArrayLike, idle: Flags | None) -> Ints:
        given = whole_numbers(actions, self.num_envs)
        if idle is not None:
            given = np.where(idle, 0, given)
        wrong = (given < 0) | (given >= self.num_actions)
        if wrong.any():
            self._refuse(wrong, given)
        return given

    def _refuse(self, wrong: Flags, actions: Ints) -> None:
        env = int(np.argmax(wrong))
        raise IllegalMove(f"Action {actions[env]} is not allowed now in environment {env}.")
