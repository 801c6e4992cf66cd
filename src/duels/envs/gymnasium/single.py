"""A Gymnasium environment: the agent plays one seat of a game, an opponent the other."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from duels.analysis.grading import Grader
from duels.core.errors import DuelsError
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules, Seat
from duels.core.validation import as_int, check_flag
from duels.envs.batch import RANDOM
from duels.envs.engine import GameSession
from duels.envs.gymnasium.opponents import Opponent, check_best_response, make_opponents
from duels.envs.observations import ACTION_MASK, DictObservations, ObservationFormat
from duels.envs.render import RENDER_MODES, BoardRenderer, Pixels
from duels.envs.settings import Copyable, FeatureNames, make_settings, reject_reset_options, resolve_env_rules
from duels.solving.tables import NOBODY, POINTS

RANDOM_SEAT = "random"


class DuelEnv(FeatureNames, Copyable, gymnasium.Env[Any, np.int64]):
    """A game in which the agent plays one seat.

    `game` is a name, a `Game` or rules. Only the first two take options, such as `max_turns=40`.

    - `opponent`: the name of a player (`random`, a level, `best`), an object with a method `choose`, a
      function of an observation and a mask, a policy table (`duels.vector`; not in flip), or a dictionary
      with one of these for each `duels.Seat`. `set_opponent` changes it.
    - `seat`: 1, 2, or `random`, which draws a seat for every game and puts it into `info["seat"]`.
    - `grade`: add the `value` of the position, the `regret` of the last action and their `exactness` to
      `info` (see `duels.analysis.grading`).
    - `limit_ends`: with `draw`, a limit ends the game as a draw, and observations show the moves left. By
      default, a limit truncates the game.
    - `memory`: the number of past entries in an observation, in games with hidden information.
    - `dict_observations`: return dictionaries of `observation` and `action_mask`, or of two other keys.
    - `dtype`: the dtype of observations.
    - `bool_masks`: make masks boolean arrays, which TorchRL needs. By default, they are `int8`.

    `info["action_mask"]` and `action_masks()`, which sb3-contrib calls, return the legal actions. After
    truncation they return the actions that may be legal next, as far as the agent knows. An illegal action
    loses the game. The reward is 1 for a win, -1 for a loss, otherwise 0. A deep copy or a pickled copy
    continues like the original.

    Raises DuelsError for an argument that is not allowed. `step` raises it before the first reset and after
    the end of a game.

    >>> env = DuelEnv("lights", opponent="perfect", seat=1)
    >>> observation, info = env.reset(seed=7)
    >>> env.action_names[int(info["action_mask"].argmax())]
    '1'
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | AnyRules,
        opponent: Opponent = RANDOM,
        seat: int | str = 1,
        render_mode: str | None = None,
        grade: bool = False,
        limit_ends: str = TRUNCATION,
        memory: int = 0,
        dict_observations: DictObservations = False,
        dtype: DTypeLike = np.float32,
        bool_masks: bool = False,
        **options: OptionValue,
    ) -> None:
        self.rules = resolve_env_rules(game, **options)
        self.settings = make_settings(self.rules, limit_ends, memory)
        self._board = BoardRenderer(self.rules, render_mode)
        self.render_mode = render_mode
        self._seats = parse_seats(seat)
        self._grader = Grader(self.rules) if check_flag("grade", grade) else None
        self._session = GameSession(self.rules, self.settings)
        self._engine = self._session.engine
        self._observations = ObservationFormat(dtype, dict_observations, bool_masks)
        self.set_opponent(opponent)
        self._opponents = self._next_opponents
        self._take_seat(self._seats[0])
        self._forfeited = False
        self.observation_space = self._observations.space(
            self._engine.observation_size, self._engine.num_actions
        )
        self.action_space = spaces.Discrete(self._engine.num_actions)

    def set_opponent(self, opponent: Opponent) -> None:
        """Change the opponent from the next reset on. Raises DuelsError if it cannot play this game."""
        check_best_response(opponent, self.rules, self._seats)
        self._next_opponents = make_opponents(opponent, self.rules, self._observations)

    def _take_seat(self, seat: int) -> None:
        self._seat = seat
        self._rewards: list[float] = POINTS[:, seat].tolist()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        reject_reset_options(options)
        super().reset(seed=seed)
        self._session.begin(seed, lambda: int(self.np_random.integers(2**63)))
        self._opponents = self._next_opponents
        if len(self._seats) > 1:
            self._take_seat(self._session.draw_seat())
        self._forfeited = False
        if self._grader:
            self._grader.reset()
        self._play_opponent()
        if self._engine.actor == NOBODY:
            raise DuelsError("Under these rules the opponent can end the game before the agent moves.")
        self._render_human()
        return self._observation_and_info()

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        engine = self._engine
        if self._session.random_stream is None:
            raise DuelsError("Call reset() before the first step().")
        if engine.actor == NOBODY or self._forfeited:
            raise DuelsError("The game is over. Call reset().")
        number = as_int(action)
        if number is None:
            raise DuelsError(f"An action must be an integer, not {action!r}.")
        if not engine.allows(number):
            self._forfeited = True
            observation, info = self._observation_and_info()
            return observation, -1.0, True, False, {**info, "illegal": True}
        if self._grader:
            self._grader.judge_action(self._session.sight(self._seat), self._session.actions[number])
        self._session.play(number)
        self._play_opponent()
        self._render_human()
        observation, info = self._observation_and_info()
        reward = self._rewards[engine.result + 1]
        return observation, reward, engine.terminated, engine.truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return whether each action is legal for the agent now, indexed [action]."""
        return self._mask().astype(np.bool_)

    def _mask(self) -> NDArray[np.int8]:
        mask = self._engine.mask_for(self._seat)
        return np.zeros_like(mask) if self._forfeited else mask

    def render(self) -> str | Pixels | None:
        """Return the board as the agent may see it: text in mode `ansi`, pixels in mode `rgb_array`.

        Mode `human` prints the board after every step. Raises DuelsError before the first reset.
        """
        if self.render_mode in (None, "human"):
            return None
        if self._session.random_stream is None:
            raise DuelsError("Call reset() before render().")
        return self._board.render(self._session.sight(self._seat))

    def _render_human(self) -> None:
        if self.render_mode == "human":
            self._board.render(self._session.sight(self._seat))

    def _observation_and_info(self) -> tuple[Any, dict[str, Any]]:
        mask = self._mask()
        info: dict[str, Any] = {ACTION_MASK: self._observations.format_mask(mask)}
        if len(self._seats) > 1:
            info["seat"] = self._seat + 1
        if self._grader:
            grade = self._grader.forfeit if self._forfeited else self._grader.grade
            info |= grade(self._session.sight(self._seat))
        return self._observations.format(self._engine.observe(self._seat), mask.copy()), info

    def _play_opponent(self) -> None:
        """Play the opponent's moves until the agent's turn or the end."""
        session, seat = self._session, 1 - self._seat
        while self._engine.actor == seat:
            _, bits = session.roll()
            session.play(self._opponents[seat].choose(session, seat, bits))

    @property
    def seat(self) -> Seat:
        """The agent's seat in this game."""
        return Seat(self._seat + 1)


def parse_seats(seat: int | str) -> tuple[int, ...]:
    """Return the agent's possible seats, 0 or 1. Raises DuelsError if `seat` is invalid."""
    if seat == RANDOM_SEAT:
        return (0, 1)
    number = as_int(seat)
    if number not in (1, 2):
        raise DuelsError(f"'seat' must be 1, 2 or {RANDOM_SEAT!r}, not {seat!r}.")
    return (number - 1,)
