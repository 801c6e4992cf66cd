"""How many cells can go by other names than their numbers: all of the row."""

from duels.games.lights.rules import Lights


def cells(rules: Lights) -> int:
    """The numbers 1 to this are names of cells, wherever they stand."""
    return rules.lights
