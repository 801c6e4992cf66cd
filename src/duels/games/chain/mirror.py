"""The mirror symmetry of Quantum Duel: four in a row."""

from collections.abc import Callable
from dataclasses import replace

from duels.core.rules import Event
from duels.games.chain.rules import (
    Action,
    ChainMade,
    Decohered,
    Observe,
    Observed,
    QuantumChain,
    Settled,
    State,
)


def mirror(rules: QuantumChain) -> Callable[[Action], Action]:
    """Return the function that mirrors an action. Answers and coins stay the same."""
    return lambda action: Observe(rules.cells + 1 - action.cell) if isinstance(action, Observe) else action


def mirror_state(rules: QuantumChain) -> Callable[[State], State]:
    """Return the function that mirrors a state."""

    def mirror_one(state: State) -> State:
        doubt = rules.cells + 1 - state.doubt if state.doubt else 0
        return replace(state, cells=state.cells[::-1], doubt=doubt)

    return mirror_one


def mirror_event(rules: QuantumChain) -> Callable[[Event], Event]:
    """Return the function that mirrors an event."""
    cells_plus_one = rules.cells + 1

    def mirror_one(event: Event) -> Event:
        match event:
            case Observed():
                neighbours = tuple(cells_plus_one - cell for cell in reversed(event.neighbours))
                return replace(event, cell=cells_plus_one - event.cell, neighbours=neighbours)
            case Settled():
                return replace(event, cell=cells_plus_one - event.cell, cells=event.cells[::-1])
            case Decohered():
                return replace(event, cells=event.cells[::-1])
            case ChainMade():
                return replace(event, first=cells_plus_one - event.last, last=cells_plus_one - event.first)
        return event

    return mirror_one
