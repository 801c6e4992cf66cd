"""What a program is shown of Light Out Duel."""

from duels.core.features import Feature
from duels.games.lights.rules import OFF, ON, Lights


def features(rules: Lights) -> tuple[Feature, ...]:
    return (
        Feature("lights", (OFF, ON), lambda view, seat: view.row, rules.lights),
        Feature("my_turn", (False, True), lambda view, seat: (view.mover is seat,)),
    )
