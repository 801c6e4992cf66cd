"""The row seen from the other end: the same game."""

from collections.abc import Callable
from dataclasses import replace

from duels.core.rules import Event
from duels.games.lights.rules import Lights, State, TurnedOff, TurnOff


def mirror(rules: Lights) -> Callable[[TurnOff], TurnOff]:
    """From an action to the same action on the mirrored row."""
    return lambda action: TurnOff(rules.lights + 2 - action.first - action.count, action.count)


def mirror_state(rules: Lights) -> Callable[[State], State]:
    """From a state to its mirror image."""
    return lambda state: replace(state, row=state.row[::-1])


def mirror_event(rules: Lights) -> Callable[[Event], Event]:
    """From what happened to the same on the mirrored row."""

    def image(event: Event) -> Event:
        if not isinstance(event, TurnedOff):
            return event
        turned = tuple(rules.lights + 1 - light for light in reversed(event.lights))
        return replace(event, lights=turned, row=event.row[::-1])

    return image
