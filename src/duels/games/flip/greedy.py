"""A greedy player of Quantum Flip."""

from fractions import Fraction

from duels.core.rules import Seat, Sight
from duels.games.flip.rules import Action, QuantumFlip, QuantumTiles, State


class Greedy:
    def __init__(self, rules: QuantumTiles) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, State], action: Action) -> float:
        """Return the chance to win with this turn minus the chance to lose with it.

        A choice of two tiles counts as the better one. Ties favour single flips, to save the Quantum Flip.
        """
        penalty = 1e-6 if isinstance(action, QuantumFlip) else 0
        return float(self._evaluate(sight.view, action, sight.seat)) - penalty

    def _evaluate(self, state: State, action: Action, seat: Seat) -> Fraction:
        successor = self.rules.apply(state, action).state
        outcome = self.rules.outcome(successor)
        if outcome:
            return Fraction(1 if outcome.winner is seat else -1)
        if not successor.lifted:
            return Fraction(0)
        replies = [self._evaluate(successor, reply, seat) for reply in self.rules.actions(successor)]
        if successor.choosing:
            return max(replies)
        return sum((p * v for p, v in zip(self.rules.odds(successor), replies, strict=True)), Fraction(0))


GREEDY = Greedy
