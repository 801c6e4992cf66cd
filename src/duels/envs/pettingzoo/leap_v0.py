"""Quantum Leap for PettingZoo. Its options:

- `goal`: the cell to reach
"""

import numpy as np
from numpy.typing import DTypeLike

from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.leap import GAME


def raw_env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    dtype: DTypeLike = np.int8,
    goal: int = 21,
) -> DuelEnv:
    """Make the environment without checks: an illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, dtype=dtype, goal=goal)


env = guarded(raw_env)
