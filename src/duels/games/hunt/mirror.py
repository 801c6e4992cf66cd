"""The mirror symmetry of Quantum Duel: the hunt."""

from collections.abc import Callable
from dataclasses import replace

from duels.core.rules import Event
from duels.games.hunt.rules import Action, Collided, Moved, Observed, QuantumHunt, View


def mirror(rules: QuantumHunt) -> Callable[[Action], Action]:
    """Return the function that mirrors an action."""
    return lambda action: replace(action, cell=rules.cells + 1 - action.cell)


def mirror_state(rules: QuantumHunt) -> Callable[[View], View]:
    """Return the function that mirrors a view. 0 is not a cell and stays 0."""

    def mirror_one(view: View) -> View:
        one, two = (rules.cells + 1 - cell if cell else cell for cell in view.named)
        cell = rules.cells + 1 - view.cell if view.cell else view.cell
        return replace(view, cell=cell, named=(one, two))

    return mirror_one


def mirror_event(rules: QuantumHunt) -> Callable[[Event], Event]:
    """Return the function that mirrors an event."""

    def mirror_one(event: Event) -> Event:
        if isinstance(event, Moved | Observed | Collided):
            return replace(event, cell=rules.cells + 1 - event.cell)
        return event

    return mirror_one
