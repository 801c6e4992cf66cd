"""Type annotations for PettingZoo's `AECEnv`, which has none itself."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Observation = dict[str, NDArray[np.int8]]

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gymnasium import spaces

    class AECEnv:
        """`pettingzoo.AECEnv` with our agents, observations and actions."""

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

__all__ = ["AECEnv", "Observation"]
