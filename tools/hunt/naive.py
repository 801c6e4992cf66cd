"""Naive policies to measure the strategy against: common habits of people."""

from collections.abc import Sequence

from duels.games.hunt.certify.policies import Weigh
from duels.games.hunt.rules import Action, Move, Observe, Phase, Tunnel, View
from duels.games.hunt.strategy import CELLS

MIDDLE = (CELLS + 1) / 2


def uniform(view: View, actions: Sequence[Action]) -> list[float]:
    """All legal actions with equal probability."""
    return [1.0] * len(actions)


def never_tunnels(view: View, actions: Sequence[Action]) -> list[float]:
    """Any legal action except the tunnel."""
    return [float(not isinstance(action, Tunnel)) for action in actions]


def always_stays(view: View, actions: Sequence[Action]) -> list[float]:
    """Enter anywhere and never move again; name any cell."""
    here = view.cell
    return [
        float(isinstance(a, Observe) or a == Move(here) or (not here and isinstance(a, Move)))
        for a in actions
    ]


def sweeps(view: View, actions: Sequence[Action]) -> list[float]:
    """Move anywhere except through the tunnel; name 1, 2, 3 … in a cycle."""
    if view.phase is not Phase.OBSERVE:
        return never_tunnels(view, actions)
    following = view.last_observed[view.seat - 1] % CELLS + 1
    return [float(action.cell == following) for action in actions]


def stays_and_sweeps(view: View, actions: Sequence[Action]) -> list[float]:
    """Never move, and name cells in a cycle."""
    return (always_stays if view.phase is not Phase.OBSERVE else sweeps)(view, actions)


def runs_to_the_edge(view: View, actions: Sequence[Action]) -> list[float]:
    """Enter at an edge of the grid and stay there, or run to the nearest one; name any cell."""
    if view.phase is Phase.OBSERVE:
        return uniform(view, actions)
    moves = [abs(action.cell - MIDDLE) if isinstance(action, Move) else -1.0 for action in actions]
    return [float(distance == max(moves)) for distance in moves]


NAIVE: dict[str, Weigh] = {
    "uniform": uniform,
    "never tunnels": never_tunnels,
    "always stays": always_stays,
    "sweeps": sweeps,
    "stays and sweeps": stays_and_sweeps,
    "edge runner": runs_to_the_edge,
}
