"""The answer format for players that reply in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


def forms(rules: Lights) -> Callable[[Sight[TurnOff, State]], tuple[str, tuple[str, ...]]]:
    """Return the function that gives the instruction for a decision and example answers.

    The examples need not be legal.
    """
    instruction = (
        "Write the name of one light to turn off that light alone, as in 1, "
        "or the names of both lights of a pair, as in 1-2."
    )
    return lambda sight: (instruction, ("1", "1-2"))
