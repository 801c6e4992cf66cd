"""Versions and ids of the environments."""

from duels.core.errors import DuelsError
from duels.core.game import Game

VERSIONS = {0: "The first version."}
"""The change that each version made. A change that affects agents or results needs a new version."""
LATEST = max(VERSIONS)


class EnvRegistry(dict[str, Game]):
    """The games registered with one framework, by id."""

    def add(self, id: str, game: Game) -> bool:
        """Add a game and return whether it is new. Raises DuelsError if another game has the id."""
        registered = self.get(id)
        if registered is None:
            self[id] = game
        elif registered != game:
            raise DuelsError(f"{id} is already the id of the game in {registered.package}.")
        return registered is None
