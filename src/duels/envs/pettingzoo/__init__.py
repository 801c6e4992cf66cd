"""The duels for PettingZoo: `lights_v0.env()` and so on, and `duels/lights-v0` in its registry.

Every game has a module with `env` and `raw_env`, as PettingZoo's own games have.
"""

import sys
from functools import partial
from types import ModuleType

from pettingzoo import register

from duels.envs.pettingzoo.aec import AGENTS, DuelEnv, GuardedDuelEnv
from duels.games import GAMES, Game

__all__ = ["AGENTS", "DuelEnv", "GuardedDuelEnv"]


def _module(game: Game) -> ModuleType:
    module = ModuleType(f"{__name__}.{game.name}_v0", f"{game.title} for PettingZoo: {game.summary}.")
    module.env = partial(GuardedDuelEnv, game.name)  # type: ignore[attr-defined]
    module.raw_env = partial(DuelEnv, game.name)  # type: ignore[attr-defined]
    return module


for _game in GAMES.values():
    _made = sys.modules[f"{__name__}.{_game.name}_v0"] = _module(_game)
    globals()[f"{_game.name}_v0"] = _made
    register("aec", f"duels/{_game.name}-v0", f"{_made.__name__}:env")
