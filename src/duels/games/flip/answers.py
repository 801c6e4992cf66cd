"""The answer format for players that reply in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.flip.rules import Action, QuantumTiles, State


def forms(rules: QuantumTiles) -> Callable[[Sight[Action, State]], tuple[str, tuple[str, ...]]]:
    """Return the function that gives the instruction for a decision and example answers.

    The examples need not be legal.
    """

    def form(sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
        if sight.view.choosing:
            return "Write which of the two tiles you keep, as in keep A1.", ("keep A1",)
        return (
            "Write the tile that you flip, as in A1, or for a Quantum Flip both tiles, as in A1+A2.",
            ("A1", "A1+A2"),
        )

    return form
