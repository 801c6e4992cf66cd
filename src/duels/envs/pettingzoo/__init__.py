"""The duels for PettingZoo: `lights_v0.env()` and so on, and `duels/lights-v0` in its registry.

Every game has a module with `env` and `raw_env`, as PettingZoo's own games have.
"""

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from duels.core.extras import extra
from duels.games import GAMES, Game

with extra("rl"):
    from pettingzoo import register

    from duels.envs.pettingzoo.aec import AGENTS, DuelEnv, GuardedDuelEnv

__all__ = ["AGENTS", "DuelEnv", "GuardedDuelEnv"]


def _maker(name: str, kind: type[DuelEnv], game: Game, module: str) -> Callable[..., DuelEnv]:
    """The function `name` of a game's module; its options and their defaults are those of the rules."""

    def make(*, render_mode: str | None = None, grade: bool = False, **options: int | None) -> DuelEnv:
        return kind(game.name, render_mode, grade, **options)

    rules: Any = game.rules()
    options = inspect.signature(type(rules)).parameters.values()
    general = list(inspect.signature(make).parameters.values())[:-1]
    named = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    make.__signature__ = inspect.Signature([*general, *named], return_annotation=kind)  # type: ignore[attr-defined]
    make.__name__ = make.__qualname__ = name
    make.__module__ = module
    told = ", ".join(f"`{option.name}` ({option.default})" for option in named)
    kinds = [f"`{k.__name__}`: {inspect.getdoc(k)}" for k in kind.__mro__ if issubclass(k, DuelEnv)]
    make.__doc__ = "\n\n".join([f"{game.title}: {game.summary}.", f"Options of the rules: {told}.", *kinds])
    return make


def _module(game: Game) -> ModuleType:
    module = ModuleType(f"{__name__}.{game.name}_v0", f"{game.title} for PettingZoo: {game.summary}.")
    for name, kind in (("env", GuardedDuelEnv), ("raw_env", DuelEnv)):
        setattr(module, name, _maker(name, kind, game, module.__name__))
    return module


for _game in GAMES.values():
    _made = sys.modules[f"{__name__}.{_game.name}_v0"] = _module(_game)
    globals()[f"{_game.name}_v0"] = _made
    register("aec", f"duels/{_game.name}-v0", f"{_made.__name__}:env")
