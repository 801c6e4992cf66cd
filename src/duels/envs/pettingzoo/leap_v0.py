"""Quantum Leap for PettingZoo. Its options:

- `goal`: the cell to reach
"""

from numpy.typing import DTypeLike

from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.leap import GAME


def raw_env(
    *, render_mode: str | None = None, grade: bool = False, dtype: DTypeLike = "int8", goal: int = 21
) -> DuelEnv:
    """Make the environment without wrappers. An illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, dtype=dtype, goal=goal)


env = guarded(raw_env)
