"""One seat of one duel as a Gymnasium environment; an opponent has the other seat."""

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
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.board import RENDER_MODES, Board, Picture, check_render_mode
from duels.envs.engine import Sights, make_engine
from duels.envs.form import Copyable, Named, form_of, refuse_options
from duels.envs.gymnasium.opponents import Opponent, opposing, refuse_other_response
from duels.envs.observations import ACTION_MASK, InDict, Observations
from duels.games import resolve_rules
from duels.solving.tables import NOBODY, POINTS

RANDOM_SEAT = "random"


class DuelEnv(Named, Copyable, gymnasium.Env[Any, np.int64]):
    """A duel from the agent's seat, of a game or the one of that name with options, or by rules.

    `opponent` is the name of a player (`random`, a level, `best`), an object with a method `choose`, a
    function of an observation and a mask, or a policy table (`duels.vector`; not in flip), or a dictionary of
    one for each `duels.Seat`; `set_opponent` changes it. The agent's `seat` is 1, 2, or `random`, by lot for
    every game; `info["seat"]` then says which. `info["action_mask"]` says what is allowed; `action_masks()`
    is the same for sb3-contrib. With `dict_observations` an observation is a dictionary of `observation` and
    `action_mask`, as in PettingZoo, or under two other names that are given; `dtype` is that of its numbers.
    An action that is not allowed loses the game. The reward is 1 for a win, -1 for a loss, otherwise 0; a
    draw terminates the game, a limit truncates it; with `limit_ends="draw"` it ends the game drawn, and what
    is left of it is observed. `memory` is how many of the last entries are observed in games with secrets.
    With `grade`, `info` holds the `value` of the position to the agent, the `regret` of its last action, and
    their `exactness` (see `duels.analysis.grading`). Where a limit truncates a game, the mask tells what
    could have been played next. A copy made in the middle of a game, pickled or not, goes on as the original
    would.
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
        dict_observations: InDict = False,
        dtype: DTypeLike = np.float32,
        **options: OptionValue,
    ) -> None:
        self.rules = resolve_rules(game, **options)
        self.form = form_of(self.rules, limit_ends, memory)
        self.render_mode = check_render_mode(render_mode)
        self._seats = seats_of(seat)
        self._board = Board(self.rules)
        self._grader = Grader(self.rules) if check_flag("grade", grade) else None
        self._engine = make_engine(self.rules, self.form)
        self._actions = self.rules.all_actions()
        self._sights = Sights(self._engine)
        self._observations = Observations(dtype, dict_observations)
        self.set_opponent(opponent)
        self._opponent = self._next_opponent
        self._take_seat(self._seats[0])
        self._stream: int | None = None
        self._forfeited = False
        self.observation_space = self._observations.space(
            self._engine.observation_size, self._engine.num_actions
        )
        self.action_space = spaces.Discrete(self._engine.num_actions)

    def set_opponent(self, opponent: Opponent) -> None:
        """Play against another opponent, from the next reset on."""
        refuse_other_response(opponent, self.rules, self._seats)
        self._next_opponent = opposing(opponent, self.rules, self._sights, self._observations)

    def _take_seat(self, seat: int) -> None:
        self._seat = seat
        self._rewards: list[float] = POINTS[:, seat].tolist()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        refuse_options(options)
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = dice.stream(int(self.np_random.integers(2**63)) if seed is None else seed)
        elif self._engine.actor != NOBODY:
            self._stream = dice.advance(self._stream)
        self._opponent = self._next_opponent
        self._engine.reset(self._stream)
        self._sights.begin(self._stream)
        if len(self._seats) > 1:
            self._take_seat(self._seats[dice.seat(self._stream)])
        self._forfeited = False
        if self._grader:
            self._grader.reset()
        self._answer()
        if self._engine.actor == NOBODY:
            raise DuelsError("Under these rules the opponent ends the game before the agent can move.")
        self._show()
        return self._told()

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        engine = self._engine
        if self._stream is None:
            raise DuelsError("The environment must be reset before its first step.")
        if engine.actor == NOBODY or self._forfeited:
            raise DuelsError("The game is over: reset the environment.")
        number = as_int(action)
        if number is None:
            raise DuelsError(f"An action is a whole number, not {action!r}.")
        if not engine.allows(number):
            self._forfeited = True
            shown, info = self._told()
            return shown, -1.0, True, False, {**info, "illegal": True}
        if self._grader:
            self._grader.before(self._sights.of(self._seat), self._actions[number])
        self._play(number)
        self._answer()
        self._show()
        shown, info = self._told()
        return shown, self._rewards[engine.result + 1], engine.terminated, engine.truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[action] whether the agent may take it now."""
        return self._mask().astype(np.bool_)

    def _mask(self) -> NDArray[np.int8]:
        mask = self._engine.mask_for(self._seat)
        return np.zeros_like(mask) if self._forfeited else mask

    def render(self) -> str | Picture | None:
        """The board as the agent may see it: text in mode `ansi`, pixels in mode `rgb_array`.

        In mode `human` it is printed by itself.
        """
        if self.render_mode in (None, "human"):
            return None
        if self._stream is None:
            raise DuelsError("The environment must be reset before it is drawn.")
        sight = self._sights.of(self._seat)
        return self._board.text(sight) if self.render_mode == "ansi" else self._board.picture(sight)

    def _show(self) -> None:
        if self.render_mode == "human":
            print(self._board.text(self._sights.of(self._seat)))

    def _told(self) -> tuple[Any, dict[str, Any]]:
        """The observation and the info."""
        mask = self._mask()
        info: dict[str, Any] = {ACTION_MASK: mask}
        if len(self._seats) > 1:
            info["seat"] = self._seat + 1
        if self._grader:
            grade = self._grader.forfeit if self._forfeited else self._grader.grade
            info |= grade(self._sights.of(self._seat))
        return self._observations.give(self._engine.observe(self._seat), mask.copy()), info

    def _play(self, action: int) -> None:
        assert self._stream is not None
        chance = dice.roll(self._stream)[0]
        self._engine.step(action, chance)
        self._sights.add(action, chance)
        self._stream = dice.advance(self._stream)

    def _answer(self) -> None:
        """Let the opponent play until it is the agent's turn or the game is over."""
        while self._engine.actor == 1 - self._seat:
            assert self._stream is not None
            bits = dice.roll(self._stream)[1]
            self._play(self._opponent.choose(self._engine, 1 - self._seat, bits))

    @property
    def seat(self) -> Seat:
        """The agent's seat in this game."""
        return Seat(self._seat + 1)


def seats_of(seat: int | str) -> tuple[int, ...]:
    """The seats, counted from 0, that an agent can have."""
    if seat == RANDOM_SEAT:
        return (0, 1)
    number = as_int(seat)
    if number not in (1, 2):
        raise DuelsError(f"The agent's seat is 1 or 2, or {RANDOM_SEAT!r}, not {seat!r}.")
    return (number - 1,)
