"""A greedy player of Quantum Leap."""

from duels.core.rules import Sight
from duels.games.leap.rules import Action, Leap, QuantumLeap, State


class Greedy:
    def __init__(self, rules: QuantumLeap) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, State], action: Action) -> float:
        """Prefer longer leaps."""
        return action.by if isinstance(action, Leap) else 0


GREEDY = Greedy
