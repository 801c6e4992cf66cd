"""A greedy player of Quantum Duel: the hunt."""

from duels.core.rules import Sight
from duels.games.hunt.rules import Action, Observe, Observed, QuantumHunt, Tunnel, View


def score_action(rules: QuantumHunt, sight: Sight[Action, View], action: Action) -> float:
    """Score an action: move where the opponent cannot look next, observe the least recently observed cell."""
    view = sight.view
    if isinstance(action, Observe):
        observed = [e.cell for e in sight.events if isinstance(e, Observed) and e.seat is sight.seat]
        if action.cell == view.cell:  # a token there would have collided with this seat's own
            return -1
        return observed[::-1].index(action.cell) if action.cell in observed else len(observed)
    is_safe = action.cell == view.last_observed[sight.seat.other - 1]
    # Save the tunnel for later.
    return 2 * is_safe - isinstance(action, Tunnel)
