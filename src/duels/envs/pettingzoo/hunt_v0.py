"""Quantum Duel: the hunt, for PettingZoo. Its options:

- `cells`: the number of cells
- `max_turns`: turns after which the game is truncated (or drawn, with `limit_ends="draw"`)
"""

from numpy.typing import DTypeLike

from duels.core.features import TRUNCATION
from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.hunt import GAME


def raw_env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = "int8",
    cells: int = 7,
    max_turns: int | None = None,
) -> DuelEnv:
    """Make the environment without wrappers. An illegal action raises IllegalMove."""
    return DuelEnv(GAME, render_mode, grade, limit_ends, memory, dtype, cells=cells, max_turns=max_turns)


env = guarded(raw_env)
