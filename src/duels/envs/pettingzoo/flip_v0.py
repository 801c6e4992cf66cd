"""Quantum Flip for PettingZoo. Its options:

- `side`: rows and columns of the board
- `values`: the highest value of a tile
- `copies`: tiles of each value
- `target`: the points to reach exactly
"""

from numpy.typing import DTypeLike

from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.flip import GAME


def raw_env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    dtype: DTypeLike = "int8",
    side: int = 5,
    values: int = 5,
    copies: int = 5,
    target: int = 21,
) -> DuelEnv:
    """Make the environment without wrappers. An illegal action raises IllegalMove."""
    return DuelEnv(
        GAME, render_mode, grade, dtype=dtype, side=side, values=values, copies=copies, target=target
    )


env = guarded(raw_env)
