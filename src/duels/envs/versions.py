"""Versions and ids of the environments."""

from duels.core.errors import DuelsError
from duels.core.game import Game

VERSIONS = {0: "The first version."}
"""What each version changed. Every change that affects agents or results needs a new version."""
LATEST = max(VERSIONS)


class EnvRegistry(dict[str, Game]):
    """The games registered with one framework, by id."""

    def add(self, id: str, game: Game) -> bool:
        """Add a game and return whether it is new. Raises DuelsError if another game has the id."""
        other = self.get(id)
        if other is None:
            self[id] = game
        elif other != game:
            raise DuelsError(f"{id} is taken by the game in {other.package}.")
        return other is None
