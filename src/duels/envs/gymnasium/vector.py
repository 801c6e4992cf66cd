"""A Gymnasium vector environment: many games against an opponent, on arrays."""

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
from duels.envs.batch import RANDOM, Bytes, Flags, Steps, check_action_array, check_flag_array
from duels.envs.gymnasium.opponents import (
    USE_SYNC_MODE,
    Opponent,
    VectorOpponent,
    check_best_response,
    check_no_clock,
    has_open_tables,
    make_vector_opponents,
)
from duels.envs.gymnasium.single import parse_seats
from duels.envs.observations import ACTION_MASK, DictObservations, ObservationFormat
from duels.envs.settings import Copyable, FeatureNames, make_settings, reject_reset_options, resolve_env_rules
from duels.envs.table_batch import make_batch

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

RESET_MASK = "reset_mask"


class DuelVectorEnv(FeatureNames, Copyable, gymnasium.vector.VectorEnv[Any, Numbers, NDArray[Any]]):
    """`num_envs` games in which the agent plays one seat, on arrays.

    Environment k with seed s plays the same games as a `DuelEnv` with seed s + k.

    - `opponent`: `random`, a level (in flip with the extra `fast`), a policy table, a function of
      observations and masks with one row per game, or a dictionary with one of these for each seat. In
      lights, leap and chain, also any player with a method `odds`. For other opponents make the environment
      with `vectorization_mode="sync"`. `set_opponent` changes the opponent.
    - `autoreset_mode`: `NextStep` resets an ended game in the next step and ignores the action. `SameStep`
      resets it at once and keeps its last observation and info in `info["final_obs"]` and
      `info["final_info"]`. `Disabled` does not reset.
    - `max_episode_steps`: truncate a game after this many steps of the agent.
    - `grade`: add `value`, `regret` and `exactness` to `info`, in games with tables and without hidden
      information.
    - `seat`, `limit_ends`, `memory`, `dict_observations`, `dtype` and `bool_masks`: as in `DuelEnv`.

    `reset(options={"reset_mask": mask})` resets only the games that the mask selects.

    Raises DuelsError for an argument that is not allowed. `step` raises it before the first reset.

    >>> envs = DuelVectorEnv("leap", num_envs=3, opponent="club")
    >>> observations, info = envs.reset(seed=7)
    >>> observations.shape[0], info["action_mask"].shape[0]
    (3, 3)
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
        dict_observations: DictObservations = False,
        dtype: DTypeLike = np.float32,
        bool_masks: bool = False,
        **options: OptionValue,
    ) -> None:
        self._seats = seats = parse_seats(seat)
        if render_mode is not None:
            raise DuelsError(f"A vector environment cannot render: {USE_SYNC_MODE}.")
        self.rules = resolve_env_rules(game, **options)
        self.num_envs = num_envs = check_int("num_envs", num_envs, 1)
        self.autoreset_mode = _parse_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._max_steps = None
        if max_episode_steps is not None:
            self._max_steps = check_int("max_episode_steps", max_episode_steps, 1)
        self.settings = make_settings(self.rules, limit_ends, memory)
        self._batch = make_batch(self.rules, num_envs, autoreset=False, settings=self.settings)
        self._seat: int | Bytes = seats[0] if len(seats) == 1 else np.zeros(num_envs, np.int8)
        self._observations = ObservationFormat(dtype, dict_observations, bool_masks)
        self._opponents: list[VectorOpponent] = []
        self._opponent_index = np.zeros(num_envs, np.int64)
        self._next_opponent_index = np.zeros((2, num_envs), np.int64)
        self.set_opponent(opponent)
        if check_flag("grade", grade):
            if not has_open_tables(self._batch):
                raise DuelsError(f"Only single games of {self.rules.name} can be graded: {USE_SYNC_MODE}.")
            check_no_clock(self.rules)
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
        env_mask = self._reset_mask(options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds, is_new = self._seeds(seed)
        self._batch.reseed(seeds, env_mask & is_new)
        self._seeded = True
        self._begin(env_mask, env_mask & ~is_new)
        return self._observe(), self._with_flags(self._info(), env_mask)

    def _reset_mask(self, options: dict[str, Any] | None) -> Flags:
        other_options = dict(options or {})
        env_mask = other_options.pop(RESET_MASK, None)
        reject_reset_options(other_options)
        if env_mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(env_mask, np.ndarray):
            env_mask = ()  # reject lists, as Gymnasium does
        env_mask = check_flag_array(RESET_MASK, env_mask, self.num_envs)
        if not env_mask.any():
            raise DuelsError(f"{RESET_MASK} must select at least one environment.")
        if not self._seeded and not env_mask.all():
            raise DuelsError("The first reset must include all environments.")
        return env_mask

    def _seeds(self, seed: int | Sequence[int | None] | None) -> tuple[NDArray[np.uint64], Flags]:
        """Return the seeds, and whether each environment gets a new seed, both indexed [env].

        As in Gymnasium, a single seed becomes one seed per environment: seed, seed + 1, and so on.
        """
        if seed is None and self._seeded:
            return np.zeros(self.num_envs, np.uint64), np.zeros(self.num_envs, np.bool_)
        first = self._draw_seed() if seed is None else as_int(seed)
        if first is not None:
            seeds = np.uint64(first % 2**64) + np.arange(self.num_envs, dtype=np.uint64)
            return seeds, np.ones(self.num_envs, np.bool_)
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise DuelsError(
                f"'seed' must be an integer or a list of {self.num_envs} integers, one per environment."
            )
        numbers = [self._draw_seed() if item is None else check_int("A seed", item) for item in seed]
        is_new = np.array([item is not None or not self._seeded for item in seed])
        return np.array([number % 2**64 for number in numbers], np.uint64), is_new

    def _draw_seed(self) -> int:
        return int(self.np_random.integers(2**63))

    def _begin(self, env_mask: Flags, continuing: Flags) -> None:
        """Start games and play the opponents' first moves. `continuing` games keep their random streams."""
        if continuing.any():
            self._batch.restart(continuing)
        self._regrets[env_mask] = 0
        self._steps[env_mask] = 0
        self._forfeited[env_mask] = False
        self._ended[env_mask] = False
        if isinstance(self._seat, np.ndarray):
            self._seat[env_mask] = self._batch.draw_seats()[env_mask]
        rows, columns = 2 - self.seats[env_mask], env_mask.nonzero()[0]
        self._opponent_index[env_mask] = self._next_opponent_index[rows, columns]
        self._drop_opponents()
        for opponent in self._opponents:
            opponent.begin(env_mask)
        if any((steps.terminated | steps.truncated).any() for steps in self._play_opponent()):
            raise DuelsError("Under these rules the opponent can end the game before the agent moves.")

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: Numbers) -> tuple[Any, Floats, Flags, Flags, dict[str, Any]]:
        actions = self._check_actions(actions)
        restarted = self._ended.copy()
        if restarted.any():
            if self.autoreset_mode is AutoresetMode.DISABLED:
                raise DuelsError(
                    f"The game is over in environment {restarted.argmax()}. Reset it, "
                    f"with options={{{RESET_MASK!r}: …}} to keep the other games."
                )
            self._begin(restarted, restarted)
        rewards, terminated, truncated = self._play(actions, ~restarted)
        self._ended = terminated | truncated
        info = self._info()
        if self.autoreset_mode is not AutoresetMode.SAME_STEP or not self._ended.any():
            info = self._with_flags(info, np.ones(self.num_envs, np.bool_)) | self._illegal()
        else:
            info = self._reset_ended(info)
        return self._observe(), rewards, terminated, truncated, info

    def _check_actions(self, actions: Numbers) -> Numbers:
        if not self._seeded:
            raise DuelsError("Call reset() before the first step().")
        return check_action_array(actions, self.num_envs)

    def _play(self, actions: Numbers, env_mask: Flags) -> tuple[Floats, Flags, Flags]:
        """Play the agent's and the opponents' moves. Return rewards and both flags, indexed [env]."""
        batch, envs = self._batch, np.arange(self.num_envs)
        legal = (actions >= 0) & (actions < batch.num_actions)
        actions = np.where(legal, actions, 0)
        legal &= batch.masks()[envs, actions] == 1
        legal &= env_mask
        self._forfeited = env_mask & ~legal
        if self._grades:
            # An illegal action loses the whole value of the position.
            regrets = np.where(legal, self._grades.regrets[batch.states, actions], self._values())
            self._regrets = np.where(env_mask, regrets, 0.0)
        steps = [self._step(actions, legal), *self._play_opponent()]
        rewards: Floats = np.array([step.rewards[envs, self._seat] for step in steps], np.float64).sum(axis=0)
        rewards[self._forfeited] = -1.0
        terminated = np.any([step.terminated for step in steps], axis=0) | self._forfeited
        truncated = np.any([step.truncated for step in steps], axis=0)
        if self._max_steps is not None:
            self._steps += env_mask
            truncated |= env_mask & (self._steps >= self._max_steps)
        return rewards, terminated, truncated

    def _play_opponent(self) -> list[Steps]:
        """Play the opponents' moves until the agent's turn or the end in every game. Return their steps."""
        steps = []
        while (waiting := self._batch.actor == 1 - self._seat).any():
            steps.append(self._step(self._choose_opponent_actions(waiting), waiting))
        return steps

    def _step(self, actions: Numbers, env_mask: Flags) -> Steps:
        for opponent in self._opponents:
            opponent.on_actions(self._batch, actions, 1 - self._seat, env_mask)
        return self._batch.step(actions, None if env_mask.all() else env_mask)

    def _choose_opponent_actions(self, waiting: Flags) -> Numbers:
        if len(self._opponents) == 1:
            return self._opponents[0].choose(self._batch, 1 - self._seat, waiting)
        actions = np.zeros(self.num_envs, np.int64)
        for index, opponent in enumerate(self._opponents):
            env_mask = waiting & (self._opponent_index == index)
            if env_mask.any():
                actions[env_mask] = opponent.choose(self._batch, 1 - self._seat, env_mask)[env_mask]
        return actions

    def _reset_ended(self, info: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Reset the games that just ended. Return the info of the new games and of the ended ones."""
        ended, illegal = self._ended.copy(), self._illegal()
        observed = self._observe()
        final = np.full(self.num_envs, None, object)
        is_dict = isinstance(observed, dict)
        for env in np.flatnonzero(ended):
            final[env] = {key: part[env] for key, part in observed.items()} if is_dict else observed[env]
        self._begin(ended, ended)
        return {
            "final_obs": final,
            "_final_obs": ended,
            "final_info": self._with_flags(info, ended) | illegal,
            "_final_info": ended,
            **self._with_flags(self._info(), np.ones(self.num_envs, np.bool_)),
        }

    # -- observations and infos --------------------------------------------------------------------

    def action_masks(self) -> Flags:
        """Return whether each action is legal for the agent now, indexed [env, action]."""
        return self._masks().astype(np.bool_)

    @property
    def seats(self) -> Numbers:
        """The agent's seats, 1 or 2, indexed [env]."""
        return np.broadcast_to(np.asarray(self._seat, np.int64) + 1, self.num_envs).copy()

    def _observe(self) -> Any:
        features = self._batch.observe(self._seat)
        masks = self._masks() if self._observations.with_mask else features
        return self._observations.format(features, masks)

    def _masks(self) -> Bytes:
        masks = self._batch.masks_for(self._seat)
        if self._forfeited.any():
            masks[self._forfeited] = 0
        return masks

    def _info(self) -> dict[str, NDArray[Any]]:
        info: dict[str, NDArray[Any]] = {ACTION_MASK: self._observations.format_mask(self._masks())}
        if isinstance(self._seat, np.ndarray):
            info["seat"] = self.seats
        if self._grades:
            values = np.where(self._forfeited, 0.0, self._values())
            exactness = np.full(self.num_envs, self._grades.exactness, object)
            info |= {"value": values, "regret": self._regrets.copy(), "exactness": exactness}
        return info

    def _illegal(self) -> dict[str, Any]:
        forfeited = self._forfeited
        return self._with_flags({"illegal": forfeited.copy()}, forfeited) if forfeited.any() else {}

    @staticmethod
    def _with_flags(info: dict[str, NDArray[Any]], env_mask: Flags) -> dict[str, Any]:
        """Add Gymnasium's `_key` masks, and clear the values of all other games."""
        result: dict[str, Any] = {}
        for name, values in info.items():
            if not env_mask.all():
                values[~env_mask] = None if values.dtype == object else 0
            result |= {name: values, f"_{name}": env_mask.copy()}
        return result

    def _values(self) -> Floats:
        """Return the values to the agent, indexed [env]: one half in games truncated by the limit."""
        assert self._grades
        values = self._grades.values[self._seat, self._batch.states]
        return np.where(self._batch.cut_off, 0.5, values)

    # -- opponents ---------------------------------------------------------------------------------

    def set_opponent(self, opponent: Opponent, env_mask: Flags | None = None) -> None:
        """Change the opponent from the next reset on, in all games or in those that `env_mask` selects.

        Raises DuelsError if the opponent cannot play many games at once.
        """
        check_best_response(opponent, self.rules, self._seats)
        selected = slice(None) if env_mask is None else check_flag_array("env_mask", env_mask, self.num_envs)
        opponents = make_vector_opponents(opponent, self._batch, self._observations)
        indices = len(self._opponents) + np.arange(len(opponents))
        self._opponents += opponents
        self._next_opponent_index[:, selected] = indices[:, None]  # one row per seat, or one for both
        self._drop_opponents()

    def _drop_opponents(self) -> None:
        """Drop opponents that no game uses, now or after its next reset."""
        if len(self._opponents) > 1:
            indices = np.vstack([self._opponent_index, self._next_opponent_index])
            used_policies, indices = np.unique(indices, return_inverse=True)
            self._opponents = [self._opponents[index] for index in used_policies]
            self._opponent_index, *following = indices.reshape(3, self.num_envs)
            self._next_opponent_index = np.stack(following)


def _parse_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(item.value for item in AutoresetMode)
        raise DuelsError(f"'autoreset_mode' must be one of {names}, not {mode!r}.") from None
