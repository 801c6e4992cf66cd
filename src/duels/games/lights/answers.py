"""How an answer is written, for whoever is asked in text."""

from collections.abc import Callable

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


def forms(rules: Lights) -> Callable[[Sight[TurnOff, State]], tuple[str, tuple[str, ...]]]:
    """From a decision to what is to be written there, and examples, which need not be legal."""
    told = (
        "Write the name of one light to turn off that light alone, as in 1, "
        "or the names of both lights of a pair, as in 1-2."
    )
    return lambda sight: (told, ("1", "1-2"))
