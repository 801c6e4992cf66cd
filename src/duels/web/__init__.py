"""Matches in a browser: one more surface on the same match, which holds no rule of any game."""
