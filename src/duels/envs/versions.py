"""The ids of the environments: the versions in them, and the games that they stand for."""

from duels.core.errors import DuelsError
from duels.core.game import Game

VERSIONS = {0: "The first version."}
"""By version, what it changed; a new one comes with every change that an agent or a result would notice."""
LATEST = max(VERSIONS)


class Registered(dict[str, Game]):
    """The games that one framework has been told of; an id stands for one game only."""

    def add(self, id: str, game: Game) -> bool:
        """Whether the game is new; DuelsError if the id is another game's."""
        known = self.get(id)
        if known is None:
            self[id] = game
        elif known != game:
            raise DuelsError(f"{id} is taken: by the game in {known.package}.")
        return known is None
