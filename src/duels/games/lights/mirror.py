"""The row seen from the other end: the same game."""

from collections.abc import Callable
from dataclasses import replace

from duels.games.lights.rules import Lights, State, TurnOff


def mirror(rules: Lights) -> Callable[[TurnOff], TurnOff]:
    """From an action to the same action on the mirrored row."""
    return lambda action: TurnOff(rules.lights + 2 - action.first - action.count, action.count)


def mirror_state(rules: Lights) -> Callable[[State], State]:
    """From a state to its mirror image."""
    return lambda state: replace(state, row=state.row[::-1])
