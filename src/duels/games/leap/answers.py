"""How an answer is written, for whoever is asked in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.leap.rules import OFF_GRID, Action, QuantumLeap, State


def forms(rules: QuantumLeap) -> Callable[[Sight[Action, State]], tuple[str, tuple[str, ...]]]:
    """From a decision to what is to be written there, and examples, which need not be legal."""

    def form(sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
        if sight.view.cell_of(sight.seat) == OFF_GRID:
            return "Write enter to come onto the grid.", ("enter",)
        return "Write by how many cells you leap forward, not the cell where you land, as in 2.", ("2",)

    return form
