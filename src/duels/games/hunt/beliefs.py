"""Beliefs about the opponent's token in hunt, by Bayes' rule from one seat's observations.

The opponent is assumed to play the strategy, with a small probability of any legal action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from duels.core.rules import Seat
from duels.games.hunt.rules import NONE_NAMED, OFF_GRID, Action, Observe, Phase, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import CELLS, OFF, Strategy, Tables, find_row

RANDOM_ACTION = 0.02
"""The assumed probability of a random action, so that no observation is impossible."""

HiddenState = tuple[int, bool]
"""The cell of the opponent's token (counted from 0), and whether its tunnel is left."""
Observations = dict[Seat, tuple[int, ...]]
"""The cells that each seat observed, oldest first, counted from 0."""


@dataclass(frozen=True)
class Belief:
    """A seat's own place, both sides' observations, and the belief about the opponent's token."""

    own: int
    observations: Observations
    other: dict[HiddenState, float]


def track_belief(strategy: Strategy, seat: Seat, history: Sequence[Action | None]) -> Belief:
    """Return the belief of `seat` after `history`, with `strategy` as the opponent's policy."""
    belief = Belief(OFF, {Seat.ONE: (), Seat.TWO: ()}, {(OFF, True): 1.0})
    for index, entry in enumerate(history):
        mover = Seat.TWO if index // 2 % 2 else Seat.ONE
        own, observations, other = belief.own, belief.observations, belief.other
        row = find_row(observations[mover], observations[mover.other])
        if isinstance(entry, Observe):
            cell = entry.cell - 1
            if mover is seat:
                other = _normalize({h: p for h, p in other.items() if h[0] not in (cell, own)})
            else:
                previous_cell = observations[mover][-1] + 1 if observations[mover] else NONE_NAMED
                other = _update_by_observation(strategy[mover], row, other, cell, own, previous_cell)
            belief = Belief(own, {**observations, mover: (*observations[mover], cell)}, other)
        elif mover is seat:
            assert entry is not None
            belief = Belief(entry.cell - 1, observations, other)
        else:
            belief = Belief(own, observations, _update_by_move(strategy[mover], row, other))
    return belief


def _update_by_move(tables: Tables, row: int, other: dict[HiddenState, float]) -> dict[HiddenState, float]:
    updated: dict[HiddenState, float] = {}
    for hidden, p in other.items():
        weights = tables.move_weights(row, hidden[0])
        total = sum(weights)
        transitions = _list_transitions(*hidden)
        for action, successor in transitions:
            planned = 0.0 if isinstance(action, Tunnel) else weights[action.cell - 1] / total
            share = (1 - RANDOM_ACTION) * planned + RANDOM_ACTION / len(transitions)
            updated[successor] = updated.get(successor, 0.0) + p * share
    return updated


def _update_by_observation(
    tables: Tables, row: int, other: dict[HiddenState, float], cell: int, own: int, previous_cell: int
) -> dict[HiddenState, float]:
    """Update the belief after the opponent observed `cell`, missed and did not collide."""
    count = _count_observations(previous_cell)
    updated: dict[HiddenState, float] = {}
    for (place, tunnel), p in other.items():
        if place != own:
            weights = tables.observation_weights(row, place)
            chance = (1 - RANDOM_ACTION) * weights[cell] / sum(weights) + RANDOM_ACTION / count
            updated[place, tunnel] = p * chance
    return _normalize(updated)


@cache
def _list_transitions(place: int, tunnel: bool) -> tuple[tuple[Action, HiddenState], ...]:
    """Return the legal movements of a token and the resulting hidden states."""
    rules = QuantumHunt(CELLS)
    cell = OFF_GRID if place == OFF else place + 1
    state = State((cell, OFF_GRID), (tunnel, True), (NONE_NAMED, NONE_NAMED), Seat.ONE, Phase.MOVE)
    successors = ((action, rules.apply(state, action).state) for action in rules.actions(state))
    return tuple((action, (new.cells[0] - 1, new.tunnels[0])) for action, new in successors)


@cache
def _count_observations(previous_cell: int) -> int:
    """Return the number of legal observations after `previous_cell` was observed."""
    state = State((1, OFF_GRID), (True, True), (previous_cell, NONE_NAMED), Seat.ONE, Phase.OBSERVE)
    return len(QuantumHunt(CELLS).actions(state))


def _normalize(weights: dict[HiddenState, float]) -> dict[HiddenState, float]:
    total = sum(weights.values())
    return {hidden: weight / total for hidden, weight in weights.items()}
