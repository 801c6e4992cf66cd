"""The answer format for players that reply in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.leap.rules import OFF_GRID, Action, QuantumLeap, State


def forms(rules: QuantumLeap) -> Callable[[Sight[Action, State]], tuple[str, tuple[str, ...]]]:
    """Return the function that gives the instruction for a decision and example answers.

    The examples need not be legal.
    """

    def form(sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
        if sight.view.cell_of(sight.seat) == OFF_GRID:
            return "Write enter to come onto the grid.", ("enter",)
        return "Write by how many cells you leap forward, not the cell where you land, as in 2.", ("2",)

    return form
