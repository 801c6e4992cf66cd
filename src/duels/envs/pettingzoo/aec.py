"""The PettingZoo environment of every game: two agents take turns, with action masks."""

from collections.abc import Callable, Iterable, Iterator
from functools import update_wrapper
from secrets import randbits
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray
from pettingzoo.utils.env_logger import EnvLogger

from duels.analysis.grading import Grader
from duels.core.errors import DuelsError, IllegalMove, UnknownName
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue, list_options
from duels.core.rules import AnyRules
from duels.core.validation import as_int, check_flag
from duels.envs.engine import GameSession
from duels.envs.observations import ObservationFormat
from duels.envs.render import RENDER_MODES, BoardRenderer, Pixels
from duels.envs.settings import Copyable, FeatureNames, make_settings, reject_reset_options, resolve_env_rules
from duels.envs.versions import LATEST
from duels.solving.tables import NOBODY, POINTS

P = ParamSpec("P")
Observation = dict[str, NDArray[np.int8]]

if TYPE_CHECKING:

    class AECEnv:
        """Type annotations for PettingZoo's `AECEnv`, which has none itself."""

        metadata: dict[str, Any]
        render_mode: str | None
        possible_agents: list[str]
        agents: list[str]
        agent_selection: str
        observation_spaces: dict[str, spaces.Dict]
        action_spaces: dict[str, spaces.Discrete]
        rewards: dict[str, float]
        terminations: dict[str, bool]
        truncations: dict[str, bool]
        infos: dict[str, dict[str, Any]]
        _cumulative_rewards: dict[str, float]
        _skip_agent_selection: str | None

        @property
        def num_agents(self) -> int: ...
        @property
        def max_num_agents(self) -> int: ...
        @property
        def unwrapped(self) -> "AECEnv": ...
        def last(
            self, observe: bool = True
        ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]: ...
        def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]: ...
        def _deads_step_first(self) -> str: ...
        def _accumulate_rewards(self) -> None: ...
        def _was_dead_step(self, action: int | None) -> None: ...

else:
    from pettingzoo import AECEnv

AGENTS = ("player_1", "player_2")
_SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}

# Attributes that PettingZoo's methods read, but that do not exist before the first reset.
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
    """An environment was used before the first reset."""


class DuelEnv(FeatureNames, Copyable, AECEnv):
    """A game for two PettingZoo agents. An illegal action raises IllegalMove.

    `game` is a name, a `Game` or rules. Only the first two take options, such as `max_turns=40`. An
    observation is a dictionary with the position as the agent knows it and the mask of its legal actions. On
    the opponent's turn, the mask is all zeros. The winner's reward is 1, the loser's -1. A draw terminates
    the game without rewards. A limit truncates the game without rewards. The mask then shows the actions that
    may be legal next, as far as the agent knows.

    - `limit_ends`: with `draw`, a limit ends the game as a draw, and observations show the moves left.
    - `memory`: the number of past entries in an observation, in games with hidden information.
    - `dtype`: the dtype of observations.
    - `grade`: add the `value` of the position, the `regret` of the agent's last action and their `exactness`
      to the agent's info (see `duels.analysis.grading`).

    A deep copy or a pickled copy continues like the original.

    Raises DuelsError for an argument that is not allowed, and NotReset before the first reset.

    >>> env = DuelEnv("lights")
    >>> env.reset(seed=7)
    >>> env.agent_selection, int(env.observe("player_1")["action_mask"].sum())
    ('player_1', 13)
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
        self.rules = resolve_env_rules(game, **options)
        self._board = BoardRenderer(self.rules, render_mode)
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.rules.name}_v{LATEST}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.settings = make_settings(self.rules, limit_ends, memory)
        self._session = GameSession(self.rules, self.settings)
        self._engine = self._session.engine
        self._grader = Grader(self.rules) if check_flag("grade", grade) else None
        self.possible_agents = list(AGENTS)
        self._observations = ObservationFormat(dtype, in_dict=True)
        space = self._observations.space(self._engine.observation_size, self._engine.num_actions)
        self.observation_spaces = dict.fromkeys(AGENTS, cast(spaces.Dict, space))
        self.action_spaces = {agent: spaces.Discrete(self._engine.num_actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if options:
            # PettingZoo's API test passes meaningless options, so reject only options of the rules.
            rule_options = {option.name for option in list_options(type(self.rules))}
            reject_reset_options({name: value for name, value in options.items() if name in rule_options})
        self._session.begin(seed, lambda: randbits(64))
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

    if not TYPE_CHECKING:  # type checkers should report unknown attributes

        def __getattr__(self, name: str) -> Any:
            if name in SET_BY_RESET:
                raise NotReset("Call reset() first.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fail_before_reset(self, call: str) -> None:
        raise NotReset("Call reset() first.")

    def _check_reset(self, call: str) -> None:
        if self._session.random_stream is None:
            self._fail_before_reset(call)

    def observe(self, agent: str) -> Observation:
        self._check_reset("observe")
        seat = _SEATS.get(agent)
        if seat is None:
            raise UnknownName(f"Unknown agent {agent!r}. Use one of {', '.join(AGENTS)}.")
        mask = self._engine.mask_for(seat)
        if self._forfeited:
            mask[:] = 0
        observation: Observation = self._observations.format(self._engine.observe(seat), mask)
        return observation

    def step(self, action: int | None) -> None:
        self._check_reset("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = as_int(action)
        if number is None or not self._engine.allows(number):
            raise IllegalMove(f"Action {action!r} is illegal. Choose one that the action mask allows.")
        self._play(agent, number)

    def _play(self, agent: str, action: int) -> None:
        session, engine = self._session, self._engine
        if self._grader:
            self._grader.judge_action(session.sight(engine.actor), session.actions[action])
        session.play(action)
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
        self.infos = {
            agent: {**self._grader.grade(self._session.sight(seat))} for agent, seat in _SEATS.items()
        }

    def _end(self, mover: str) -> None:
        engine = self._engine
        self.terminations = dict.fromkeys(AGENTS, engine.terminated)
        self.truncations = dict.fromkeys(AGENTS, engine.truncated)
        self.rewards = dict(zip(AGENTS, POINTS[engine.result + 1].tolist(), strict=True))
        self._accumulate_rewards()
        self.agent_selection = AGENTS[1 - AGENTS.index(mover)]

    def render(self) -> str | Pixels | None:
        """Render the board as the agent to move may see it.

        Returns text in mode `ansi` and pixels in mode `rgb_array`. Mode `human` prints the board.
        """
        if self.render_mode is None:
            return None
        return self._board.render(self._session.sight(AGENTS.index(self.agent_selection)))

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""


class GuardedDuelEnv(DuelEnv):
    """A `DuelEnv` with the checks of PettingZoo's three usual wrappers; `env()` returns it.

    An illegal action ends the game with reward -1 for its agent. An action outside the space, a call before
    `reset` or a loop without a step raises an error. PettingZoo's own wrappers take ten times as long. A test
    compares them with this class.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._stepped = True
        self._forfeited = False
        super().reset(seed, options)

    def _fail_before_reset(self, call: str) -> None:
        getattr(EnvLogger, f"error_{call}_before_reset")()

    def step(self, action: int | None) -> None:
        self._check_reset("step")
        self._stepped = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            if type(action) is not int or not 0 <= action < self._engine.num_actions:
                # `contains` accepts True and takes longer than a move, so integers skip it.
                is_valid = type(action) is not bool and self.action_spaces[agent].contains(action)
                assert is_valid, "action is not in action space"
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
            self.infos[agent] = {**self._grader.forfeit(self._session.sight(AGENTS.index(agent)))}
        self._deads_step_first()

    def render(self) -> str | Pixels | None:
        self._check_reset("render")
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        self._check_reset("agent_iter")
        return self._iterate_agents(max_iter)

    def _iterate_agents(self, max_iter: int) -> Iterator[str]:
        while self.agents and max_iter > 0:
            assert self._stepped, "need to call step() or reset() in a loop over `agent_iter`"
            self._stepped = False
            max_iter -= 1
            yield self.agent_selection


def guarded(raw_env: Callable[P, DuelEnv]) -> Callable[P, GuardedDuelEnv]:
    """Return the `env` function for a module's `raw_env`."""

    def env(*args: P.args, **options: P.kwargs) -> GuardedDuelEnv:
        """Make the environment with PettingZoo's usual checks. An illegal action loses."""
        guarded_env = GuardedDuelEnv.__new__(GuardedDuelEnv)
        vars(guarded_env).update(vars(raw_env(*args, **options)))
        return guarded_env

    env.__qualname__ = env.__name__
    return update_wrapper(env, raw_env, assigned=("__module__",))
