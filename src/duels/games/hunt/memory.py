"""Finite memories of one side's observations, so that a best response can be bounded."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

State = tuple[int, ...]
"""The remembered cells, counted from 0, the latest first."""


@dataclass(frozen=True)
class Memory(ABC):
    cells: int

    @abstractmethod
    def after(self, state: State, cell: int) -> State:
        """Return the state after `cell` is observed."""

    @cached_property
    def states(self) -> list[State]:
        """All memory states. The first is the empty memory."""
        states: list[State] = [()]
        for state in states:  # grows during the loop
            for cell in range(self.cells):
                successor = self.after(state, cell)
                if state[:1] != (cell,) and successor not in states:
                    states.append(successor)
        return states

    @cached_property
    def numbers(self) -> dict[State, int]:
        return {state: number for number, state in enumerate(self.states)}

    @property
    def following(self) -> list[list[int]]:
        """Numbers of the next states, indexed [state, cell]; 0 if the cell cannot be observed."""
        return [
            [self.numbers.get(self.after(state, cell), 0) for cell in range(self.cells)]
            for state in self.states
        ]

    @property
    def latest(self) -> list[int]:
        """The latest cell of each state, or -1 for the empty memory."""
        return [state[0] if state else -1 for state in self.states]

    @property
    def mirrored(self) -> list[int]:
        """The number of each state's mirror image."""
        return [self.numbers[self.mirror_state(state)] for state in self.states]

    def mirror_state(self, state: State) -> State:
        return tuple(self.cells - 1 - cell for cell in state)

    def index(self, observations: tuple[int, ...]) -> int:
        """Return the number of the state after `observations`, oldest first."""
        state: State = ()
        for cell in observations:
            state = self.after(state, cell)
        return self.numbers[state]


@dataclass(frozen=True)
class Window(Memory):
    """The latest `depth` cells, in order."""

    depth: int

    def after(self, state: State, cell: int) -> State:
        return (cell, *(other for other in state if other != cell))[: self.depth]


@dataclass(frozen=True)
class Round(Memory):
    """The latest cell, and the set of the other cells observed in this round.

    A new round starts when another cell would exceed `limit`. This memory suffices to sweep the
    grid for a token that does not move.
    """

    limit: int

    def after(self, state: State, cell: int) -> State:
        cells = set(state) | {cell}
        return (cell, *sorted(cells - {cell})) if len(cells) <= self.limit else (cell,)

    def mirror_state(self, state: State) -> State:
        mirrored_cells = super().mirror_state(state)
        return (*mirrored_cells[:1], *sorted(mirrored_cells[1:]))
