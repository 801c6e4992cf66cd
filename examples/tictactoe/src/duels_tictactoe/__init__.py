"""Tic-tac-toe: three in a row on nine cells; a draw between perfect players."""

from duels.core.game import Game

GAME = Game("tictactoe", "Tic-tac-toe", "three in a row on nine cells; a full board is a draw", __name__)
