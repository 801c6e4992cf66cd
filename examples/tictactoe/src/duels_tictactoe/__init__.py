"""Tic-tac-toe: three in a row on nine cells; nobody wins between players who know it."""

from duels.core.game import Game

GAME = Game("tictactoe", "Tic-tac-toe", "three in a row on nine cells; a full board is a draw", __name__)
