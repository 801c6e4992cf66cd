"""Quantum Duel: four in a row, for PettingZoo. Its options:

- `cells`: the number of cells
- `run`: symbols in a row that win
- `max_boards`: boards after which the game is truncated (or drawn, with `limit_ends="draw"`)
"""

from numpy.typing import DTypeLike

from duels.core.features import TRUNCATION
from duels.envs.pettingzoo.aec import DuelEnv, guarded
from duels.games.chain import GAME


def raw_env(
    *,
    render_mode: str | None = None,
    grade: bool = False,
    limit_ends: str = TRUNCATION,
    dtype: DTypeLike = "int8",
    cells: int = 7,
    run: int = 4,
    max_boards: int | None = None,
) -> DuelEnv:
    """Make the environment without wrappers. An illegal action raises IllegalMove."""
    return DuelEnv(
        GAME, render_mode, grade, limit_ends, dtype=dtype, cells=cells, run=run, max_boards=max_boards
    )


env = guarded(raw_env)
