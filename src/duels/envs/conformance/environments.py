"""Adapters that give every framework's environment the same interface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from duels.analysis.grading import GradeInfo
from duels.core.rules import AnyRules, Ending
from duels.envs.batch import BatchTally
from duels.envs.table_batch import make_batch
from duels.solving.tables import NOBODY


@dataclass(frozen=True)
class Snapshot:
    """The output of an environment after a step. Dictionaries are by seat (0 or 1), without unused seats."""

    actor: int
    """The seat to move; NOBODY when the game is over."""
    masks: dict[int, Sequence[int]]
    """The mask of each seat. After truncation, the mask of the seat that would have moved next is added
    under the key NOBODY."""
    terminated: bool
    truncated: bool
    rewards: dict[int, float]
    """The reward of each seat in this step."""
    observations: dict[int, bytes] = field(default_factory=dict)
    """The observation of each seat, encoded as in `core.features`."""
    grades: dict[int, GradeInfo] = field(default_factory=dict)


class Environment(ABC):
    """A game in one framework, played by action numbers."""

    name: ClassVar[str]
    seat: ClassVar[int | None] = None
    """The seat that the suite plays, while the environment plays the other at random; None for both seats."""

    @abstractmethod
    def __init__(self, rules: AnyRules) -> None: ...

    @abstractmethod
    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        """Start a game. Frameworks with chance nodes must play `outcomes` before the first move."""

    @abstractmethod
    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        """Play an action. Frameworks with chance nodes must then play `outcomes`."""

    def rollout(self, seed: int, num_envs: int, steps: int) -> BatchTally | None:
        """Return the tally of a random rollout, or None if the framework has no rollouts."""
        return None


class Arrays(Environment):
    """`duels.vector`."""

    name = "duels.vector"

    def __init__(self, rules: AnyRules) -> None:
        self.rules = rules
        self._batch = make_batch(rules, 1, autoreset=False)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        self._batch.reset(seed)
        return self._snapshot(False, False, {0: 0.0, 1: 0.0})

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        rewards, terminated, truncated = self._batch.step([action])
        snapshot = self._snapshot(
            bool(terminated[0]), bool(truncated[0]), dict(enumerate(rewards[0].tolist()))
        )
        if snapshot.terminated or snapshot.truncated:
            self._batch.step([action])  # an ended game must not change
        return snapshot

    def _snapshot(self, terminated: bool, truncated: bool, rewards: dict[int, float]) -> Snapshot:
        batch = self._batch
        actor = int(batch.actor[0])
        observation = {seat: batch.observe(seat)[0].tobytes() for seat in (0, 1)}
        masks = {seat: batch.masks_for(seat)[0].tolist() for seat in (0, 1)} | {
            actor: batch.masks()[0].tolist()
        }
        return Snapshot(actor, masks, terminated, truncated, rewards, observation)

    def rollout(self, seed: int, num_envs: int, steps: int) -> BatchTally | None:
        return make_batch(self.rules, num_envs, seed).rollout(steps)


class Gymnasium(Environment):
    """`duels.envs.gymnasium.DuelEnv`, first seat."""

    name = "Gymnasium, seat 1"
    seat: ClassVar[int] = 0
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelEnv

        self._env: Any = DuelEnv(rules, seat=self.seat + 1, **self.options)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        observation, info = self._env.reset(seed=seed)
        return self._snapshot(observation, 0.0, False, False, info)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        return self._snapshot(*self._env.step(np.int64(action)))

    def _snapshot(
        self, observation: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> Snapshot:
        if "render_mode" in self.options:
            self._env.render()
        return Snapshot(
            NOBODY if terminated or truncated else self.seat,
            {self.seat: info["action_mask"].tolist()},
            terminated,
            truncated,
            {self.seat: float(reward)},
            {self.seat: _to_bytes(observation)},
            {self.seat: _grade(info)} if "value" in info else {},
        )


class GymnasiumVector(Gymnasium):
    """`duels.envs.gymnasium.DuelVectorEnv`, first seat."""

    name = "Gymnasium's vector environment, seat 1"
    options: ClassVar[dict[str, Any]] = {"autoreset_mode": "NextStep"}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.gymnasium import DuelVectorEnv

        self._env = DuelVectorEnv(rules, 1, seat=self.seat + 1, **self.options)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        observation, info = self._env.reset(seed=seed)
        return self._snapshot(observation[0], 0.0, False, False, {"action_mask": info["action_mask"][0]})

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        observation, (reward,), (terminated,), (truncated,), info = self._env.step(np.array([action]))
        if "final_info" in info:
            observation, info = info["final_obs"], info["final_info"]
        mask = info["action_mask"][0]
        return self._snapshot(
            observation[0], reward, bool(terminated), bool(truncated), {"action_mask": mask}
        )


class PettingZoo(Environment):
    """`duels.envs.pettingzoo.raw_env`."""

    name = "PettingZoo"
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, rules: AnyRules) -> None:
        from duels.envs.pettingzoo import raw_env

        self._env = raw_env(rules, **self.options)

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        self._env.reset(seed=seed)
        return self._snapshot()

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        self._env.step(action)
        return self._snapshot()

    def _snapshot(self) -> Snapshot:
        env = self._env
        env.render()
        agents = env.possible_agents
        observations = [env.observe(agent) for agent in agents]
        terminated, truncated = env.terminations[agents[0]], env.truncations[agents[0]]
        actor = NOBODY if terminated or truncated else agents.index(env.agent_selection)
        grades = {seat: _grade(env.infos[agent]) for seat, agent in enumerate(agents) if env.infos[agent]}
        return Snapshot(
            actor,
            {seat: observed["action_mask"].tolist() for seat, observed in enumerate(observations)},
            terminated,
            truncated,
            {seat: float(env.rewards[agent]) for seat, agent in enumerate(agents)},
            {seat: observed["observation"].tobytes() for seat, observed in enumerate(observations)},
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
        # OpenSpiel's observations end with the number of turns left, which the other frameworks omit.
        self._size = rules.game.encoding(rules).size

    def begin(self, seed: int, outcomes: tuple[Any, ...]) -> Snapshot:
        self._state = self._game.new_initial_state()
        return self._snapshot_after(outcomes)

    def step(self, action: int, outcomes: tuple[Any, ...]) -> Snapshot:
        self._state.apply_action(action)
        return self._snapshot_after(outcomes)

    def _snapshot_after(self, outcomes: tuple[Any, ...]) -> Snapshot:
        state = self._state
        for outcome in outcomes:
            state.apply_action(self._outcomes[outcome])
        is_over, result = state.is_terminal(), state.match.outcome
        legal = set(state.legal_actions())
        # OpenSpiel does not distinguish endings, so ask the match.
        cut_off = result is not None and result.ending is Ending.CUT_OFF
        observation = {seat: _to_bytes(state.observation_tensor(seat)[: self._size]) for seat in (0, 1)}
        actor = NOBODY if is_over else state.current_player()
        return Snapshot(
            actor,
            # After the end OpenSpiel has no masks.
            {} if is_over else {actor: [int(a in legal) for a in range(len(self._rules.all_actions()))]},
            is_over and not cut_off,
            is_over and cut_off,
            dict(enumerate(state.returns())),
            observation,
        )


def _to_bytes(observation: Any) -> bytes:
    """Return an observation as int8 bytes, or in its own dtype if int8 cannot hold the numbers."""
    array = np.asarray(observation)
    integers = array.astype(np.int8)
    return integers.tobytes() if (integers == array).all() else array.tobytes()


def _grade(info: Any) -> GradeInfo:
    return {name: info[name] for name in ("value", "regret", "exactness")}  # type: ignore[return-value]


def _variant(base: type[Environment], name: str, **attributes: Any) -> type[Environment]:
    return type(base.__name__, (base,), {"name": name, **attributes})


_RENDERED = {"render_mode": "ansi"}  # rendering environments also compute sights

UNGRADED = (
    Arrays,
    Gymnasium,
    _variant(Gymnasium, "Gymnasium, seat 2", seat=1),
    _variant(Gymnasium, "Gymnasium, rendered", options=_RENDERED),
    GymnasiumVector,
    _variant(
        GymnasiumVector,
        "Gymnasium's vector environment, seat 2",
        seat=1,
        options={"autoreset_mode": "SameStep"},
    ),
    PettingZoo,
    _variant(PettingZoo, "PettingZoo, rendered", options=_RENDERED),
    OpenSpiel,
)
GRADED = (
    _variant(Gymnasium, "Gymnasium, graded", options={"grade": True}),
    _variant(PettingZoo, "PettingZoo, graded", options={"grade": True}),
)
