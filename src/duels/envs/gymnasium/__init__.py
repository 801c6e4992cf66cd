"""The duels for Gymnasium: `duels/Lights-v0` and so on, one seat against a chosen opponent.

Importing this registers our games and those of other packages, each with a vector environment of its own;
`register` does so for any other game.
"""

from duels.core.extras import require_extra
from duels.core.game import Game
from duels.envs.versions import LATEST, Registered
from duels.games import all_games

with require_extra("rl"):
    import gymnasium

    from duels.envs.gymnasium.single import DuelEnv
    from duels.envs.gymnasium.vector import DuelVectorEnv

__all__ = ["DuelEnv", "DuelVectorEnv", "register"]

_registered = Registered()


def register(game: Game) -> str:
    """Register a game; `gymnasium.make` and `make_vec` take the id returned, and the rules' options."""
    id = f"duels/{game.name.title()}-v{LATEST}"
    if _registered.add(id, game):
        gymnasium.register(
            id=id,
            entry_point="duels.envs.gymnasium:DuelEnv",
            vector_entry_point="duels.envs.gymnasium:DuelVectorEnv",
            # By its name if that is enough: then a spec can be written as JSON.
            kwargs={"game": game.name if game in all_games() else game},
        )
    return id


for _game in all_games():
    register(_game)
