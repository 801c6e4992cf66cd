"""Which games a framework knows by which ids."""

from duels.core.errors import DuelsError
from duels.core.game import Game


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
