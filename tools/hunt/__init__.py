"""Trains hunt's strategy and studies it: `python -m tools.hunt --help`."""
