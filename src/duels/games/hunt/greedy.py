"""A player of the hidden hunt that hides where it cannot be named and searches what it has not."""

from duels.core.rules import Sight
from duels.games.hunt.rules import Action, Known, Observe, Observed, QuantumHunt, Tunnel


class Greedy:
    def __init__(self, rules: QuantumHunt) -> None:
        self.rules = rules

    def __call__(self, sight: Sight[Action, Known], action: Action) -> float:
        """Stand where the other may not look next; name the cell that was named longest ago."""
        view = sight.view
        if isinstance(action, Observe):
            mine = [e.cell for e in sight.events if isinstance(e, Observed) and e.seat is sight.seat]
            if action.cell == view.cell:  # the other is not there, or this seat has lost already
                return -1
            return mine[::-1].index(action.cell) if action.cell in mine else len(mine)
        safe = action.cell == view.named[sight.seat.other - 1]
        # The tunnel is worth more later than a step is now.
        return 2 * safe - isinstance(action, Tunnel)


GREEDY = Greedy
