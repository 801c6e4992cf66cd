"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.leap.rules import OFF_GRID, Action, QuantumLeap, State


def forms(rules: QuantumLeap, sight: Sight[Action, State]) -> tuple[str, tuple[str, ...]]:
    """Return the instruction for a decision, and example answers, which need not be legal."""
    if sight.view.cell_of(sight.seat) == OFF_GRID:
        return "Write enter to come onto the grid.", ("enter",)
    return "Write by how many cells you leap forward, not the cell where you land, as in 2.", ("2",)
