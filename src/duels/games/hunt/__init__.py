"""Quantum Duel: seven positions, hidden tokens; name the other's, never collide."""

from duels.core.game import Game

GAME = Game(
    "hunt",
    "Quantum Duel",
    "seven positions, hidden tokens; name the other's, never collide",
    __name__,
)
