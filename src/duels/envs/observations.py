"""The format of observations: arrays of a dtype, alone or in dictionaries with the mask."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from duels.analysis.agents import parse_observation_dtype
from duels.core.errors import DuelsError
from duels.core.validation import check_flag

OBSERVATION, ACTION_MASK = "observation", "action_mask"

DictObservations: TypeAlias = bool | Sequence[str]
"""Whether observations are dictionaries. A pair of strings also means dictionaries, and gives the keys of the
observation and the mask."""


class ObservationFormat:
    """The format of an environment's observations."""

    def __init__(self, dtype: DTypeLike, in_dict: DictObservations, bool_masks: bool = False) -> None:
        self.dtype = parse_observation_dtype(dtype)
        self._mask_dtype: Any = np.bool_ if check_flag("bool_masks", bool_masks) else np.int8
        self.with_mask = in_dict is not False
        self._keys = _parse_keys(in_dict)

    def space(self, size: int, actions: int) -> spaces.Space[Any]:
        """Return the observation space of one game."""
        box = spaces.Box(0, 1, (size,), self.dtype.type)
        if not self.with_mask:
            return box
        masks = spaces.Box(0, 1, (actions,), self._mask_dtype)
        return spaces.Dict(dict(zip(self._keys, (box, masks), strict=True)))

    def format(self, features: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
        """Return the observations of one or many games in this format."""
        observation = self.cast(features)
        if not self.with_mask:
            return observation
        return {self._keys[0]: observation, self._keys[1]: self.format_mask(mask)}

    def format_mask(self, mask: NDArray[np.int8]) -> NDArray[Any]:
        """Return the mask with this format's dtype for masks."""
        return mask.astype(self._mask_dtype, copy=False)

    def cast(self, features: NDArray[np.int8]) -> NDArray[Any]:
        """Return the features with this format's dtype."""
        return features.astype(self.dtype, copy=False)


def _parse_keys(in_dict: DictObservations) -> tuple[str, str]:
    if in_dict is True or in_dict is False:  # `==` would accept 0 as False
        return OBSERVATION, ACTION_MASK
    keys = list(in_dict) if isinstance(in_dict, tuple | list) else []
    if len(set(keys)) != 2 or not all(isinstance(key, str) for key in keys):
        raise DuelsError(
            "dict_observations must be True, False, or the two keys of the observation and the mask, "
            f"such as ('obs', 'mask'), not {in_dict!r}."
        )
    return keys[0], keys[1]
