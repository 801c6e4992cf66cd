"""The duels for Gymnasium: `duels/Lights-v0` and so on, one seat against a chosen opponent.

Importing this registers them, each with a vector environment of its own.
"""

from duels.core.extras import extra
from duels.games import GAMES

with extra("rl"):
    from gymnasium import register

    from duels.envs.gymnasium.single import DuelEnv
    from duels.envs.gymnasium.vector import DuelVectorEnv

__all__ = ["DuelEnv", "DuelVectorEnv"]

for _game in GAMES:
    register(
        id=f"duels/{_game.title()}-v0",
        entry_point=f"{DuelEnv.__module__}:DuelEnv",
        vector_entry_point=f"{DuelVectorEnv.__module__}:DuelVectorEnv",
        kwargs={"game": _game},
    )
