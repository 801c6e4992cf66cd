"""Quantum Flip: 25 face-down tiles of 1 to 5; reach exactly 21."""

from duels.core.game import Game

GAME = Game("flip", "Quantum Flip", "25 face-down tiles of 1 to 5; reach exactly 21", __name__)
