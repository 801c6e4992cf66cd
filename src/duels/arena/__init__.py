"""Runs of many matches: who plays, how it is scored, where it runs, and what is reported."""
