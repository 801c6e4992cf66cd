"""The mirror symmetry and the names of the positions of Quantum Duel: the hunt."""

from dataclasses import replace

from duels.core.rules import Event
from duels.games.hunt.rules import Action, Collided, Moved, Observed, QuantumHunt, View


def mirror(rules: QuantumHunt, action: Action) -> Action:
    """Return the mirror image of an action."""
    return replace(action, cell=rules.cells + 1 - action.cell)


def mirror_state(rules: QuantumHunt, view: View) -> View:
    """Return the mirror image of a view. 0 is not a cell and stays 0."""
    one, two = (rules.cells + 1 - cell if cell else cell for cell in view.last_observed)
    cell = rules.cells + 1 - view.cell if view.cell else view.cell
    return replace(view, cell=cell, last_observed=(one, two))


def mirror_event(rules: QuantumHunt, event: Event) -> Event:
    """Return the mirror image of an event."""
    if isinstance(event, Moved | Observed | Collided):
        return replace(event, cell=rules.cells + 1 - event.cell)
    return event


def cells(rules: QuantumHunt) -> int:
    """Return the number of positions. In notation, the numbers from 1 to this one always name positions."""
    return rules.cells
