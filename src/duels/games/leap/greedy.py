"""A greedy player of Quantum Leap."""

from duels.core.rules import Sight
from duels.games.leap.rules import Action, Leap, QuantumLeap, State


def score_action(rules: QuantumLeap, sight: Sight[Action, State], action: Action) -> float:
    """Prefer longer leaps."""
    return action.by if isinstance(action, Leap) else 0
