"""Arrays of games as Stable-Baselines3 takes them: MaskablePPO and its other learners train on them."""

from collections.abc import Sequence
from typing import Any

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.envs.form import refuse_options
from duels.envs.gymnasium import DuelVectorEnv

with require_extra("sb3"):
    import numpy as np
    from numpy.typing import NDArray
    from stable_baselines3.common.vec_env import VecEnv

__all__ = ["DuelVecEnv"]


class DuelVecEnv(VecEnv):
    """`num_envs` duels as a `VecEnv`; it is made as a `DuelVectorEnv` is, and `envs` is that.

    A game that ends is reset in the same step: its info is that of its end, and that of the new game is in
    `reset_infos`.
    """

    def __init__(self, game: Any, num_envs: int = 1, **how: Any) -> None:
        if "autoreset_mode" in how:
            raise DuelsError("Stable-Baselines3 resets games in the same step: there is no autoreset_mode.")
        self.envs = DuelVectorEnv(game, num_envs, autoreset_mode="SameStep", **how)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        seeds: Any = None if self._seeds[0] is None else self._seeds
        shown, told = self.envs.reset(seed=seeds)
        self.reset_infos = self._of_each(told)
        self._reset_seeds()
        return shown

    def set_options(self, options: Any = None) -> None:
        for given in options if isinstance(options, list) else [options]:
            refuse_options(given)

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        shown, rewards, terminated, truncated, told = self.envs.step(self._actions)
        ended = terminated | truncated
        last = self._of_each(told.pop("final_info")) if ended.any() else []
        infos = self._of_each(told)
        for env in np.flatnonzero(ended):
            last[env]["terminal_observation"] = infos[env].pop("final_obs")
            self.reset_infos[env], infos[env] = infos[env], last[env]
        for info, cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            info["TimeLimit.truncated"] = cut
        return shown, rewards.astype(np.float32), ended, infos

    def _of_each(self, told: dict[str, Any]) -> list[dict[str, Any]]:
        """A dictionary for each game; Gymnasium's `DictInfoToList` does the same, several times as slowly."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for name in [name for name in told if f"_{name}" in told]:
            values = told[name] if told[name].ndim > 1 else told[name].tolist()
            for env in np.flatnonzero(told[f"_{name}"]).tolist():
                infos[env][name] = values[env]
        return infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """What a method of the arrays gives, a part for each game: `action_masks`, for MaskablePPO.

        `set_opponent` changes the opponents of these games; any other method is of all games.
        """
        method = getattr(self.envs, method_name)
        if method_name == "set_opponent":
            method(*args, which=self._which(indices), **kwargs)
            return [None for _ in self._get_indices(indices)]
        if method_name != "action_masks":
            self._refuse_some(method_name, indices)
        return self._parts(method(*args, **kwargs), indices)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return self._parts(getattr(self.envs, _of_arrays(attr_name)), indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        self._refuse_some(attr_name, indices)
        if not hasattr(self.envs, name := _of_arrays(attr_name)):
            raise AttributeError(f"There is no {attr_name} to set. For opponents there is set_opponent.")
        setattr(self.envs, name, value)

    def _parts(self, given: Any, indices: Any) -> list[Any]:
        """Of an array the part of each game; anything else is of all games."""
        each = isinstance(given, np.ndarray) and len(given) == self.num_envs
        return [given[env] if each else given for env in self._get_indices(indices)]

    def _which(self, indices: Any) -> NDArray[np.bool_]:
        which = np.zeros(self.num_envs, np.bool_)
        which[list(self._get_indices(indices))] = True
        return which

    def _refuse_some(self, name: str, indices: Any) -> None:
        if not self._which(indices).all():
            raise DuelsError(f"{name} is of all games together: leave `indices` out.")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        return [None] * self.num_envs

    def close(self) -> None:
        self.envs.close()


def _of_arrays(name: str) -> str:
    """What one game has as its seat, the arrays have as the seats of all."""
    return "seats" if name == "seat" else name
