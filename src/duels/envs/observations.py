"""How environments hand out observations: of which type, and whether with the mask in a dictionary."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from duels.analysis.agents import observation_dtype
from duels.core.validation import check_flag

OBSERVATION, ACTION_MASK = "observation", "action_mask"


class Observations:
    """Observations as an environment was asked to give them."""

    def __init__(self, dtype: DTypeLike, with_mask: bool) -> None:
        self.dtype = observation_dtype(dtype)
        self._as_they_are = self.dtype == np.int8
        self.with_mask = check_flag("dict_observations", with_mask)

    def space(self, size: int, actions: int) -> spaces.Space[Any]:
        """The space of the observation of one game."""
        shown = spaces.Box(0, 1, (size,), self.dtype.type)
        if not self.with_mask:
            return shown
        return spaces.Dict({OBSERVATION: shown, ACTION_MASK: spaces.Box(0, 1, (actions,), np.int8)})

    def give(self, shown: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
        """What a seat is shown, of one game or of many."""
        typed = shown if self._as_they_are else shown.astype(self.dtype)
        return {OBSERVATION: typed, ACTION_MASK: mask} if self.with_mask else typed
