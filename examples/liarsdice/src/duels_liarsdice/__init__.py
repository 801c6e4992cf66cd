"""Liar's dice: one hidden die each; bid on both together, or call the other a liar."""

from duels.core.game import Game

GAME = Game("liarsdice", "Liar's Dice", "one hidden die each; raise the bid, or call liar", __name__)
