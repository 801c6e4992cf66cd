"""The row of cells seen from the other end: the same game."""

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
    """From an action to the same action on the mirrored row; answers and coins stay as they are."""
    return lambda action: Observe(rules.cells + 1 - action.cell) if isinstance(action, Observe) else action


def mirror_state(rules: QuantumChain) -> Callable[[State], State]:
    """From a state to its mirror image."""

    def image(state: State) -> State:
        doubt = rules.cells + 1 - state.doubt if state.doubt else 0
        return replace(state, cells=state.cells[::-1], doubt=doubt)

    return image


def mirror_event(rules: QuantumChain) -> Callable[[Event], Event]:
    """From what happened to the same on the mirrored row."""
    last = rules.cells + 1

    def image(event: Event) -> Event:
        match event:
            case Observed():
                beside = tuple(last - cell for cell in reversed(event.neighbours))
                return replace(event, cell=last - event.cell, neighbours=beside)
            case Settled():
                return replace(event, cell=last - event.cell, cells=event.cells[::-1])
            case Decohered():
                return replace(event, cells=event.cells[::-1])
            case ChainMade():
                return replace(event, first=last - event.last, last=last - event.first)
        return event

    return image
