"""Many duels against an opponent as one Gymnasium vector environment, on arrays throughout."""

from collections.abc import Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import is_player
from duels.analysis.exploitability import tabulate
from duels.analysis.grading import clock_matters, grades_of
from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import Rules
from duels.core.validation import as_int, check_flag, check_int
from duels.envs.batch import RANDOM, Bytes, Flags, Steps
from duels.envs.gymnasium.single import refuse_options
from duels.envs.tabled import TableBatch, make_batch
from duels.games import rules_of
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer

Numbers = NDArray[np.int64]

ONE_BY_ONE = 'make the environment with vectorization_mode="sync"'


class DuelVectorEnv(gymnasium.vector.VectorEnv[Bytes, Numbers, NDArray[Any]]):
    """`num_envs` duels from the agent's seat, on arrays: of a game or the one of that name, or by rules.

    Against `random` the environment number k of seed s is, game for game, the `DuelEnv` of seed s + k; a
    level mixes its actions alike in both, but draws by other dice.

    `opponent` is `random` or a policy table (`duels.vector`); in games that have tables and no secrets
    (lights, leap and chain) also a player that tells its `odds`, by name or itself. For any other, make the
    environment with `vectorization_mode="sync"`. A game that ends is reset in the same step: its last
    observation is in `info["final_obs"]`, the rest in `info["final_info"]`. With `grade`, in those games,
    `info` holds the `value` of every position to the agent, the `regret` of its last actions and their
    `exactness`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str | Game | Rules[Any, Any, Any],
        num_envs: int = 1,
        opponent: str | Player | ArrayLike = RANDOM,
        seat: int = 1,
        render_mode: str | None = None,
        grade: bool = False,
        **options: OptionValue,
    ) -> None:
        if as_int(seat) not in (1, 2):
            raise DuelsError(f"The agent's seat is 1 or 2, not {seat!r}.")
        if render_mode is not None:
            raise DuelsError(f"Many games at once are not drawn: {ONE_BY_ONE}.")
        self.rules = rules_of(game, **options)
        self.num_envs = num_envs = check_int("num_envs", num_envs, 1)
        self._batch = make_batch(self.rules, num_envs)
        self._batch.keep_final = True
        self._seat = seat - 1
        self._policy = None
        if not isinstance(opponent, str) or opponent != RANDOM:
            self._policy = self._batch.policy(self._table_of(opponent))
        if check_flag("grade", grade):
            if not self._knows_positions:
                raise DuelsError(f"{self.rules.name} is graded one game at a time: {ONE_BY_ONE}.")
            self._refuse_clock()
        self._grades = grades_of(self.rules) if grade else None
        self._regrets = np.zeros(num_envs)
        self._seeded = False
        self.single_observation_space = spaces.Box(0, 1, (self._batch.observation_size,), np.int8)
        self.single_action_space = spaces.Discrete(self._batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bytes, dict[str, Any]]:
        refuse_options(options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is not None or not self._seeded:
            self._batch.reseed(self._seeds(seed))
        else:
            self._batch.reset()
        self._seeded = True
        self._regrets[:] = 0
        ended = _Ended(self)
        self._answer(ended)
        if ended.any:
            raise DuelsError("Under these rules the opponent can end the game before the agent moves.")
        return self._batch.observe(self._seat), self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> NDArray[np.uint64]:
        """[env] its seed, as Gymnasium has it: one from the list, or its number added to the one given."""
        first = self._any_seed() if seed is None else as_int(seed)
        if first is not None:
            return np.uint64(first % 2**64) + np.arange(self.num_envs, dtype=np.uint64)
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise DuelsError(
                f"A seed is a whole number, or a list of one for each of {self.num_envs} environments."
            )
        seeds = [self._any_seed() if one is None else check_int("A seed", one) for one in seed]
        return np.array([one % 2**64 for one in seeds], np.uint64)

    def _any_seed(self) -> int:
        return int(self.np_random.integers(2**63))

    def step(self, actions: Numbers) -> tuple[Bytes, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        batch = self._batch
        if not self._seeded:
            raise DuelsError("The environment must be reset before its first step.")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise DuelsError(f"A step needs {self.num_envs} whole numbers, one action an environment.")
        legal = (actions >= 0) & (actions < batch.num_actions)
        actions = np.where(legal, actions, 0)
        legal &= batch.masks()[np.arange(self.num_envs), actions] == 1
        if self._grades:
            # An action that is not allowed gives away all that the position was worth.
            self._regrets = np.where(legal, self._grades.regrets[batch.states, actions], self._values())
        ended = _Ended(self)
        if legal.all():
            ended.add(batch.step(actions))
        else:
            ended.add_illegal(~legal)
            ended.add(batch.step(actions, legal))
            batch.restart(~legal)
        self._answer(ended)
        last: dict[str, Any] = {}
        if ended.any:
            last = ended.info(self._graded(ended.values, np.where(ended.over, self._regrets, 0.0)))
            self._regrets[ended.over] = 0
        info = self._info() | last
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
            info |= self._graded(self._values(), self._regrets.copy())
        everywhere = {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}
        return {**info, **everywhere}

    def _graded(self, values: NDArray[np.float64], regrets: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        """What `info` holds of grades; nothing without them."""
        if not self._grades:
            return {}
        sure = np.full(self.num_envs, self._grades.exactness, object)
        return {"value": values, "regret": regrets, "exactness": sure}

    @property
    def _knows_positions(self) -> bool:
        """Whether a state of the batch is all that a seat knows."""
        return isinstance(self._batch, TableBatch) and not self.rules.has_secrets

    def _refuse_clock(self) -> None:
        if clock_matters(self.rules):
            raise DuelsError(
                f"Under {self.rules} what a position is worth depends on the {self.rules.clock} played, "
                f"which a table of positions does not know: {ONE_BY_ONE}."
            )

    def _table_of(self, opponent: str | Player | ArrayLike) -> ArrayLike:
        """The opponent's policy as a table: as it is given, or that of a player which can be written down."""
        if isinstance(opponent, str):
            player: Player = make_player(opponent, self.rules)
        elif is_player(opponent):
            player = opponent
        elif np.ndim(cast(ArrayLike, opponent)) == 0:
            raise DuelsError(
                f"An opponent is a player's name, has a method `choose`, or is a table, not {opponent!r}."
            )
        else:
            return cast(ArrayLike, opponent)
        odds = getattr(player, "odds", None)
        # What depends on the clock is in no table; of a level, which goes by values, it can be told.
        clocked = self.rules.limit_value is not None and not isinstance(player, LevelPlayer)
        if odds is None or clocked or not self._knows_positions:
            raise DuelsError(f"{opponent!r} plays {self.rules.name} one game at a time: {ONE_BY_ONE}.")
        self._refuse_clock()
        return tabulate(odds, self.rules)

    def _values(self) -> NDArray[np.float64]:
        """[env] what the position is worth to the agent."""
        assert self._grades
        values: NDArray[np.float64] = self._grades.values[self._seat].take(self._batch.states)
        return values


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

    def add(self, steps: Steps) -> None:
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
        self._final[places] = np.fromiter(observations, object, len(places))

    @property
    def values(self) -> NDArray[np.float64]:
        """[env] what the game that is over was worth, from its points; 0 where it goes on."""
        return np.where(self.over, (1 + self.rewards) / 2, 0.0)

    def info(self, graded: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """What Gymnasium keeps of games that ended, with their grades."""
        ended = self.over
        last: dict[str, NDArray[Any]] = {
            "action_mask": np.zeros((len(ended), self._actions), np.int8),
            "illegal": self._illegal,
            **graded,
        }
        return {
            "final_obs": self._final,
            "_final_obs": ended,
            "final_info": {**last, **{f"_{name}": ended for name in last}},
            "_final_info": ended,
        }
