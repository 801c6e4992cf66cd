"""The cells that can be relabelled, to test whether a player depends on their names."""

from duels.games.hunt.rules import QuantumHunt


def cells(rules: QuantumHunt) -> int:
    """Return the number of cells. In notation, the numbers from 1 to this number always mean cells."""
    return rules.cells
