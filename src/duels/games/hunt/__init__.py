"""Quantum Duel: hidden tokens on seven cells; name the other's cell, do not collide."""

from duels.core.game import Game

GAME = Game(
    "hunt", "Quantum Duel", "hidden tokens on seven cells; name the other's cell, do not collide", __name__
)
