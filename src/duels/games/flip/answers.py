"""How an answer is written, for whoever is asked in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.flip.rules import Action, QuantumTiles, State


def forms(rules: QuantumTiles) -> Callable[[Sight[Action, State]], tuple[str, tuple[str, ...]]]:
    """From a decision to what is to be written there, and examples, which need not be legal."""

    def form(sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
        if sight.view.choosing:
            return "Write which of the two tiles you keep, as in keep A1.", ("keep A1",)
        return (
            "Write the tile that you flip, as in A1, or for a Quantum Flip both tiles, as in A1+A2.",
            ("A1", "A1+A2"),
        )

    return form
