"""One PettingZoo environment for every game: two agents who take turns, with action masks."""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from secrets import randbits
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike
from pettingzoo.utils.env_logger import EnvLogger

from duels.analysis.grading import Grader
from duels.core.errors import DuelsError, IllegalMove, UnknownName
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue, list_options
from duels.core.rules import AnyRules, AnySight
from duels.core.validation import as_int, check_flag
from duels.envs import dice
from duels.envs.board import RENDER_MODES, Board, Picture, check_render_mode
from duels.envs.engine import Sights, make_engine
from duels.envs.form import Copyable, Named, form_of, refuse_options
from duels.envs.observations import Observations
from duels.envs.pettingzoo.base import AECEnv, Observation
from duels.envs.versions import LATEST
from duels.games import resolve_rules
from duels.solving.tables import NOBODY, POINTS

P = ParamSpec("P")

AGENTS = ("player_1", "player_2")
_SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}

# What PettingZoo's own methods look at, and what only a reset gives.
SET_BY_RESET = {
    "agent_selection",
    "agents",
    "infos",
    "rewards",
    "terminations",
    "truncations",
    "_cumulative_rewards",
}


class NotReset(DuelsError, AttributeError):
    """Asked for something that there is only once the environment was reset."""

    def __init__(self) -> None:
        super().__init__("The environment must be reset first.")


class DuelEnv(Named, Copyable, AECEnv):
    """A duel by PettingZoo's conventions. An illegal action raises IllegalMove.

    It is of a game or the one of that name, with options (`max_turns=40`), or by rules. The agent to move is
    shown the position as its seat knows it, and a mask of what it may do; the other agent's mask is zero. The
    winner's reward is 1, the loser's -1. A draw terminates the game and a limit truncates it, with no reward;
    the mask then tells what could have been played next, as far as the agent knows. With `limit_ends="draw"`
    a limit ends the game drawn, and what is left of it is observed. `dtype` is that of the observations;
    `memory` is how many of the last entries they hold, in games with secrets. A copy made in the middle of a
    game, pickled or not, goes on as the original would.
    With `grade`, an agent's info holds the `value` of the position to it, the `regret` of its last action,
    and their `exactness` (see `duels.analysis.grading`).
    """

    metadata: dict[str, Any]
    _forfeited = False
    """Whether an illegal action has ended the game."""

    def __init__(
        self,
        game: str | Game | AnyRules,
        render_mode: str | None = None,
        grade: bool = False,
        limit_ends: str = TRUNCATION,
        memory: int = 0,
        dtype: DTypeLike = np.int8,
        **options: OptionValue,
    ) -> None:
        super().__init__()
        self.rules = resolve_rules(game, **options)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {
            "name": f"{self.rules.name}_v{LATEST}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.form = form_of(self.rules, limit_ends, memory)
        self._engine = make_engine(self.rules, self.form)
        self._actions = self.rules.all_actions()
        self._grader = Grader(self.rules) if check_flag("grade", grade) else None
        # A board is drawn from what a seat knows, and so are grades.
        self._sights = Sights(self._engine) if grade or render_mode else None
        self._board = Board(self.rules)
        self._has_chance = bool(self.rules.all_outcomes())
        self._stream: int | None = None
        self.possible_agents = list(AGENTS)
        self._observations = Observations(dtype, in_dict=True)
        space = self._observations.space(self._engine.observation_size, self._engine.num_actions)
        self.observation_spaces = dict.fromkeys(AGENTS, cast(spaces.Dict, space))
        self.action_spaces = {agent: spaces.Discrete(self._engine.num_actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if options:
            # PettingZoo's own test hands in what means nothing; what means something is not to be lost.
            known = {option.name for option in list_options(type(self.rules))}
            refuse_options({name: value for name, value in options.items() if name in known})
        if seed is not None or self._stream is None:
            self._stream = dice.stream(randbits(64) if seed is None else seed)
        elif self._engine.actor != NOBODY:
            self._stream = dice.advance(self._stream)
        self._engine.reset(self._stream)
        if self._sights:
            self._sights.begin(self._stream)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {} for agent in AGENTS}
        if self._grader:
            self._grader.reset()
            self._grade()
        self.agent_selection = AGENTS[self._engine.actor]
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    if not TYPE_CHECKING:  # who asks for anything else is told so before anything runs

        def __getattr__(self, name: str) -> Any:
            if name in SET_BY_RESET:
                raise NotReset
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _too_early(self, call: str) -> None:
        """Fail: this was called before `reset`."""
        raise NotReset

    def observe(self, agent: str) -> Observation:
        if self._stream is None:
            self._too_early("observe")
        seat = _SEATS.get(agent)
        if seat is None:
            raise UnknownName(f"There is no agent {agent!r}; there are {', '.join(AGENTS)}.")
        mask = self._engine.mask_for(seat)
        if self._forfeited:
            mask[:] = 0
        given: Observation = self._observations.give(self._engine.observe(seat), mask)
        return given

    def step(self, action: int | None) -> None:
        if self._stream is None:
            self._too_early("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = as_int(action)
        if number is None or not self._engine.allows(number):
            raise IllegalMove(f"Action {action!r} is not allowed now.")
        self._play(agent, number)

    def _play(self, agent: str, action: int) -> None:
        """Carry out a legal action."""
        engine = self._engine
        chance = 0
        if self._stream is not None and self._has_chance:
            self._stream = dice.advance(self._stream)
            chance, _ = dice.fallen(self._stream)
        if self._grader:
            self._grader.before(self._sight(engine.actor), self._actions[action])
        engine.step(action, chance)
        if self._sights:
            self._sights.add(action, chance)
        if self._grader:
            self._grade()
        self._cumulative_rewards[agent] = 0.0
        if engine.actor == NOBODY:
            self._end(agent)
        else:
            self.agent_selection = AGENTS[engine.actor]
        if self.render_mode == "human":
            self.render()

    def _grade(self) -> None:
        assert self._grader
        self.infos = {agent: {**self._grader.grade(self._sight(seat))} for seat, agent in enumerate(AGENTS)}

    def _sight(self, seat: int) -> AnySight:
        assert self._sights
        return self._sights.of(seat)

    def _end(self, mover: str) -> None:
        engine = self._engine
        self.terminations = dict.fromkeys(AGENTS, engine.terminated)
        self.truncations = dict.fromkeys(AGENTS, engine.truncated)
        self.rewards = dict(zip(AGENTS, POINTS[engine.result + 1].tolist(), strict=True))
        self._accumulate_rewards()
        self.agent_selection = AGENTS[1 - AGENTS.index(mover)]

    def render(self) -> str | Picture | None:
        """The board as the agent to move may see it.

        Printed in mode `human`, returned as text in mode `ansi` and as pixels in mode `rgb_array`.
        """
        if self.render_mode is None:
            return None
        sight = self._sight(AGENTS.index(self.agent_selection))
        if self.render_mode == "rgb_array":
            return self._board.picture(sight)
        board = self._board.text(sight)
        if self.render_mode == "human":
            print(board)
            return None
        return board

    def close(self) -> None:
        """Nothing is held open."""


class GuardedDuelEnv(DuelEnv):
    """What `env()` gives: a `DuelEnv` with what PettingZoo's three usual wrappers check.

    An illegal action ends the game, and whoever took it gets -1; an action outside the space, and a
    call before `reset`, fail; a loop that does not step fails. A test holds it to those wrappers; as
    part of the environment the checks cost a tenth of the time.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._stepped = True
        self._forfeited = False
        super().reset(seed, options)

    def _too_early(self, call: str) -> None:
        getattr(EnvLogger, f"error_{call}_before_reset")()

    def step(self, action: int | None) -> None:
        if self._stream is None:
            self._too_early("step")
        self._stepped = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            if type(action) is not int or not 0 <= action < self._engine.num_actions:
                # The space's own check takes every kind of integer, True among them, and longer than a move.
                known = type(action) is not bool and self.action_spaces[agent].contains(action)
                assert known, "action is not in action space"
            if action is not None and self._engine.allows(int(action)):
                self._play(agent, int(action))
            else:
                self._lose(agent)
            return
        self._was_dead_step(action)

    def _lose(self, agent: str) -> None:
        """End the game because `agent` took an illegal action."""
        EnvLogger.warn_on_illegal_move()
        self._forfeited = True
        self._cumulative_rewards[agent] = 0.0
        self.terminations = dict.fromkeys(AGENTS, True)
        self.truncations = dict.fromkeys(AGENTS, True)
        self.rewards = {other: -1.0 if other == agent else 0.0 for other in AGENTS}
        self._accumulate_rewards()
        if self._grader:
            self.infos[AGENTS[1 - AGENTS.index(agent)]]["value"] = 1.0
            self.infos[agent] = {**self._grader.forfeit(self._sight(AGENTS.index(agent)))}
        self._deads_step_first()

    def render(self) -> str | Picture | None:
        if self._stream is None:
            self._too_early("render")
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        if self._stream is None:
            self._too_early("agent_iter")
        return self._turns(max_iter)

    def _turns(self, left: int) -> Iterator[str]:
        while self.agents and left > 0:
            assert self._stepped, "need to call step() or reset() in a loop over `agent_iter`"
            self._stepped = False
            left -= 1
            yield self.agent_selection


def guarded(raw_env: Callable[P, DuelEnv]) -> Callable[P, GuardedDuelEnv]:
    """Return the `env` of a module with this `raw_env`."""

    def env(*args: P.args, **options: P.kwargs) -> GuardedDuelEnv:
        """The environment with PettingZoo's usual checks: an illegal action loses."""
        made = GuardedDuelEnv.__new__(GuardedDuelEnv)
        vars(made).update(vars(raw_env(*args, **options)))
        return made

    env.__qualname__ = env.__name__
    return update_wrapper(env, raw_env, assigned=("__module__",))
