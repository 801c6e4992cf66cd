"""A greedy player of Light Out Duel."""

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


def score_action(rules: Lights, sight: Sight[TurnOff, State], action: TurnOff) -> float:
    """Prefer a win, avoid letting the opponent win at once, otherwise prefer two lights to one."""
    successor = rules.apply(sight.view, action).state
    if rules.outcome(successor):
        return 10
    replies = (rules.apply(successor, reply).state for reply in rules.actions(successor))
    if any(rules.outcome(reply) for reply in replies):
        return -10
    return action.count
