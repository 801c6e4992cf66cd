"""Where hunt's other token may be, from what one seat has seen, by the rules of probability.

The other is taken to play the strategy, and now and then just anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from duels.core.rules import Seat
from duels.games.hunt.rules import NONE_NAMED, OFF_GRID, Action, Observe, Phase, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import CELLS, OFF, Strategy, Tables, row_of

STRAY = 0.02
"""How often the other side is taken to do just anything instead, so that no sight is ever impossible."""

Hidden = tuple[int, bool]
"""Where the other's token is (cells from 0), and whether its tunnel is left."""
Names = dict[Seat, tuple[int, ...]]
"""What each seat has named, oldest first, cells from 0."""


@dataclass(frozen=True)
class Track:
    """What a seat has worked out: its own place, what both have named, where the other may be."""

    own: int
    names: Names
    other: dict[Hidden, float]


def follow(strategy: Strategy, seat: Seat, history: Sequence[Action | None]) -> Track:
    """Follow what the seat has seen, move by move, with `strategy` as the other's policy."""
    track = Track(OFF, {Seat.ONE: (), Seat.TWO: ()}, {(OFF, True): 1.0})
    for place, entry in enumerate(history):
        mover = Seat.TWO if place // 2 % 2 else Seat.ONE
        own, names, other = track.own, track.names, track.other
        row = row_of(names[mover], names[mover.other])
        if isinstance(entry, Observe):
            cell = entry.cell - 1
            if mover is seat:
                other = _scaled({h: p for h, p in other.items() if h[0] not in (cell, own)})
            else:
                other = _heard(strategy[mover], row, other, cell, own, names[mover])
            track = Track(own, {**names, mover: (*names[mover], cell)}, other)
        elif mover is seat:
            assert entry is not None
            track = Track(entry.cell - 1, names, other)
        else:
            track = Track(own, names, _moved(strategy[mover], row, other))
    return track


def _moved(tables: Tables, row: int, other: dict[Hidden, float]) -> dict[Hidden, float]:
    after: dict[Hidden, float] = {}
    for hidden, p in other.items():
        weights = tables.move_weights(row, hidden[0])
        total = sum(weights)
        ways = _ways(*hidden)
        for action, then in ways:
            meant = 0.0 if isinstance(action, Tunnel) else weights[action.cell - 1] / total
            share = (1 - STRAY) * meant + STRAY / len(ways)
            after[then] = after.get(then, 0.0) + p * share
    return after


def _heard(
    tables: Tables, row: int, other: dict[Hidden, float], cell: int, own: int, named: tuple[int, ...]
) -> dict[Hidden, float]:
    """The other has named `cell`, was wrong, and has not run into us."""
    nameable = _nameable(named[-1] + 1 if named else NONE_NAMED)
    after: dict[Hidden, float] = {}
    for (place, tunnel), p in other.items():
        if place != own:
            weights = tables.name_weights(row, place)
            chance = (1 - STRAY) * weights[cell] / sum(weights) + STRAY / nameable
            after[place, tunnel] = p * chance
    return _scaled(after)


@cache
def _ways(place: int, tunnel: bool) -> tuple[tuple[Action, Hidden], ...]:
    """What a token may do by the rules, and where that leaves it."""
    rules = QuantumHunt(CELLS)
    cell = OFF_GRID if place == OFF else place + 1
    state = State((cell, OFF_GRID), (tunnel, True), (NONE_NAMED, NONE_NAMED), Seat.ONE, Phase.MOVE)
    moved = ((action, rules.apply(state, action).state) for action in rules.actions(state))
    return tuple((action, (then.cells[0] - 1, then.tunnels[0])) for action, then in moved)


@cache
def _nameable(named: int) -> int:
    """How many cells may be named by who `named` one on its previous turn."""
    state = State((1, OFF_GRID), (True, True), (named, NONE_NAMED), Seat.ONE, Phase.OBSERVE)
    return len(QuantumHunt(CELLS).actions(state))


def _scaled(weights: dict[Hidden, float]) -> dict[Hidden, float]:
    total = sum(weights.values())
    return {hidden: weight / total for hidden, weight in weights.items()}
