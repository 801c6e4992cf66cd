"""The cells that can be relabelled, to test whether a player depends on their names."""

from duels.games.chain.rules import QuantumChain


def cells(rules: QuantumChain) -> int:
    """Return the number of cells. In notation, the numbers from 1 to this one always name cells."""
    return rules.cells
