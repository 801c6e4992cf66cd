"""A greedy player of Quantum Flip."""

from fractions import Fraction

from duels.core.rules import Seat, Sight
from duels.games.flip.rules import Action, QuantumFlip, QuantumTiles, State


def score_action(rules: QuantumTiles, sight: Sight[Action, State], action: Action) -> float:
    """Return the chance to win with this turn minus the chance to lose with it.

    A choice between two tiles counts as the better one. Ties favour single flips, to save the Quantum Flip.
    """
    penalty = 1e-6 if isinstance(action, QuantumFlip) else 0
    return float(_evaluate(rules, sight.view, action, sight.seat)) - penalty


def _evaluate(rules: QuantumTiles, state: State, action: Action, seat: Seat) -> Fraction:
    successor = rules.apply(state, action).state
    outcome = rules.outcome(successor)
    if outcome:
        return Fraction(1 if outcome.winner is seat else -1)
    if not successor.lifted:
        return Fraction(0)
    replies = [_evaluate(rules, successor, reply, seat) for reply in rules.actions(successor)]
    if successor.choosing:
        return max(replies)
    return sum((p * v for p, v in zip(rules.odds(successor), replies, strict=True)), Fraction(0))
