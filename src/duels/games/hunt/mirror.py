"""The line of cells seen from the other end: the same game."""

from collections.abc import Callable
from dataclasses import replace

from duels.core.rules import Event
from duels.games.hunt.rules import Action, Collided, Known, Moved, Observed, QuantumHunt


def mirror(rules: QuantumHunt) -> Callable[[Action], Action]:
    """From an action to the same action on the mirrored line."""
    return lambda action: replace(action, cell=rules.cells + 1 - action.cell)


def mirror_state(rules: QuantumHunt) -> Callable[[Known], Known]:
    """From what a seat knows to its mirror image; 0, which is no cell, stays."""

    def image(known: Known) -> Known:
        one, two = (rules.cells + 1 - cell if cell else cell for cell in known.named)
        cell = rules.cells + 1 - known.cell if known.cell else known.cell
        return replace(known, cell=cell, named=(one, two))

    return image


def mirror_event(rules: QuantumHunt) -> Callable[[Event], Event]:
    """From what happened to the same on the mirrored line."""

    def image(event: Event) -> Event:
        if isinstance(event, Moved | Observed | Collided):
            return replace(event, cell=rules.cells + 1 - event.cell)
        return event

    return image
