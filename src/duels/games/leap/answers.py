"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.leap.rules import OFF_GRID, Action, QuantumLeap, State


def forms(rules: QuantumLeap, sight: Sight[Action, State]) -> dict[str, list[Action]]:
    """Return the legal actions by the way they are written."""
    if sight.view.cell_of(sight.seat) == OFF_GRID:
        return {"enter, to come onto the grid": list(sight.actions)}
    return {"by how many cells you leap forward, not the cell where you land": list(sight.actions)}
