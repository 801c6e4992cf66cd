"""Quantum Duel: four in a row on seven cells; bold placements risk a coin."""

from duels.core.game import Game

GAME = Game(
    "chain",
    "Quantum Duel: four in a row",
    "four in a row on seven cells; bold placements risk a coin",
    __name__,
)
