"""The cells that can be relabelled, to test whether a player depends on their names."""

from duels.games.chain.rules import QuantumChain


def cells(rules: QuantumChain) -> int:
    """Return how many cells there are: in notation, the numbers 1 to this always name cells."""
    return rules.cells
