"""PettingZoo environments: `lights_v0.env()` and so on, registered as `duels/lights-v0` and so on.

Like PettingZoo's own games, each of our games has a module with `env` and `raw_env`. The `env` and `raw_env`
of this module take any game. Importing this module registers our games and those of installed packages. Call
`register` for any other game.
"""

from functools import partial

from duels.core.errors import require_extra
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.envs.versions import LATEST, EnvRegistry
from duels.games import all_games

with require_extra("rl"):
    import pettingzoo
    from numpy.typing import DTypeLike

    from duels.envs.pettingzoo import chain_v0, flip_v0, hunt_v0, leap_v0, lights_v0
    from duels.envs.pettingzoo.aec import AGENTS, DuelEnv, GuardedDuelEnv, guarded

__all__ = [
    "AGENTS",
    "DuelEnv",
    "GuardedDuelEnv",
    "chain_v0",
    "env",
    "flip_v0",
    "hunt_v0",
    "leap_v0",
    "lights_v0",
    "raw_env",
    "register",
]

_registered = EnvRegistry()


def raw_env(
    game: str | Game | AnyRules,
    *,
    render_mode: str | None = None,
    grade: bool = False,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = "int8",
    **options: OptionValue,
) -> DuelEnv:
    """Make an environment without wrappers. An illegal action raises IllegalMove.

    >>> env = raw_env("lights", lights=3)
    >>> env.reset(seed=1)
    >>> env.agent_selection, env.observe("player_1")["action_mask"].tolist()
    ('player_1', [1, 1, 1, 1, 1])
    """
    return DuelEnv(game, render_mode, grade, limit_ends, memory, dtype, **options)


env = guarded(raw_env)


def register(game: Game) -> str:
    """Register a game and return its id for `pettingzoo.make("aec", …)`, which takes the rules' options.

    Raises DuelsError if another game has the id.

    >>> import duels
    >>> register(duels.find_game("leap"))
    'duels/leap-v0'
    """
    id = f"duels/{game.name}-v{LATEST}"
    if _registered.add(id, game):
        pettingzoo.register("aec", id, partial(env, game))
    return id


for _game in all_games():
    register(_game)
