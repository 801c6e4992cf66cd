"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.hunt.rules import Action, Phase, QuantumHunt, View


def forms(rules: QuantumHunt, sight: Sight[Action, View]) -> tuple[str, tuple[str, ...]]:
    """Return an instruction for the player's answer, and example answers, which may be illegal."""
    if sight.view.phase is Phase.OBSERVE:
        return "You observe now: write observe and a position, as in observe 2.", ("observe 2",)
    return (
        "You move now: write move and a position (your own, to stay), as in move 2, "
        "or tunnel and a position, as in tunnel 2.",
        ("move 2", "tunnel 2"),
    )
