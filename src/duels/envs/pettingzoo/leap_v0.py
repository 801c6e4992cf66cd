"""Quantum Leap for PettingZoo. Its options:

- `goal`: the cell to reach
"""

from duels.envs.pettingzoo.aec import DuelEnv, GuardedDuelEnv
from duels.games.leap import GAME


def env(*, render_mode: str | None = None, grade: bool = False, goal: int = 21) -> GuardedDuelEnv:
    """The environment with PettingZoo's usual checks: an illegal action loses."""
    return GuardedDuelEnv(GAME, render_mode, grade, goal=goal)


def raw_env(*, render_mode: str | None = None, grade: bool = False, goal: int = 21) -> DuelEnv:
    """The environment as it is: an illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, goal=goal)
