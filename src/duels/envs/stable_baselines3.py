"""Arrays of games as Stable-Baselines3 takes them: MaskablePPO and its other learners train on them."""

from collections.abc import Sequence
from typing import Any

from duels.core.extras import extra
from duels.envs.gymnasium import DuelVectorEnv

with extra("sb3"):
    import numpy as np
    from stable_baselines3.common.vec_env import VecEnv

__all__ = ["DuelVecEnv"]


class DuelVecEnv(VecEnv):
    """`num_envs` duels as a `VecEnv`; it is made as a `DuelVectorEnv` is, and `envs` is that."""

    def __init__(self, game: Any, num_envs: int = 1, **how: Any) -> None:
        self.envs = DuelVectorEnv(game, num_envs, autoreset_mode="SameStep", **how)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        shown, _ = self.envs.reset(seed=None if self._seeds[0] is None else self._seeds)
        self._reset_seeds()
        return shown

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        shown, rewards, terminated, truncated, told = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for env in np.flatnonzero(terminated | truncated):
            cut = bool(truncated[env] and not terminated[env])
            infos[env] = {"terminal_observation": told["final_obs"][env], "TimeLimit.truncated": cut}
        return shown, rewards.astype(np.float32), terminated | truncated, infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """What a method of the arrays gives, a part for each game: `action_masks`, for MaskablePPO."""
        given = getattr(self.envs, method_name)(*args, **kwargs)
        places = self._get_indices(indices)
        return [None if given is None else given[env] for env in places]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.envs, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        return [None] * self.num_envs

    def close(self) -> None:
        self.envs.close()
