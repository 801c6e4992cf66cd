"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


def forms(rules: Lights, sight: Sight[TurnOff, State]) -> tuple[str, tuple[str, ...]]:
    """Return the instruction for a decision, and example answers, which need not be legal."""
    instruction = (
        "Write the name of one light to turn off that light alone, as in 1, "
        "or the names of both lights of a pair, as in 1-2."
    )
    return instruction, ("1", "1-2")
