"""Beliefs about the opponent's token in hunt, computed by Bayes' rule.

They assume that the opponent plays the shipped strategy, and now and then a random action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from duels.core.rules import Seat
from duels.games.hunt.rules import NONE_OBSERVED, OFF_GRID, Action, Observe, Phase, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import CELLS, OFF, Cells, PublicState, Strategy, Tables, get_position

RANDOM_RATE = 0.02
"""The assumed probability of a random action. It is positive so that no observation is impossible."""

HiddenState = tuple[Cells, bool]
"""The path of the opponent's token, and whether the opponent's tunnel is left."""


@dataclass(frozen=True)
class Belief:
    """The public state, the path of a seat's token, and the probabilities of the opponent's hidden state."""

    public: PublicState
    own_path: Cells
    probabilities: dict[HiddenState, float]
    length: int
    """The number of entries before it."""


def track_path(seat: Seat, history: Sequence[Action | None]) -> tuple[PublicState, Cells]:
    """Return the public state and the path of `seat`'s token after `history`."""
    public = PublicState()
    path: Cells = ()
    for entry in history:
        is_own = public.mover is seat
        if isinstance(entry, Observe):
            path = public.shorten_path(path) if is_own else path
            public = public.observe(entry.cell - 1)
        elif is_own:
            assert entry is not None
            path = public.extend_path(path, entry.cell - 1)
    return public, path


NO_BELIEF = Belief(PublicState(), (), {((), True): 1.0}, 0)
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
    public, own_path, probabilities = belief.public, belief.own_path, belief.probabilities
    for entry in history[belief.length :]:
        tables = strategy[public.mover]
        if isinstance(entry, Observe):
            cell = entry.cell - 1
            if public.mover is seat:
                probabilities = _normalize(
                    {h: p for h, p in probabilities.items() if get_position(h[0]) not in (cell, own_path[-1])}
                )
                own_path = public.shorten_path(own_path)
            else:
                probabilities = _update_by_observation(
                    tables, public, probabilities, cell, get_position(own_path), random_rate
                )
            public = public.observe(cell)
        elif public.mover is seat:
            assert entry is not None
            own_path = public.extend_path(own_path, entry.cell - 1)
        else:
            probabilities = _update_by_move(tables, public, probabilities, random_rate)
    return Belief(public, own_path, probabilities, len(history))


def _update_by_move(
    tables: Tables, public: PublicState, probabilities: dict[HiddenState, float], random_rate: float
) -> dict[HiddenState, float]:
    updated: dict[HiddenState, float] = {}
    for (path, tunnel), p in probabilities.items():
        weights = tables.move_weights(public, path)
        total = sum(weights)
        transitions = _list_transitions(get_position(path), tunnel)
        for action, has_tunnel in transitions:
            successor = public.extend_path(path, action.cell - 1), has_tunnel
            planned_probability = 0.0 if isinstance(action, Tunnel) else weights[action.cell - 1] / total
            chance = (1 - random_rate) * planned_probability + random_rate / len(transitions)
            updated[successor] = updated.get(successor, 0.0) + p * chance
    return updated


def _update_by_observation(
    tables: Tables,
    public: PublicState,
    probabilities: dict[HiddenState, float],
    cell: int,
    own_position: int,
    random_rate: float,
) -> dict[HiddenState, float]:
    """Return the belief after the opponent observed `cell`, missed and did not collide."""
    count = _count_observations(public.observations[-2:-1])
    updated: dict[HiddenState, float] = {}
    for (path, tunnel), p in probabilities.items():
        if path[-1] != own_position:
            weights = tables.observation_weights(public, path)
            chance = (1 - random_rate) * weights[cell] / sum(weights) + random_rate / count
            successor = public.shorten_path(path), tunnel
            updated[successor] = updated.get(successor, 0.0) + p * chance
    return _normalize(updated)


@cache
def _list_transitions(position: int, tunnel: bool) -> tuple[tuple[Action, bool], ...]:
    """Return the legal movements of a token, and whether its tunnel is left after them."""
    rules = QuantumHunt(CELLS)
    cell = OFF_GRID if position == OFF else position + 1
    state = State((cell, OFF_GRID), (tunnel, True), (NONE_OBSERVED, NONE_OBSERVED), Seat.ONE, Phase.MOVE)
    return tuple((action, rules.apply(state, action).state.tunnels[0]) for action in rules.actions(state))


@cache
def _count_observations(previous: Cells) -> int:
    """Return the number of legal observations of a player whose previous one, if any, is `previous`."""
    last_observed = (previous[0] + 1 if previous else NONE_OBSERVED, NONE_OBSERVED)
    state = State((1, OFF_GRID), (True, True), last_observed, Seat.ONE, Phase.OBSERVE)
    return len(QuantumHunt(CELLS).actions(state))


def _normalize(weights: dict[HiddenState, float]) -> dict[HiddenState, float]:
    total = sum(weights.values())
    return {hidden: weight / total for hidden, weight in weights.items()}
