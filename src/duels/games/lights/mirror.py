"""The mirror symmetry of Light Out Duel."""

from collections.abc import Callable
from dataclasses import replace

from duels.core.rules import Event
from duels.games.lights.rules import Lights, State, TurnedOff, TurnOff


def mirror(rules: Lights) -> Callable[[TurnOff], TurnOff]:
    """Return the function that mirrors an action."""
    return lambda action: TurnOff(rules.lights + 2 - action.first - action.count, action.count)


def mirror_state(rules: Lights) -> Callable[[State], State]:
    """Return the function that mirrors a state."""
    return lambda state: replace(state, row=state.row[::-1])


def mirror_event(rules: Lights) -> Callable[[Event], Event]:
    """Return the function that mirrors an event."""

    def mirror_one(event: Event) -> Event:
        if not isinstance(event, TurnedOff):
            return event
        lights = tuple(rules.lights + 1 - light for light in reversed(event.lights))
        return replace(event, lights=lights, row=event.row[::-1])

    return mirror_one
