"""Finite memories of one seat's observations. Strategies need them so that best responses can be bounded."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

State = tuple[int, ...]
"""The remembered cells, counted from 0, the latest first."""


@dataclass(frozen=True)
class Memory(ABC):
    """A finite memory of the cells that one seat observed."""

    cells: int

    @abstractmethod
    def add(self, state: State, cell: int) -> State:
        """Return the memory state after an observation of `cell`."""

    @cached_property
    def states(self) -> list[State]:
        """All memory states. The first is the empty memory."""
        states: list[State] = [()]
        for state in states:  # the list grows during the loop
            for cell in range(self.cells):
                successor = self.add(state, cell)
                if state[:1] != (cell,) and successor not in states:
                    states.append(successor)
        return states

    @cached_property
    def state_indices(self) -> dict[State, int]:
        return {state: index for index, state in enumerate(self.states)}

    @cached_property
    def successors(self) -> list[list[int]]:
        """Indices of the next states, indexed [state, cell]; 0 if the cell cannot be observed."""
        return [
            [self.state_indices.get(self.add(state, cell), 0) for cell in range(self.cells)]
            for state in self.states
        ]

    @cached_property
    def latest(self) -> list[int]:
        """The latest cell of each state, or -1 for the empty memory."""
        return [state[0] if state else -1 for state in self.states]

    @cached_property
    def mirrored(self) -> list[int]:
        """The index of each state's mirror image."""
        return [self.state_indices[self.mirror_state(state)] for state in self.states]

    def mirror_state(self, state: State) -> State:
        return tuple(self.cells - 1 - cell for cell in state)

    def index(self, observations: tuple[int, ...]) -> int:
        """Return the index of the memory state after `observations`, which are listed oldest first."""
        state: State = ()
        for cell in observations:
            state = self.add(state, cell)
        return self.state_indices[state]


@dataclass(frozen=True)
class Window(Memory):
    """The latest `depth` different cells, newest first."""

    depth: int

    def shorten(self, memory: Memory) -> list[int]:
        """Return the index of the state that keeps the latest `depth` cells, for each state of `memory`."""
        return [self.state_indices[state[: self.depth]] for state in memory.states]

    def add(self, state: State, cell: int) -> State:
        return (cell, *(old for old in state if old != cell))[: self.depth]


@dataclass(frozen=True)
class Round(Memory):
    """The latest cell, and the set of the other cells observed in this round.

    A new round starts when the set would exceed `limit` cells. This memory is enough to search the whole grid
    for a token that does not move.
    """

    limit: int

    def add(self, state: State, cell: int) -> State:
        cells = set(state) | {cell}
        return (cell, *sorted(cells - {cell})) if len(cells) <= self.limit else (cell,)

    def mirror_state(self, state: State) -> State:
        mirrored_cells = super().mirror_state(state)
        return (*mirrored_cells[:1], *sorted(mirrored_cells[1:]))
