"""Beliefs about the opponent's token in hunt, computed by Bayes' rule.

They assume that the opponent plays the shipped strategy, and now and then a random action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from duels.core.rules import Seat
from duels.games.hunt.rules import NONE_OBSERVED, OFF_GRID, Action, Observe, Phase, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import CELLS, OFF, OWN_MEMORY, Strategy, Tables, find_row

RANDOM_RATE = 0.02
"""The assumed probability of a random action. It is positive so that no observation is impossible."""

HiddenState = tuple[int, bool]
"""The position of the opponent's token (see `OFF`), and whether the opponent's tunnel is left."""
Memories = dict[Seat, int]
"""Each seat's memory of its own observations, as an index of OWN_MEMORY.states."""


@dataclass(frozen=True)
class Belief:
    """A seat's own position, both seats' memories, and the probabilities of the opponent's hidden state."""

    own_position: int
    memories: Memories
    probabilities: dict[HiddenState, float]
    length: int
    """The number of entries before it."""


def track_memories(history: Sequence[Action | None]) -> Memories:
    """Return both seats' memories after `history`."""
    memories = dict.fromkeys(Seat, 0)
    for index, entry in enumerate(history):
        if isinstance(entry, Observe):
            mover = _get_mover(index)
            memories[mover] = OWN_MEMORY.successors[memories[mover]][entry.cell - 1]
    return memories


NO_BELIEF = Belief(OFF, dict.fromkeys(Seat, 0), {(OFF, True): 1.0}, 0)
"""The belief of both seats before the first entry."""


def track_belief(
    strategy: Strategy,
    seat: Seat,
    history: Sequence[Action | None],
    random_rate: float = RANDOM_RATE,
    belief: Belief = NO_BELIEF,
) -> Belief:
    """Return the belief of `seat` after `history`. `belief` is that after an earlier part of it.

    The opponent plays `strategy`, and with the probability `random_rate` a random action.
    """
    own_position, memories, probabilities = belief.own_position, {**belief.memories}, belief.probabilities
    for index, entry in enumerate(history[belief.length :], belief.length):
        mover = _get_mover(index)
        memory, row = memories[mover], find_row(memories[mover], memories[mover.other])
        if isinstance(entry, Observe):
            cell = entry.cell - 1
            if mover is seat:
                probabilities = _normalize(
                    {h: p for h, p in probabilities.items() if h[0] not in (cell, own_position)}
                )
            else:
                previous_cell = OWN_MEMORY.latest[memory] + 1 if memory else NONE_OBSERVED
                probabilities = _update_by_observation(
                    strategy[mover], row, probabilities, cell, own_position, previous_cell, random_rate
                )
            memories[mover] = OWN_MEMORY.successors[memory][cell]
        elif mover is seat:
            assert entry is not None
            own_position = entry.cell - 1
        else:
            probabilities = _update_by_move(strategy[mover], row, probabilities, random_rate)
    return Belief(own_position, memories, probabilities, len(history))


def _get_mover(index: int) -> Seat:
    """Return the seat that made the entry `index`. A turn has two entries."""
    return Seat.TWO if index // 2 % 2 else Seat.ONE


def _update_by_move(
    tables: Tables, row: int, probabilities: dict[HiddenState, float], random_rate: float
) -> dict[HiddenState, float]:
    updated: dict[HiddenState, float] = {}
    for hidden, p in probabilities.items():
        weights = tables.move_weights(row, hidden[0])
        total = sum(weights)
        transitions = _list_transitions(*hidden)
        for action, successor in transitions:
            planned_probability = 0.0 if isinstance(action, Tunnel) else weights[action.cell - 1] / total
            chance = (1 - random_rate) * planned_probability + random_rate / len(transitions)
            updated[successor] = updated.get(successor, 0.0) + p * chance
    return updated


def _update_by_observation(
    tables: Tables,
    row: int,
    probabilities: dict[HiddenState, float],
    cell: int,
    own_position: int,
    previous_cell: int,
    random_rate: float,
) -> dict[HiddenState, float]:
    """Return the belief after the opponent observed `cell`, missed and did not collide."""
    count = _count_observations(previous_cell)
    updated: dict[HiddenState, float] = {}
    for (position, tunnel), p in probabilities.items():
        if position != own_position:
            weights = tables.observation_weights(row, position)
            chance = (1 - random_rate) * weights[cell] / sum(weights) + random_rate / count
            updated[position, tunnel] = p * chance
    return _normalize(updated)


@cache
def _list_transitions(position: int, tunnel: bool) -> tuple[tuple[Action, HiddenState], ...]:
    """Return the legal movements of a token and the resulting hidden states."""
    rules = QuantumHunt(CELLS)
    cell = OFF_GRID if position == OFF else position + 1
    state = State((cell, OFF_GRID), (tunnel, True), (NONE_OBSERVED, NONE_OBSERVED), Seat.ONE, Phase.MOVE)
    successors = ((action, rules.apply(state, action).state) for action in rules.actions(state))
    return tuple((action, (new.cells[0] - 1, new.tunnels[0])) for action, new in successors)


@cache
def _count_observations(previous_cell: int) -> int:
    """Return the number of legal observations for a player who last observed `previous_cell`."""
    state = State((1, OFF_GRID), (True, True), (previous_cell, NONE_OBSERVED), Seat.ONE, Phase.OBSERVE)
    return len(QuantumHunt(CELLS).actions(state))


def _normalize(weights: dict[HiddenState, float]) -> dict[HiddenState, float]:
    total = sum(weights.values())
    return {hidden: weight / total for hidden, weight in weights.items()}
