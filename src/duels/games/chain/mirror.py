"""The mirror symmetry and the names of the cells of Quantum Duel: four in a row."""

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


def mirror(rules: QuantumChain, action: Action) -> Action:
    """Mirror an action. Answers and coin flips have no sides."""
    return Observe(rules.cells + 1 - action.cell) if isinstance(action, Observe) else action


def mirror_state(rules: QuantumChain, state: State) -> State:
    """Mirror a state."""
    doubtful_cell = rules.cells + 1 - state.doubtful_cell if state.doubtful_cell else 0
    return replace(state, cells=state.cells[::-1], doubtful_cell=doubtful_cell)


def mirror_event(rules: QuantumChain, event: Event) -> Event:
    """Mirror an event."""
    cells_plus_one = rules.cells + 1
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


def cells(rules: QuantumChain) -> int:
    """Return the number of cells. In notation, the numbers from 1 to this one always name cells."""
    return rules.cells
