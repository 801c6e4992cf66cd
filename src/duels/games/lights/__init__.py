"""Light Out Duel: seven lights, turn off one or two neighbours; the last light wins."""

from duels.core.game import Game

GAME = Game(
    "lights", "Light Out Duel", "seven lights, turn off one or two neighbours; the last light wins", __name__
)
