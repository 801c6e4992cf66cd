"""The observation of Light Out Duel for programs."""

from duels.core.features import Feature, format_feature_value
from duels.games.lights.rules import OFF, ON, Lights, State


def features(rules: Lights) -> tuple[Feature, ...]:
    """Return the lights and whose turn it is."""
    return (
        Feature("lights", (OFF, ON), lambda view, seat: view.row, rules.lights),
        Feature("my_turn", (False, True), lambda view, seat: (view.mover is seat,)),
    )


def describe(view: State) -> str:
    """Return OpenSpiel's observation string."""
    return f"row={view.row} mover={format_feature_value(view.mover)}"
