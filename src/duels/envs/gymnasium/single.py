"""One seat of one duel as a Gymnasium environment; an opponent has the other seat."""

from collections.abc import Hashable
from random import Random
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from duels.analysis.agents import is_player
from duels.analysis.grading import Grader
from duels.core.errors import DuelsError, IllegalMove
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import Rules, Seat
from duels.core.validation import as_int, check_flag
from duels.envs import dice
from duels.envs.batch import RANDOM
from duels.envs.board import RENDER_MODES, Board, Picture, check_render_mode
from duels.envs.engine import Engine, MatchEngine, make_engine
from duels.envs.form import form_of
from duels.envs.tabled import make_batch
from duels.games import rules_of
from duels.players import Player, make_player
from duels.solving.tables import NOBODY, POINTS

Shown = NDArray[np.int8]


class DuelEnv(gymnasium.Env[Shown, np.int64]):
    """A duel from the agent's seat, of a game or the one of that name with options, or by rules.

    `opponent` is the name of a player (`random`, a level, `best`), an object with a method `choose`, or a
    policy table (`duels.vector`; not in flip). `info["action_mask"]` says what is allowed; `action_masks()`
    is the same for sb3-contrib. An action that is not allowed loses the game. The reward is 1 for a win, -1
    for a loss, otherwise 0; a draw terminates the game, a limit truncates it; with `limit_ends="draw"` it
    ends the game drawn, and what is left of it is observed. With `grade`, `info` holds the `value` of the
    position to the agent, the `regret` of its last action, and their `exactness` (see
    `duels.analysis.grading`). Where a limit truncates a game, the mask tells what could have been played
    next. A copy made in the middle of a game, pickled or not, goes on as the original would.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | Rules[Any, Any, Any],
        opponent: str | Player | ArrayLike = RANDOM,
        seat: int = 1,
        render_mode: str | None = None,
        grade: bool = False,
        limit_ends: str = TRUNCATION,
        **options: OptionValue,
    ) -> None:
        if as_int(seat) not in (1, 2):
            raise DuelsError(f"The agent's seat is 1 or 2, not {seat!r}.")
        self.rules = rules_of(game, **options)
        form = form_of(self.rules, limit_ends)
        self.render_mode = check_render_mode(render_mode)
        self._seat = seat - 1
        self._rewards: list[float] = POINTS[:, self._seat].tolist()
        self._board = Board(self.rules)
        # The random opponent and a table play by the environment's own dice, as in a batch of games.
        self._opponent: Player | None = None
        self._table: _Table | None = None
        if isinstance(opponent, str):
            if opponent != RANDOM:
                self._opponent = make_player(opponent, self.rules)
        elif is_player(opponent):
            self._opponent = opponent
        elif np.ndim(cast(ArrayLike, opponent)) > 0:
            self._table = _Table(cast(ArrayLike, opponent), self.rules, 1 - self._seat)
        else:
            raise DuelsError(
                f"An opponent is a player's name, has a method `choose`, or is a table, not {opponent!r}."
            )
        self._engine: Engine = make_engine(self.rules, form)
        self._grader: Grader | None = None
        grade = check_flag("grade", grade)
        if render_mode or grade or self._opponent is not None:  # all of these need to know what a seat knows
            self._engine = MatchEngine(self.rules, form)
            self._grader = Grader(self.rules) if grade else None
        self._stream: int | None = None
        self._forfeited = False
        self.observation_space = spaces.Box(0, 1, (self._engine.observation_size,), np.int8)
        self.action_space = spaces.Discrete(self._engine.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Shown, dict[str, Any]]:
        refuse_options(options)
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = dice.stream(int(self.np_random.integers(2**63)) if seed is None else seed)
        elif self._engine.actor != NOBODY:
            self._stream = dice.advance(self._stream)
        self._engine.reset(self._stream)
        self._forfeited = False
        if self._grader:
            self._grader.reset()
        self._answer()
        if self._engine.actor == NOBODY:
            raise DuelsError("Under these rules the opponent ends the game before the agent can move.")
        self._show()
        return self._engine.observe(self._seat), self._info()

    def step(self, action: np.int64) -> tuple[Shown, float, bool, bool, dict[str, Any]]:
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
            return engine.observe(self._seat), -1.0, True, False, {**self._info(), "illegal": True}
        if self._grader:
            match = self._match
            self._grader.before(match.sight(self._seat), match.action(number))
        self._play(number)
        self._answer()
        self._show()
        reward = self._rewards[engine.result + 1]
        return engine.observe(self._seat), reward, engine.terminated, engine.truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """[action] whether the agent may take it now."""
        return self._mask().astype(np.bool_)

    def _mask(self) -> Shown:
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
        sight = self._match.sight(self._seat)
        return self._board.text(sight) if self.render_mode == "ansi" else self._board.picture(sight)

    def _show(self) -> None:
        if self.render_mode == "human":
            print(self._board.text(self._match.sight(self._seat)))

    @property
    def _match(self) -> MatchEngine:
        assert isinstance(self._engine, MatchEngine)
        return self._engine

    def _info(self) -> dict[str, Any]:
        if not self._grader:
            return {"action_mask": self._mask()}
        grade = self._grader.forfeit if self._forfeited else self._grader.grade
        return {"action_mask": self._mask(), **grade(self._match.sight(self._seat))}

    def _play(self, action: int) -> None:
        assert self._stream is not None
        self._engine.step(action, dice.roll(self._stream)[0])
        self._stream = dice.advance(self._stream)

    def _answer(self) -> None:
        """Let the opponent play until it is the agent's turn or the game is over."""
        while self._engine.actor == 1 - self._seat:
            self._play(self._opponents_choice())

    def _opponents_choice(self) -> int:
        assert self._stream is not None
        bits = dice.roll(self._stream)[1]
        if self._table:
            return self._table.choose(self._engine.observe(1 - self._seat), bits)
        if self._opponent is None:
            legal = np.flatnonzero(self._engine.mask())
            return int(legal[dice.pick(bits, len(legal))])
        sight = self._match.sight(1 - self._seat)
        chosen = self._opponent.choose(sight, Random(bits))
        if not isinstance(chosen, Hashable) or chosen not in sight.actions:
            raise IllegalMove(f"The opponent chose {chosen!r}, which is none of its `sight.actions`.")
        return self._match.number(chosen)

    @property
    def seat(self) -> Seat:
        """The agent's seat."""
        return Seat(self._seat + 1)


class _Table:
    """A policy given as a table, by what the seat that plays it is shown; it draws as in a batch of games."""

    def __init__(self, table: ArrayLike, rules: Rules[Any, Any, Any], seat: int) -> None:
        policy = make_batch(rules, 1).policy(table)
        self._bounds, self._choices = policy.bounds, policy.shared.choices
        tables = policy.shared.tables
        # States that look alike to the seat are played alike, so any of them will do.
        self._state = {tables.observation[seat, s].tobytes(): s for s in np.flatnonzero(tables.actor == seat)}

    def choose(self, shown: Shown, bits: int) -> int:
        """The action's number, from 32 random bits."""
        state = self._state[shown.tobytes()]
        return int(self._choices[state, (bits >= self._bounds[state]).sum()])


def refuse_options(options: dict[str, Any] | None) -> None:
    """Gymnasium can hand options to a reset; there are none, and none are to be lost in silence."""
    if options:
        raise DuelsError(f"A reset takes no options: give {', '.join(map(str, options))} to `make`.")
