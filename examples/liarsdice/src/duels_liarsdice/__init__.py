"""Liar's dice: one hidden die each; bid on both dice together, or call the opponent a liar."""

from duels.core.game import Game

GAME = Game("liarsdice", "Liar's Dice", "one hidden die each; raise the bid, or call liar", __name__)
