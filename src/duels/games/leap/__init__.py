"""Quantum Leap: race to cell 21, leaping by divisors of the cell you stand on."""

from duels.core.game import Game

GAME = Game("leap", "Quantum Leap", "race to cell 21, leaping by divisors of the cell you stand on", __name__)
