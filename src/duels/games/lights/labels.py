"""The cells that can be relabelled, to test whether a player depends on their names."""

from duels.games.lights.rules import Lights


def cells(rules: Lights) -> int:
    """Return the number of lights. In notation, the numbers from 1 to this one always name lights."""
    return rules.lights
