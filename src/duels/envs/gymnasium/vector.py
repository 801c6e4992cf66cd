"""Many duels against an opponent as one Gymnasium vector environment, on arrays throughout."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from duels.core.errors import DuelsError
from duels.core.rules import Rules
from duels.envs import vector
from duels.envs.batch import Bytes, Flags
from duels.envs.grading import grades_of, refuse_clocked, tabulate
from duels.envs.gymnasium.single import RANDOM
from duels.envs.kernels import kernel_of
from duels.games import find_game
from duels.players import make_player
from duels.players.levels import LevelPlayer

Numbers = NDArray[np.int64]


class DuelVectorEnv(gymnasium.vector.VectorEnv[Bytes, Numbers, NDArray[Any]]):
    """`num_envs` duels from the agent's seat, on arrays.

    Against `random` the environment number k of seed s is, game for game, the `DuelEnv` of seed s + k; a
    level mixes its actions alike in both, but draws by other dice.

    `opponent` is `random`, a level of a game without secrets, or a table of a policy (`duels.vector`).
    For any other player, make the environment with `vectorization_mode="sync"`. A game that ends is
    reset in the same step: its last observation is in `info["final_obs"]`, the rest in
    `info["final_info"]`. With `grade`, `info` holds the `value` of every position to the agent and the
    `regret` of its last actions, in games without secrets that have tables (lights, leap, chain).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        opponent: str | ArrayLike = RANDOM,
        seat: int = 1,
        render_mode: None = None,
        grade: bool = False,
        **options: int | None,
    ) -> None:
        if seat not in (1, 2):
            raise DuelsError(f"The agent's seat is 1 or 2, not {seat}.")
        self.num_envs = num_envs
        self._seat = seat - 1
        rules = find_game(game).rules(**options)
        self._batch = vector.make_batch(rules, num_envs)
        self._batch.keep_final = True
        self._policy = None
        if not isinstance(opponent, str):
            self._policy = self._batch.policy(opponent)
        elif opponent != RANDOM:
            self._policy = self._batch.policy(_table_of(opponent, game, rules))
        self._grades = grades_of(rules) if grade else None
        self._regrets = np.zeros(num_envs)
        self._seeded = False
        self.single_observation_space = spaces.Box(0, 1, (self._batch.observation_size,), np.int8)
        self.single_action_space = spaces.Discrete(self._batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bytes, dict[str, Any]]:
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._batch.reset()
        if seed is not None or not self._seeded:
            self._batch.reseed(self._seeds(seed))
        self._seeded = True
        self._regrets[:] = 0
        ended = _Ended(self)
        self._answer(ended)
        if ended.any:
            raise DuelsError("Under these rules the opponent can end the game before the agent moves.")
        return self._batch.observe(self._seat), self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> NDArray[np.uint64]:
        """[env] its seed, as Gymnasium has it: one from the list, or its number added to the one given."""
        if seed is None or isinstance(seed, int | np.integer):
            first = self._any_seed() if seed is None else int(seed)
            return np.uint64(first % 2**64) + np.arange(self.num_envs, dtype=np.uint64)
        if len(seed) != self.num_envs:
            raise DuelsError(f"A list of seeds has one for each of {self.num_envs} environments.")
        return np.array([self._any_seed() if one is None else int(one) % 2**64 for one in seed], np.uint64)

    def _any_seed(self) -> int:
        return int(self.np_random.integers(2**63))

    def step(self, actions: Numbers) -> tuple[Bytes, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        batch = self._batch
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise DuelsError(f"A step needs {self.num_envs} whole numbers, one action an environment.")
        legal = (actions >= 0) & (actions < batch.num_actions)
        actions = np.where(legal, actions, 0)
        legal &= batch.masks()[np.arange(self.num_envs), actions] == 1
        if self._grades:
            # An action that is not allowed gives away all that the position was worth.
            self._regrets = np.where(legal, self._grades.regrets[self._states, actions], self._values())
        ended = _Ended(self)
        if legal.all():
            ended.add(batch.step(actions))
        else:
            ended.add_illegal(~legal)
            ended.add(batch.step(actions, legal))
            batch.restart(~legal)
        self._answer(ended)
        info = self._info()
        if ended.any:
            info |= ended.info(self._regrets if self._grades else None)
            if self._grades:
                self._regrets[ended.over] = 0
                info["regret"] = self._regrets.copy()
        return batch.observe(self._seat), ended.rewards, ended.terminated, ended.truncated, info

    def action_masks(self) -> Flags:
        """[env, action] whether the agent may take it now."""
        return self._batch.masks().astype(np.bool_)

    def _answer(self, ended: "_Ended") -> None:
        """Let the opponent play wherever it is its turn, until it is the agent's everywhere."""
        while True:
            waiting = self._batch.actor != self._seat
            if not waiting.any():
                return
            ended.add(self._batch.step(self._batch.sample(self._policy), waiting))

    def _info(self) -> dict[str, Any]:
        info: dict[str, NDArray[Any]] = {"action_mask": self._batch.masks()}
        if self._grades:
            info["value"] = self._values()
            info["regret"] = self._regrets.copy()
        everywhere = {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}
        return {**info, **everywhere}

    @property
    def _states(self) -> Numbers:
        assert isinstance(self._batch, vector.TableBatch)  # only games with tables have grades of all states
        return self._batch.states

    def _values(self) -> NDArray[np.float64]:
        """[env] what the position is worth to the agent."""
        assert self._grades
        values: NDArray[np.float64] = self._grades.values[self._seat].take(self._states)
        return values


def _table_of(player: str, game: str, rules: Rules[Any, Any, Any]) -> NDArray[np.float64]:
    """The policy of a player by name, if it is one that can be written down."""
    made = make_player(player, find_game(game), rules)
    if not isinstance(made, LevelPlayer) or rules.has_secrets or kernel_of(rules.name, "batch"):
        raise DuelsError(
            f"{player!r} plays {rules.name} one game at a time: make the environment with "
            'vectorization_mode="sync", or give a table of a policy.'
        )
    refuse_clocked(rules)
    return tabulate(made.odds, rules)


class _Ended:
    """What ends during one step of the agent, gathered from its own move and the opponent's moves."""

    def __init__(self, env: DuelVectorEnv) -> None:
        self._batch = env._batch
        self._seat = env._seat
        self.rewards = np.zeros(env.num_envs, np.float64)
        self.terminated = np.zeros(env.num_envs, np.bool_)
        self.truncated = np.zeros(env.num_envs, np.bool_)
        self._illegal = np.zeros(env.num_envs, np.bool_)
        self._actions = env._batch.num_actions
        self._final = np.full(env.num_envs, None, object)

    @property
    def over(self) -> Flags:
        return self.terminated | self.truncated

    @property
    def any(self) -> bool:
        return bool(self.over.any())

    def add(self, steps: vector.Steps) -> None:
        ended = steps.terminated | steps.truncated
        if not ended.any():
            return
        if (ended & self.over).any():
            raise DuelsError("Under these rules the opponent ends the game before the agent can move.")
        self.rewards += steps.rewards[:, self._seat]
        self.terminated |= steps.terminated
        self.truncated |= steps.truncated
        assert self._batch.final_observations is not None
        self._keep(np.flatnonzero(ended), self._batch.final_observations[self._seat])

    def add_illegal(self, illegal: Flags) -> None:
        """Count the games lost that the agent ends with an action that is not allowed."""
        self.rewards[illegal] = -1.0
        self.terminated |= illegal
        self._illegal |= illegal
        self._keep(np.flatnonzero(illegal), self._batch.observe(self._seat)[illegal])

    def _keep(self, places: NDArray[np.intp], observations: Bytes) -> None:
        for place, observation in zip(places, observations, strict=True):
            self._final[place] = observation

    def info(self, regrets: NDArray[np.float64] | None) -> dict[str, Any]:
        """What Gymnasium keeps of games that ended; graded if the last regrets are given."""
        ended = self.over
        last: dict[str, NDArray[Any]] = {
            "action_mask": np.zeros((len(ended), self._actions), np.int8),
            "illegal": self._illegal,
        }
        if regrets is not None:
            # Won, lost or cut off: what a game that is over is worth needs no oracle.
            last["value"] = np.where(ended, (1 + self.rewards) / 2, 0.0)
            last["regret"] = np.where(ended, regrets, 0.0)
        return {
            "final_obs": self._final,
            "_final_obs": ended,
            "final_info": {**last, **{f"_{name}": ended for name in last}},
            "_final_info": ended,
        }
