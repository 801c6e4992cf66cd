"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.flip.rules import Action, QuantumTiles, State


def forms(rules: QuantumTiles, sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
    """Return the instruction for a decision, and example answers, which need not be legal."""
    if sight.view.choosing:
        return "Write which of the two tiles you keep, as in keep A1.", ("keep A1",)
    return (
        "Write the tile that you flip, as in A1, or for a Quantum Flip both tiles, as in A1+A2.",
        ("A1", "A1+A2"),
    )
