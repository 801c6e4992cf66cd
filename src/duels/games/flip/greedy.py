"""A player of Quantum Flip that weighs the chance to hit against the chance to bust."""

from fractions import Fraction

from duels.core.rules import Seat, Sight
from duels.games.flip.rules import Action, QuantumFlip, QuantumTiles, State


class Greedy:
    def __init__(self, rules: QuantumTiles) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, State], action: Action) -> float:
        """The chance to win with this very turn less the chance to lose with it.

        A choice counts as its better half. While nothing is at stake, single flips come first: the
        Quantum Flip is worth keeping.
        """
        thrift = 1e-6 if isinstance(action, QuantumFlip) else 0
        return float(self._stake(sight.view, action, sight.seat)) - thrift

    def _stake(self, state: State, action: Action, seat: Seat) -> Fraction:
        after = self.rules.apply(state, action).state
        outcome = self.rules.outcome(after)
        if outcome:
            return Fraction(1 if outcome.winner is seat else -1)
        if not after.lifted:
            return Fraction(0)
        replies = [self._stake(after, reply, seat) for reply in self.rules.actions(after)]
        if after.choosing:
            return max(replies)
        return sum((p * v for p, v in zip(self.rules.odds(after), replies, strict=True)), Fraction(0))


GREEDY = Greedy
