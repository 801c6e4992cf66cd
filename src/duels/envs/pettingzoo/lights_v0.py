"""Light Out Duel for PettingZoo. Its options:

- `lights`: the number of lights
"""

from numpy.typing import DTypeLike

from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.lights import GAME


def raw_env(
    *, render_mode: str | None = None, grade: bool = False, dtype: DTypeLike = "int8", lights: int = 7
) -> DuelEnv:
    """Make the environment without wrappers. An illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, dtype=dtype, lights=lights)


env = guarded(raw_env)
