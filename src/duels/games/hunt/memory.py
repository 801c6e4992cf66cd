"""What a strategy remembers of the cells one side has named; finite, so that its best response is bounded."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

State = tuple[int, ...]
"""Cells from 0, the latest named first."""


@dataclass(frozen=True)
class Memory(ABC):
    cells: int

    @abstractmethod
    def after(self, state: State, cell: int) -> State:
        """What is remembered once `cell` has been named too."""

    @cached_property
    def states(self) -> list[State]:
        """Everything that can be remembered; the first is having heard nothing."""
        found: list[State] = [()]
        for state in found:  # grows while it is read
            for cell in range(self.cells):
                following = self.after(state, cell)
                if state[:1] != (cell,) and following not in found:
                    found.append(following)
        return found

    @cached_property
    def numbers(self) -> dict[State, int]:
        return {state: number for number, state in enumerate(self.states)}

    @property
    def following(self) -> list[list[int]]:
        """By state and cell: the number of the state once the cell is named; 0 where it cannot be."""
        return [
            [self.numbers.get(self.after(state, cell), 0) for cell in range(self.cells)]
            for state in self.states
        ]

    @property
    def latest(self) -> list[int]:
        """By state: the cell named last, -1 before the first."""
        return [state[0] if state else -1 for state in self.states]

    @property
    def mirrored(self) -> list[int]:
        """By state: the number of the same state on cells counted from the other end."""
        return [self.numbers[self.turned(state)] for state in self.states]

    def turned(self, state: State) -> State:
        return tuple(self.cells - 1 - cell for cell in state)

    def index(self, names: tuple[int, ...]) -> int:
        """The number of what is remembered after `names`, oldest first."""
        state: State = ()
        for cell in names:
            state = self.after(state, cell)
        return self.numbers[state]


@dataclass(frozen=True)
class Window(Memory):
    """The last cells named, in order."""

    depth: int

    def after(self, state: State, cell: int) -> State:
        return (cell, *(other for other in state if other != cell))[: self.depth]


@dataclass(frozen=True)
class Round(Memory):
    """The cells named in this round of the grid, the latest apart, the others as a set.

    A round ends when it holds `most` cells and another comes: enough to sweep the grid for a token that
    stands still.
    """

    most: int

    def after(self, state: State, cell: int) -> State:
        cells = set(state) | {cell}
        return (cell, *sorted(cells - {cell})) if len(cells) <= self.most else (cell,)

    def turned(self, state: State) -> State:
        turned = super().turned(state)
        return (*turned[:1], *sorted(turned[1:]))
