"""Many duels against an opponent as one Gymnasium vector environment, on arrays throughout."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from duels.analysis.grading import compute_grades
from duels.core.errors import DuelsError
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.core.validation import as_int, check_flag, check_int
from duels.envs.batch import RANDOM, Bytes, Flags, whole_numbers
from duels.envs.form import Copyable, Named, form_of, refuse_options
from duels.envs.gymnasium.many_opponents import (
    ONE_BY_ONE,
    ManyOpposing,
    knows_positions,
    opposing_many,
    refuse_clock,
)
from duels.envs.gymnasium.opponents import Opponent, refuse_other_response
from duels.envs.gymnasium.single import seats_of
from duels.envs.observations import ACTION_MASK, InDict, Observations
from duels.envs.results import Steps
from duels.envs.tabled import make_batch
from duels.games import resolve_rules

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

RESET_MASK = "reset_mask"


class DuelVectorEnv(Named, Copyable, gymnasium.vector.VectorEnv[Any, Numbers, NDArray[Any]]):
    """`num_envs` duels from the agent's seat, on arrays: of a game or the one of that name, or by rules.

    The environment number k of seed s is, game for game, the `DuelEnv` of seed s + k.

    `opponent` is `random`, a policy table (`duels.vector`), or a function of observations and masks, a row a
    game; in hunt, and in flip with the extra `fast`, also a level by name; in games that have tables and no
    secrets (lights, leap and chain) a player that tells its `odds`, by name or itself; or a dictionary of one
    for each seat. For any other, make the environment with `vectorization_mode="sync"`. `set_opponent`
    changes it. `seat`, `memory`, `dict_observations` and `dtype` are as for a `DuelEnv`.

    A game that ends is reset as `autoreset_mode` says: in the next step, whose action is ignored there; in
    the same step, with the last observation in `info["final_obs"]` and the rest in `info["final_info"]`; or
    not by itself. `reset(options={"reset_mask": …})` resets some games only. A game is truncated by a limit
    of its rules, and after `max_episode_steps` steps of the agent; with `limit_ends="draw"` the limit of the
    rules ends it drawn, and what is left of it is observed. With `grade`, in games that have tables
    and no secrets, `info` holds the `value` of every position to the agent, the `regret` of its last actions
    and their `exactness`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: str | Game | AnyRules,
        num_envs: int = 1,
        opponent: Opponent = RANDOM,
        seat: int | str = 1,
        render_mode: str | None = None,
        grade: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        limit_ends: str = TRUNCATION,
        memory: int = 0,
        dict_observations: InDict = False,
        dtype: DTypeLike = np.float32,
        **options: OptionValue,
    ) -> None:
        self._seats = seats = seats_of(seat)
        if render_mode is not None:
            raise DuelsError(f"Many games at once are not drawn: {ONE_BY_ONE}.")
        self.rules = resolve_rules(game, **options)
        self.num_envs = num_envs = check_int("num_envs", num_envs, 1)
        self.autoreset_mode = _mode_of(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._most_steps = None
        if max_episode_steps is not None:
            self._most_steps = check_int("max_episode_steps", max_episode_steps, 1)
        self.form = form_of(self.rules, limit_ends, memory)
        self._batch = make_batch(self.rules, num_envs, autoreset=False, form=self.form)
        self._seat: int | Bytes = seats[0] if len(seats) == 1 else np.zeros(num_envs, np.int8)
        self._observations = Observations(dtype, dict_observations)
        self._opponents: list[ManyOpposing] = []
        self._facing, self._facing_next = np.zeros((2, num_envs), np.int64)
        self.set_opponent(opponent)
        if check_flag("grade", grade):
            if not knows_positions(self._batch):
                raise DuelsError(f"{self.rules.name} is graded one game at a time: {ONE_BY_ONE}.")
            refuse_clock(self.rules)
        self._grades = compute_grades(self.rules) if grade else None
        self._regrets = np.zeros(num_envs)
        self._steps = np.zeros(num_envs, np.int64)
        self._forfeited = np.zeros(num_envs, np.bool_)
        self._ended = np.zeros(num_envs, np.bool_)
        self._seeded = False
        self.single_observation_space = self._observations.space(
            self._batch.observation_size, self._batch.num_actions
        )
        self.single_action_space = spaces.Discrete(self._batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    # -- resets ------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        which = self._reset_mask(options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds, given = self._seeds(seed)
        self._batch.reseed(seeds, which & given)
        self._seeded = True
        self._begin(which, which & ~given)
        return self._shown(), self._told(self._info(), which)

    def _reset_mask(self, options: dict[str, Any] | None) -> Flags:
        """Which environments are to be reset: all, unless the options have a mask."""
        others = dict(options or {})
        which = others.pop(RESET_MASK, None)
        refuse_options(others)
        if which is None:
            return np.ones(self.num_envs, np.bool_)
        which = self._flags(RESET_MASK, which)
        if not which.any():
            raise DuelsError(f"{RESET_MASK} must select at least one environment.")
        if not self._seeded and not which.all():
            raise DuelsError("The first reset is of all environments.")
        return which

    def _flags(self, name: str, which: Any) -> Flags:
        """The array, if it says True or False of every environment."""
        if not isinstance(which, np.ndarray) or which.dtype != np.bool_ or which.shape != (self.num_envs,):
            raise DuelsError(f"{name} must be a boolean array of length {self.num_envs}.")
        return which

    def _seeds(self, seed: int | Sequence[int | None] | None) -> tuple[NDArray[np.uint64], Flags]:
        """[env] its seed, and whether it is to be seeded anew.

        It is as Gymnasium has it: a seed from the list, or the environment's number added to the one given.
        """
        if seed is None and self._seeded:
            return np.zeros(self.num_envs, np.uint64), np.zeros(self.num_envs, np.bool_)
        first = self._any_seed() if seed is None else as_int(seed)
        if first is not None:
            seeds = np.uint64(first % 2**64) + np.arange(self.num_envs, dtype=np.uint64)
            return seeds, np.ones(self.num_envs, np.bool_)
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise DuelsError(
                f"A seed is a whole number, or a list of one for each of {self.num_envs} environments."
            )
        each = [self._any_seed() if one is None else check_int("A seed", one) for one in seed]
        anew = np.array([one is not None or not self._seeded for one in seed])
        return np.array([one % 2**64 for one in each], np.uint64), anew

    def _any_seed(self) -> int:
        return int(self.np_random.integers(2**63))

    def _begin(self, which: Flags, going_on: Flags) -> None:
        """Begin games, where they are `going_on` with the randomness they have; the opponent may open."""
        if going_on.any():
            self._batch.restart(going_on)
        self._regrets[which] = 0
        self._steps[which] = 0
        self._forfeited[which] = False
        self._ended[which] = False
        if isinstance(self._seat, np.ndarray):
            self._seat[which] = self._batch.draw_seats()[which]
        self._facing[which] = self._facing_next[which]
        self._drop_opponents()
        for opponent in self._opponents:
            opponent.begin(which)
        opened = _Results(self)
        self._answer(opened)
        if opened.ended.any():
            raise DuelsError("Under these rules the opponent ends the game before the agent can move.")

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: Numbers) -> tuple[Any, Floats, Flags, Flags, dict[str, Any]]:
        actions = self._checked(actions)
        fresh = self._ended.copy()
        if fresh.any():
            if self.autoreset_mode is AutoresetMode.DISABLED:
                raise DuelsError(
                    f"The game is over in environment {fresh.argmax()}: reset it, "
                    f"with options={{{RESET_MASK!r}: …}} to go on in the others."
                )
            self._begin(fresh, fresh)
        results = self._play(actions, ~fresh)
        self._ended = results.ended
        info = self._info()
        everywhere = np.ones(self.num_envs, np.bool_)
        if self.autoreset_mode is not AutoresetMode.SAME_STEP or not self._ended.any():
            info = self._told(info, everywhere) | self._illegal()
        else:
            info = self._reset_ended(info)
        return self._shown(), results.rewards, results.terminated, results.truncated, info

    def _checked(self, actions: Numbers) -> Numbers:
        if not self._seeded:
            raise DuelsError("The environment must be reset before its first step.")
        return whole_numbers(actions, self.num_envs)

    def _play(self, actions: Numbers, which: Flags) -> "_Results":
        """Play the agent's actions in `which` games, and the opponent's answers."""
        batch, results = self._batch, _Results(self)
        legal = (actions >= 0) & (actions < batch.num_actions)
        actions = np.where(legal, actions, 0)
        legal &= batch.masks()[np.arange(self.num_envs), actions] == 1
        legal &= which
        self._forfeited = which & ~legal
        if self._grades:
            # An action that is not allowed gives away all that the position was worth.
            regrets = np.where(legal, self._grades.regrets[batch.states, actions], self._values())
            self._regrets = np.where(which, regrets, 0.0)
        results.add(self._step(actions, legal))
        results.lose(self._forfeited)
        self._answer(results)
        if self._most_steps is not None:
            self._steps += which
            results.truncated |= which & (self._steps >= self._most_steps)
        return results

    def _answer(self, results: "_Results") -> None:
        """Let the opponent play wherever it is its turn, until it is the agent's or the game is over."""
        while True:
            waiting = self._batch.actor == 1 - self._seat
            if not waiting.any():
                return
            results.add(self._step(self._answers(waiting), waiting))

    def _step(self, actions: Numbers, which: Flags) -> Steps:
        """Play in some games; the opponents hear of it."""
        for opponent in self._opponents:
            opponent.saw(self._batch, actions, 1 - self._seat, which)
        return self._batch.step(actions, None if which.all() else which)

    def _answers(self, waiting: Flags) -> Numbers:
        """[env] the opponents' actions, where they are waited for."""
        if len(self._opponents) == 1:
            return self._opponents[0].choose(self._batch, 1 - self._seat, waiting)
        actions = np.zeros(self.num_envs, np.int64)
        for number, opponent in enumerate(self._opponents):
            which = waiting & (self._facing == number)
            if which.any():
                actions[which] = opponent.choose(self._batch, 1 - self._seat, which)[which]
        return actions

    def _reset_ended(self, info: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Reset the games that have just ended; give what is told of them and of those that begin."""
        ended, illegal = self._ended.copy(), self._illegal()
        shown = self._shown()
        last = np.full(self.num_envs, None, object)
        for env in np.flatnonzero(ended):
            last[env] = {k: v[env] for k, v in shown.items()} if isinstance(shown, dict) else shown[env]
        self._begin(ended, ended)
        return {
            "final_obs": last,
            "_final_obs": ended,
            "final_info": self._told(info, ended) | illegal,
            "_final_info": ended,
            **self._told(self._info(), np.ones(self.num_envs, np.bool_)),
        }

    # -- what is told ------------------------------------------------------------------------------

    def action_masks(self) -> Flags:
        """[env, action] whether the agent may take it now."""
        return self._masks().astype(np.bool_)

    @property
    def seats(self) -> Numbers:
        """[env] the agent's seat, 1 or 2."""
        return np.broadcast_to(np.asarray(self._seat, np.int64) + 1, self.num_envs).copy()

    def _shown(self) -> Any:
        shown = self._batch.observe(self._seat)
        return self._observations.give(shown, self._masks() if self._observations.with_mask else shown)

    def _masks(self) -> Bytes:
        masks = self._batch.masks_for(self._seat)
        if self._forfeited.any():
            masks[self._forfeited] = 0
        return masks

    def _info(self) -> dict[str, NDArray[Any]]:
        info: dict[str, NDArray[Any]] = {ACTION_MASK: self._masks()}
        if isinstance(self._seat, np.ndarray):
            info["seat"] = self.seats
        if self._grades:
            values = np.where(self._forfeited, 0.0, self._values())
            sure = np.full(self.num_envs, self._grades.exactness, object)
            info |= {"value": values, "regret": self._regrets.copy(), "exactness": sure}
        return info

    def _illegal(self) -> dict[str, Any]:
        """What is told of illegal actions, if there were any."""
        forfeited = self._forfeited
        return self._told({"illegal": forfeited.copy()}, forfeited) if forfeited.any() else {}

    @staticmethod
    def _told(info: dict[str, NDArray[Any]], which: Flags) -> dict[str, Any]:
        """Add Gymnasium's `_key` masks; zero where not set."""
        told: dict[str, Any] = {}
        for name, values in info.items():
            if not which.all():
                values[~which] = None if values.dtype == object else 0
            told |= {name: values, f"_{name}": which.copy()}
        return told

    def _values(self) -> Floats:
        """[env] what the position is worth to the agent; one half where the limit has cut the game off."""
        assert self._grades
        values = self._grades.values[self._seat, self._batch.states]
        return np.where(self._batch.cut_off, 0.5, values)

    # -- opponents ---------------------------------------------------------------------------------

    def set_opponent(self, opponent: Opponent, which: Flags | None = None) -> None:
        """Play against another opponent from the next reset on, in every game or where `which` is True."""
        refuse_other_response(opponent, self.rules, self._seats)
        places = slice(None) if which is None else self._flags("which", which)
        self._opponents.append(opposing_many(opponent, self._batch, self._observations))
        self._facing_next[places] = len(self._opponents) - 1
        self._drop_opponents()

    def _drop_opponents(self) -> None:
        """Keep only opponents that some game faces, or will from its next reset on."""
        if len(self._opponents) > 1:
            met, places = np.unique([self._facing, self._facing_next], return_inverse=True)
            self._opponents = [self._opponents[number] for number in met]
            self._facing, self._facing_next = places.reshape(2, self.num_envs)


class _Results:
    """What a step of the agent comes to, gathered from its own move and the opponent's moves."""

    def __init__(self, env: DuelVectorEnv) -> None:
        self._seat = env._seat
        self.rewards = np.zeros(env.num_envs, np.float64)
        self.terminated = np.zeros(env.num_envs, np.bool_)
        self.truncated = np.zeros(env.num_envs, np.bool_)

    @property
    def ended(self) -> Flags:
        return self.terminated | self.truncated

    def add(self, steps: Steps) -> None:
        if isinstance(self._seat, int):
            self.rewards += steps.rewards[:, self._seat]
        else:
            self.rewards += steps.rewards[np.arange(len(self._seat)), self._seat]
        self.terminated |= steps.terminated
        self.truncated |= steps.truncated

    def lose(self, illegal: Flags) -> None:
        """Count the games lost that the agent ends with an action that is not allowed."""
        self.rewards[illegal] = -1.0
        self.terminated |= illegal


def _mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.value):
            return known
    names = ", ".join(known.value for known in AutoresetMode)
    raise DuelsError(f"An autoreset_mode is one of {names}, not {mode!r}.")
