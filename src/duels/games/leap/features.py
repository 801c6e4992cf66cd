"""The observation of Quantum Leap for programs."""

from duels.core.features import Feature, format_feature_value
from duels.games.leap.rules import OFF_GRID, QuantumLeap, State


def features(rules: QuantumLeap) -> tuple[Feature, ...]:
    """Return both cells from the seat's point of view, and whose turn it is."""
    cells = tuple(range(OFF_GRID, rules.goal + 1))
    return (
        Feature("my_cell", cells, lambda view, seat: (view.cell_of(seat),)),
        Feature("other_cell", cells, lambda view, seat: (view.cell_of(seat.other),)),
        Feature("my_turn", (False, True), lambda view, seat: (view.mover is seat,)),
    )


def describe(view: State) -> str:
    """Return OpenSpiel's observation string."""
    return f"cells={view.cells[0]},{view.cells[1]} mover={format_feature_value(view.mover)}"
