"""The functions for one game, compiled. Needs the extra `fast`."""

from types import FunctionType
from typing import Any

from numba import njit

from duels.envs.kernels.flip import single

# In an order in which each calls only earlier ones: a compiled function must find compiled ones.
_ORDER = ("start", "value_at", "reveal", "lift", "play", "ways", "play_choice", "roll")


def _compile() -> Any:
    scope = dict(vars(single))
    for name in _ORDER:
        source = getattr(single, name)
        scope[name] = njit(nogil=True)(FunctionType(source.__code__, scope, name, source.__defaults__))
    return scope["roll"]


roll = _compile()
