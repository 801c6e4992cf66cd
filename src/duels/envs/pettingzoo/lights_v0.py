"""Light Out Duel for PettingZoo. Its options:

- `lights`: the number of lights
"""

import numpy as np
from numpy.typing import DTypeLike

from duels.envs.pettingzoo.aec import DuelEnv, GuardedDuelEnv
from duels.games.lights import GAME


def env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    dtype: DTypeLike = np.int8,
    lights: int = 7,
) -> GuardedDuelEnv:
    """The environment with PettingZoo's usual checks: an illegal action loses."""
    return GuardedDuelEnv(GAME, render_mode, grade, dtype=dtype, lights=lights)


def raw_env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    dtype: DTypeLike = np.int8,
    lights: int = 7,
) -> DuelEnv:
    """The environment as it is: an illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, dtype=dtype, lights=lights)
