"""Matches in progress, without a screen: players, dice, scripted chance, takebacks and records on disk."""
