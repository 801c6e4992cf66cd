"""How environments hand out observations: of which type, and whether with the mask in a dictionary."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from duels.analysis.agents import parse_observation_dtype
from duels.core.errors import DuelsError

OBSERVATION, ACTION_MASK = "observation", "action_mask"

InDict: TypeAlias = bool | Sequence[str]
"""Whether observations are dictionaries; or under which keys they hold the observation and the mask."""


class Observations:
    """Observations as an environment was asked to give them."""

    def __init__(self, dtype: DTypeLike, in_dict: InDict) -> None:
        self.dtype = parse_observation_dtype(dtype)
        self._as_they_are = self.dtype == np.int8
        self.with_mask = in_dict is not False
        self._names = _names(in_dict)

    def space(self, size: int, actions: int) -> spaces.Space[Any]:
        """The space of the observation of one game."""
        shown = spaces.Box(0, 1, (size,), self.dtype.type)
        if not self.with_mask:
            return shown
        return spaces.Dict(
            dict(zip(self._names, (shown, spaces.Box(0, 1, (actions,), np.int8)), strict=True))
        )

    def give(self, shown: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
        """What a seat is shown, of one game or of many."""
        typed = self.typed(shown)
        return {self._names[0]: typed, self._names[1]: mask} if self.with_mask else typed

    def typed(self, shown: NDArray[np.int8]) -> NDArray[Any]:
        """The same without the mask, for a function that is given the mask beside it."""
        return shown if self._as_they_are else shown.astype(self.dtype)


def _names(in_dict: InDict) -> tuple[str, str]:
    if in_dict is True or in_dict is False:  # not by ==, which takes 0 for False
        return OBSERVATION, ACTION_MASK
    names = list(in_dict) if isinstance(in_dict, tuple | list) else []
    if len(set(names)) != 2 or not all(isinstance(name, str) for name in names):
        raise DuelsError(
            "dict_observations is True or False, or two names, such as ('obs', 'mask'), under which the "
            f"dictionary holds the observation and the mask, not {in_dict!r}."
        )
    return names[0], names[1]
