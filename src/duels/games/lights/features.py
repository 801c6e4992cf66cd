"""What a program is shown of Light Out Duel."""

from duels.core.features import Feature, format_feature_value
from duels.games.lights.rules import OFF, ON, Lights, State


def features(rules: Lights) -> tuple[Feature, ...]:
    return (
        Feature("lights", (OFF, ON), lambda view, seat: view.row, rules.lights),
        Feature("my_turn", (False, True), lambda view, seat: (view.mover is seat,)),
    )


def describe(view: State) -> str:
    """The view as OpenSpiel's observation string."""
    return f"row={view.row} mover={format_feature_value(view.mover)}"
