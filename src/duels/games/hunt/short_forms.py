"""The oracle for short forms of hunt, whose game tree is small enough to solve."""

from typing import cast

from duels.core.match import AnyMatch
from duels.core.rules import Seat
from duels.games.hunt.rules import Action, State, View
from duels.solving.equilibrium_oracle import EquilibriumOracle


class ShortHuntOracle(EquilibriumOracle[Action, View]):
    """A solved equilibrium. Beliefs name the positions of the other token."""

    hidden = "token"

    def _secret(self, match: AnyMatch, seat: Seat) -> str:
        cell = cast("State", match.state).cells[seat - 1]
        return f"position {cell}" if cell else "off the grid"
