"""One game in every framework, driven alike: what the laws are checked on."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from duels.analysis.grading import Grade
from duels.core.rules import AnyRules, Ending
from duels.envs.results import BatchTally
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

    def rollout(self, seed: int, num_envs: int, steps: int) -> BatchTally | None:
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

    def rollout(self, seed: int, num_envs: int, steps: int) -> BatchTally | None:
        return make_batch(self.rules, num_envs, seed).rollout(steps)


class Gymnasium(Environment):
    """`duels.envs.gymnasium.DuelEnv`, first seat."""

    name = "Gymnasium, seat 1"
    seat = 0
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelEnv

        self._env: Any = DuelEnv(rules, seat=self._seat + 1, **self.options)

    @property
    def _seat(self) -> int:
        assert self.seat is not None
        return self.seat

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        shown, info = self._env.reset(seed=seed)
        return self._look(shown, 0.0, False, False, info)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        return self._look(*self._env.step(np.int64(action)))

    def _look(self, shown: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]) -> Look:
        if "render_mode" in self.options:
            self._env.render()
        return Look(
            NOBODY if terminated or truncated else self._seat,
            {self._seat: info["action_mask"].tolist()},
            terminated,
            truncated,
            {self._seat: float(reward)},
            {self._seat: _numbers(shown)},
            {self._seat: _grade(info)} if "value" in info else {},
        )


class GymnasiumVector(Gymnasium):
    """`duels.envs.gymnasium.DuelVectorEnv`, first seat."""

    name = "Gymnasium's vector environment, seat 1"
    options: ClassVar[dict[str, Any]] = {"autoreset_mode": "NextStep"}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelVectorEnv

        self._env = DuelVectorEnv(rules, 1, seat=self._seat + 1, **self.options)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Look:
        shown, info = self._env.reset(seed=seed)
        return self._look(shown[0], 0.0, False, False, {"action_mask": info["action_mask"][0]})

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Look:
        shown, (reward,), (terminated,), (truncated,), info = self._env.step(np.array([action]))
        if "final_info" in info:
            shown, info = info["final_obs"], info["final_info"]
        mask = info["action_mask"][0]
        return self._look(shown[0], reward, bool(terminated), bool(truncated), {"action_mask": mask})


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


def _variant(kind: type[Environment], name: str, **attributes: Any) -> type[Environment]:
    return type(kind.__name__, (kind,), {"name": name, **attributes})


_DRAWN = {"render_mode": "ansi"}  # with a board to be seen, an environment is played in another way inside

UNGRADED = (
    Arrays,
    Gymnasium,
    _variant(Gymnasium, "Gymnasium, seat 2", seat=1),
    _variant(Gymnasium, "Gymnasium, rendered", options=_DRAWN),
    GymnasiumVector,
    _variant(
        GymnasiumVector,
        "Gymnasium's vector environment, seat 2",
        seat=1,
        options={"autoreset_mode": "SameStep"},
    ),
    PettingZoo,
    _variant(PettingZoo, "PettingZoo, rendered", options=_DRAWN),
    OpenSpiel,
)
GRADED = (
    _variant(Gymnasium, "Gymnasium, graded", options={"grade": True}),
    _variant(PettingZoo, "PettingZoo, graded", options={"grade": True}),
)
