"""The functions for one game, compiled. Needs the extra `fast`."""

from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from duels.envs.kernels.flip import single

# In an order in which each calls only earlier ones: a compiled function must find compiled ones.
_ORDER = (
    *("start", "value_at", "reveal", "lift", "play"),
    *("count_bits", "place_of", "pairs_down", "play_random", "roll"),
)


def _compile() -> Any:
    scope = {**vars(single), "BITS": np.array(single.BITS)}
    for name in _ORDER:
        source = getattr(single, name)
        scope[name] = njit(nogil=True)(FunctionType(source.__code__, scope, name, source.__defaults__))
    return scope["roll"]


roll = _compile()
