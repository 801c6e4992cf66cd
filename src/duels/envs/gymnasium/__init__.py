"""Gymnasium environments (`duels/Lights-v0` and so on): one seat against a chosen opponent.

Importing this module registers our games and those of installed packages, each with a vector environment.
Call `register` for any other game.

>>> import gymnasium
>>> env = gymnasium.make("duels/Chain-v0", opponent="club", max_boards=2)
>>> observation, info = env.reset(seed=7)
>>> int(info["action_mask"].sum())
7
"""

from duels.core.errors import require_extra
from duels.core.game import Game
from duels.envs.versions import LATEST, EnvRegistry
from duels.games import all_games

with require_extra("rl"):
    import gymnasium

    from duels.envs.gymnasium.single import DuelEnv
    from duels.envs.gymnasium.vector import DuelVectorEnv

__all__ = ["DuelEnv", "DuelVectorEnv", "register"]

_registered = EnvRegistry()


def register(game: Game) -> str:
    """Register a game and return its id for `gymnasium.make` and `make_vec`, which take the rules' options.

    Raises DuelsError if another game has the id.

    >>> import duels
    >>> register(duels.find_game("leap"))
    'duels/Leap-v0'
    """
    id = f"duels/{game.name.title()}-v{LATEST}"
    if _registered.add(id, game):
        gymnasium.register(
            id=id,
            entry_point="duels.envs.gymnasium:DuelEnv",
            vector_entry_point="duels.envs.gymnasium:DuelVectorEnv",
            # With a name instead of a `Game`, the spec can be written as JSON.
            kwargs={"game": game.name if game in all_games() else game},
        )
    return id


for _game in all_games():
    register(_game)
