"""Quantum Duel: the hunt. Seven positions, hidden tokens; find the other's, do not collide."""

from duels.core.game import Game

GAME = Game(
    "hunt",
    "Quantum Duel: the hunt",
    "seven positions, hidden tokens; find the other's, do not collide",
    __name__,
)
