"""The mirror symmetry and the names of the lights of Light Out Duel."""

from dataclasses import replace

from duels.core.rules import Event
from duels.games.lights.rules import Lights, State, TurnedOff, TurnOff


def mirror(rules: Lights, action: TurnOff) -> TurnOff:
    """Mirror an action."""
    return TurnOff(rules.lights + 2 - action.first - action.count, action.count)


def mirror_state(rules: Lights, state: State) -> State:
    """Mirror a state."""
    return replace(state, row=state.row[::-1])


def mirror_event(rules: Lights, event: Event) -> Event:
    """Mirror an event."""
    if not isinstance(event, TurnedOff):
        return event
    lights = tuple(rules.lights + 1 - light for light in reversed(event.lights))
    return replace(event, lights=lights, row=event.row[::-1])


def cells(rules: Lights) -> int:
    """Return the number of lights. In notation, the numbers from 1 to this one always name lights."""
    return rules.lights
