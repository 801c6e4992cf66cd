"""One game in every framework, driven alike: what the laws are checked on."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from duels.analysis.grading import Grade
from duels.core.rules import AnyRules, Ending
from duels.envs.results import Tally
from duels.envs.tabled import make_batch
from duels.solving.tables import NOBODY


@dataclass(frozen=True)
class Look:
    """What an environment tells of a game; seats are 0 and 1, without those that it tells nothing."""

    actor: int
    """Who is to move; NOBODY when the game is over."""
    masks: dict[int, Sequence[int]]
    """What each seat is told that it may do; of NOBODY: what could have been done next."""
    terminated: bool
    truncated: bool
    rewards: dict[int, float]
    """What each seat gets now."""
    shown: dict[int, bytes] = field(default_factory=dict)
    """What each seat is shown, as `core.features` has it."""
    grades: dict[int, Grade] = field(default_factory=dict)


class Environment(ABC):
    """One game in some framework, driven by the numbers of actions."""

    name: ClassVar[str]
    seat: ClassVar[int | None] = None
    """The seat that is driven; the other plays at random by the environment's own dice. None: both are."""

    @abstractmethod
    def __init__(self, rules: AnyRules) -> None: ...

    @abstractmethod
    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        """Begin a game; where chance is explicit, these are its outcomes before the first move."""

    @abstractmethod
    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        """Play an action; where chance is explicit, these are its outcomes then."""

    def rollout(self, seed: int, num_envs: int, steps: int) -> Tally | None:
        """What random play of so many environments comes to; None where there are no rollouts."""
        return None


class Arrays(Environment):
    """`duels.vector`."""

    name = "duels.vector"

    def __init__(self, rules: AnyRules) -> None:
        self.rules = rules
        self._batch = make_batch(rules, 1, autoreset=False)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        self._batch.reset(seed)
        return self._look(False, False, {0: 0.0, 1: 0.0})

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        rewards, terminated, truncated = self._batch.step([action])
        look = self._look(bool(terminated[0]), bool(truncated[0]), dict(enumerate(rewards[0].tolist())))
        if look.terminated or look.truncated:
            self._batch.step([action])  # a game that is over stays as it is
        return look

    def _look(self, terminated: bool, truncated: bool, rewards: dict[int, float]) -> Look:
        batch = self._batch
        actor = int(batch.actor[0])
        shown = {seat: batch.observe(seat)[0].tobytes() for seat in (0, 1)}
        masks = {seat: batch.masks_for(seat)[0].tolist() for seat in (0, 1)} | {
            actor: batch.masks()[0].tolist()
        }
        return Look(actor, masks, terminated, truncated, rewards, shown)

    def rollout(self, seed: int, num_envs: int, steps: int) -> Tally | None:
        return make_batch(self.rules, num_envs, seed).rollout(steps)


class _Drawn:
    """With a board to be seen, an environment is played in another way inside."""

    options: ClassVar[dict[str, Any]] = {"render_mode": "ansi"}


class _Graded:
    """With grades too."""

    options: ClassVar[dict[str, Any]] = {"grade": True}


class Gymnasium(Environment):
    """`duels.envs.gymnasium.DuelEnv`, first seat."""

    name = "Gymnasium, seat 1"
    seat = 0
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelEnv

        self._env = DuelEnv(rules, seat=self._seat + 1, **self.options)

    @property
    def _seat(self) -> int:
        assert self.seat is not None
        return self.seat

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        observation, info = self._env.reset(seed=seed)
        return self._look(observation, 0.0, False, False, info)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        return self._look(*self._env.step(np.int64(action)))

    def _look(self, shown: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]) -> Look:
        self._env.render()
        over = terminated or truncated
        grades = {self._seat: _grade(info)} if "value" in info else {}
        return Look(
            NOBODY if over else self._seat,
            {self._seat: info["action_mask"].tolist()},
            terminated,
            truncated,
            {self._seat: float(reward)},
            {self._seat: _numbers(shown)},
            grades,
        )


class GymnasiumSecond(Gymnasium):
    """The same, second seat."""

    name = "Gymnasium, seat 2"
    seat = 1


class GymnasiumDrawn(_Drawn, Gymnasium):
    """The same with a board to be seen."""

    name = "Gymnasium, rendered"


class GymnasiumGraded(_Graded, Gymnasium):
    """The same with grades."""

    name = "Gymnasium, graded"


class GymnasiumVector(Gymnasium):
    """`duels.envs.gymnasium.DuelVectorEnv`, first seat."""

    name = "Gymnasium's vector environment, seat 1"
    autoreset_mode: ClassVar[str] = "NextStep"

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelVectorEnv

        self._envs = DuelVectorEnv(rules, 1, seat=self._seat + 1, autoreset_mode=self.autoreset_mode)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        shown, info = self._envs.reset(seed=seed)
        return self._look_at(shown, np.zeros(1), np.zeros(1, np.bool_), np.zeros(1, np.bool_), info)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        return self._look_at(*self._envs.step(np.array([action])))

    def _look_at(
        self, shown: Any, rewards: Any, terminated: Any, truncated: Any, info: dict[str, Any]
    ) -> Look:
        over = bool(terminated[0] or truncated[0])
        final = over and self.autoreset_mode == "SameStep"
        last = info["final_info"] if final else info
        return Look(
            NOBODY if over else self._seat,
            {self._seat: last["action_mask"][0].tolist()},
            bool(terminated[0]),
            bool(truncated[0]),
            {self._seat: float(rewards[0])},
            {self._seat: _numbers((info["final_obs"] if final else shown)[0])},
        )


class GymnasiumVectorSecond(GymnasiumVector):
    """The same, second seat, reset in the same step."""

    name = "Gymnasium's vector environment, seat 2"
    seat = 1
    autoreset_mode = "SameStep"


class PettingZoo(Environment):
    """`duels.envs.pettingzoo.raw_env`."""

    name = "PettingZoo"
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.pettingzoo import raw_env

        self._env = raw_env(rules, **self.options)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        self._env.reset(seed=seed)
        return self._look()

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        self._env.step(action)
        return self._look()

    def _look(self) -> Look:
        env = self._env
        env.render()
        agents = env.possible_agents
        told = [env.observe(agent) for agent in agents]
        terminated, truncated = env.terminations[agents[0]], env.truncations[agents[0]]
        actor = NOBODY if terminated or truncated else agents.index(env.agent_selection)
        grades = {seat: _grade(env.infos[agent]) for seat, agent in enumerate(agents) if env.infos[agent]}
        return Look(
            actor,
            {seat: look["action_mask"].tolist() for seat, look in enumerate(told)},
            terminated,
            truncated,
            {seat: float(env.rewards[agent]) for seat, agent in enumerate(agents)},
            {seat: look["observation"].tobytes() for seat, look in enumerate(told)},
            grades,
        )


class PettingZooDrawn(_Drawn, PettingZoo):
    """The same with a board to be seen."""

    name = "PettingZoo, rendered"


class PettingZooGraded(_Graded, PettingZoo):
    """The same with grades."""

    name = "PettingZoo, graded"


class OpenSpiel(Environment):
    """`duels.envs.openspiel`."""

    name = "OpenSpiel"

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.openspiel import load_game

        self._rules = rules
        self._game = load_game(rules, max_moves=0)
        self._outcomes = {outcome: number for number, outcome in enumerate(rules.all_outcomes())}
        # What is left of a limit comes after what the others show.
        self._size = rules.game.encoding(rules).size

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        self._state = self._game.new_initial_state()
        return self._after(outcomes)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        self._state.apply_action(action)
        return self._after(outcomes)

    def _after(self, outcomes: tuple[Any, ...]) -> Look:
        state = self._state
        for outcome in outcomes:
            state.apply_action(self._outcomes[outcome])
        over, ended = state.is_terminal(), state.match.outcome
        legal = set(state.legal_actions())
        # OpenSpiel has one word for every end: how it ended, it does not tell.
        cut = ended is not None and ended.ending is Ending.CUT_OFF
        shown = {seat: _numbers(state.observation_tensor(seat)[: self._size]) for seat in (0, 1)}
        actor = NOBODY if over else state.current_player()
        return Look(
            actor,
            # At an end OpenSpiel allows nothing, however it ended: nobody looks further than that.
            {} if over else {actor: [int(a in legal) for a in range(len(self._rules.all_actions()))]},
            over and not cut,
            over and cut,
            dict(enumerate(state.returns())),
            shown,
        )


def _numbers(shown: Any) -> bytes:
    """An observation of any type as `core.features` has it, if it says the same."""
    given = np.asarray(shown)
    whole = given.astype(np.int8)
    return whole.tobytes() if (whole == given).all() else given.tobytes()


def _grade(info: Any) -> Grade:
    return {name: info[name] for name in ("value", "regret", "exactness")}  # type: ignore[return-value]


UNGRADED: tuple[type[Environment], ...] = (
    Arrays,
    Gymnasium,
    GymnasiumSecond,
    GymnasiumDrawn,
    GymnasiumVector,
    GymnasiumVectorSecond,
    PettingZoo,
    PettingZooDrawn,
    OpenSpiel,
)
GRADED: tuple[type[Environment], ...] = (GymnasiumGraded, PettingZooGraded)
