"""The row of cells seen from the other end: the same game."""

from collections.abc import Callable
from dataclasses import replace

from duels.games.chain.rules import Action, Observe, QuantumChain, State


def mirror(rules: QuantumChain) -> Callable[[Action], Action]:
    """From an action to the same action on the mirrored row; answers and coins stay as they are."""
    return lambda action: Observe(rules.cells + 1 - action.cell) if isinstance(action, Observe) else action


def mirror_state(rules: QuantumChain) -> Callable[[State], State]:
    """From a state to its mirror image."""

    def image(state: State) -> State:
        doubt = rules.cells + 1 - state.doubt if state.doubt else 0
        return replace(state, cells=state.cells[::-1], doubt=doubt)

    return image
