"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


def forms(rules: Lights, sight: Sight[TurnOff, State]) -> dict[str, list[TurnOff]]:
    """Return the legal actions by the way they are written."""
    return {
        "the name of one light, to turn off that light alone": [a for a in sight.actions if a.count == 1],
        "the names of two neighbours with a hyphen, to turn off both": [
            a for a in sight.actions if a.count == 2
        ],
    }


def facts(rules: Lights, sight: Sight[TurnOff, State]) -> list[str]:
    """Return sentences on the position beside its board."""
    return ["O is a light that is ON, X is a light that is OFF."]
