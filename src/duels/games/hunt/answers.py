"""The answer format for players that reply in text."""

from duels.core.rules import Sight
from duels.games.hunt.rules import Action, Move, Observe, QuantumHunt, Tunnel, View


def forms(rules: QuantumHunt, sight: Sight[Action, View]) -> dict[str, list[Action]]:
    """Return the legal actions by the way they are written."""
    kinds = {
        "move and the position where you go (your own, to stay)": Move,
        "tunnel and the position where you go": Tunnel,
        "observe and the position that you name": Observe,
    }
    return {form: [a for a in sight.actions if isinstance(a, kind)] for form, kind in kinds.items()}


def facts(rules: QuantumHunt, sight: Sight[Action, View]) -> list[str]:
    """Return sentences on the position beside its board."""
    return ["@ is your own token, which your opponent does not see."]
