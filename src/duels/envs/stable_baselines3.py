"""A `VecEnv` for Stable-Baselines3 and sb3-contrib (MaskablePPO)."""

from collections.abc import Sequence
from typing import Any

from duels.core.errors import DuelsError, require_extra
from duels.envs.gymnasium import DuelVectorEnv
from duels.envs.settings import reject_reset_options

with require_extra("sb3"):
    import numpy as np
    from numpy.typing import NDArray
    from stable_baselines3.common.vec_env import VecEnv

__all__ = ["DuelVecEnv"]


class DuelVecEnv(VecEnv):
    """A `VecEnv` of `num_envs` games. It wraps a `DuelVectorEnv` and takes the same arguments.

    Ended games are reset in the same step: `infos` describe the end, and `reset_infos` the new games.
    Raises DuelsError for `autoreset_mode`, and the errors of `DuelVectorEnv`.

    >>> envs = DuelVecEnv("lights", num_envs=2, opponent="club")
    >>> envs.reset().shape
    (2, 8)
    >>> observations, rewards, done, infos = envs.step([0, 1])
    >>> done.tolist()
    [False, False]
    """

    def __init__(self, game: Any, num_envs: int = 1, **settings: Any) -> None:
        if "autoreset_mode" in settings:
            raise DuelsError("Stable-Baselines3 resets games in the same step: leave out autoreset_mode.")
        self.envs = DuelVectorEnv(game, num_envs, autoreset_mode="SameStep", **settings)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        seeds: Any = None if self._seeds[0] is None else self._seeds
        observations, info = self.envs.reset(seed=seeds)
        self.reset_infos = self._split_infos(info)
        self._reset_seeds()
        return observations

    def set_options(self, options: Any = None) -> None:
        for env_options in options if isinstance(options, list) else [options]:
            reject_reset_options(env_options)

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        ended = terminated | truncated
        final_infos = self._split_infos(info.pop("final_info")) if ended.any() else []
        infos = self._split_infos(info)
        for env in np.flatnonzero(ended):
            final_infos[env]["terminal_observation"] = infos[env].pop("final_obs")
            self.reset_infos[env], infos[env] = infos[env], final_infos[env]
        for env_info, is_truncated in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            env_info["TimeLimit.truncated"] = is_truncated
        return observations, rewards.astype(np.float32), ended, infos

    def _split_infos(self, info: dict[str, Any]) -> list[dict[str, Any]]:
        """Return one info per game. Gymnasium's `DictInfoToList` is several times slower."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for name in [name for name in info if f"_{name}" in info]:
            values = info[name] if info[name].ndim > 1 else info[name].tolist()
            for env in np.flatnonzero(info[f"_{name}"]).tolist():
                infos[env][name] = values[env]
        return infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of `envs` and return its result for each game, as MaskablePPO needs it.

        `set_opponent` applies to the games at `indices`; other methods apply to all games.
        """
        method = getattr(self.envs, method_name)
        if method_name == "set_opponent":
            method(*args, env_mask=self._env_mask(indices), **kwargs)
            return [None for _ in self._get_indices(indices)]
        if method_name != "action_masks":
            self._require_all(method_name, indices)
        return self._split_value(method(*args, **kwargs), indices)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return self._split_value(getattr(self.envs, _vector_name(attr_name)), indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        self._require_all(attr_name, indices)
        if not hasattr(self.envs, name := _vector_name(attr_name)):
            raise AttributeError(f"Unknown attribute {attr_name}. To change opponents, call set_opponent.")
        setattr(self.envs, name, value)

    def _split_value(self, value: Any, indices: Any) -> list[Any]:
        """Return the value for each game: its row of `value` if there is a row per game, else `value`."""
        is_per_game = isinstance(value, np.ndarray) and len(value) == self.num_envs
        return [value[env] if is_per_game else value for env in self._get_indices(indices)]

    def _env_mask(self, indices: Any) -> NDArray[np.bool_]:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[list(self._get_indices(indices))] = True
        return mask

    def _require_all(self, name: str, indices: Any) -> None:
        if not self._env_mask(indices).all():
            raise DuelsError(f"{name} applies to all games: call it without `indices`.")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        return [None] * self.num_envs

    def close(self) -> None:
        self.envs.close()


def _vector_name(name: str) -> str:
    return "seats" if name == "seat" else name
