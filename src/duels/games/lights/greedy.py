"""A greedy player of Light Out Duel."""

from duels.core.rules import Sight
from duels.games.lights.rules import Lights, State, TurnOff


class Greedy:
    def __init__(self, rules: Lights) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[TurnOff, State], action: TurnOff) -> float:
        """Prefer a win, avoid moves after which the opponent can win at once, else turn off more lights."""
        after = self.rules.apply(sight.view, action).state
        if self.rules.outcome(after):
            return 10
        replies = (self.rules.apply(after, reply).state for reply in self.rules.actions(after))
        if any(self.rules.outcome(reply) for reply in replies):
            return -10
        return action.count


GREEDY = Greedy
