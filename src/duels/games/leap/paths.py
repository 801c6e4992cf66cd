"""How many turns a token still needs, and by which cells: shortest paths along the line to the goal."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from duels.games.leap.rules import OFF_GRID


@dataclass(frozen=True)
class Paths:
    """Shortest paths to `goal` from every cell, from tables that are filled when first asked for."""

    goal: int

    def needed(self, cell: int) -> int:
        """The least number of turns from `cell` (0: off the grid) to the goal."""
        return self._needed[cell]

    def at_least(self, cell: int) -> int:
        """A lower bound on the leaps needed: how often `cell` must double to come to the goal."""
        return (-(-self.goal // cell) - 1).bit_length()

    def longest_leap(self, cell: int) -> int:
        """The cell that the longest leap from `cell` (before the goal) leads to."""
        return cell + self._leaps[cell][-1]

    def nearer(self, cell: int) -> list[int]:
        """Where shortest paths go from `cell`, the longest leap first."""
        ahead = (cell + by for by in reversed(self._leaps[cell]))
        return [target for target in ahead if self._needed[target] < self._needed[cell]]

    def count(self, cell: int) -> int:
        """The number of shortest paths from `cell`."""
        ways = {cell: 1}
        for _ in range(self.needed(cell)):
            after: dict[int, int] = {}
            for here, so_far in ways.items():
                for target in self.nearer(here):
                    after[target] = after.get(target, 0) + so_far
            ways = after
        return ways[self.goal]

    def all_shortest(self, cell: int) -> Iterator[tuple[int, ...]]:
        """Every shortest path from `cell`, as the cells that its turns lead to, the goal last."""
        if cell == self.goal:
            yield ()
        for target in self.nearer(cell):
            for rest in self.all_shortest(target):
                yield target, *rest

    @cached_property
    def _leaps(self) -> list[list[int]]:
        """[cell] how far one turn can lead, least first; onto the grid, by 1."""
        leaps: list[list[int]] = [[] for _ in range(self.goal + 1)]
        leaps[OFF_GRID].append(1)
        for by in range(1, self.goal // 2 + 1):
            for cell in range(by, self.goal - by + 1, by):
                leaps[cell].append(by)
        return leaps

    @cached_property
    def _needed(self) -> list[int]:
        """[cell] the turns needed, filled from the goal backwards."""
        needed = [0] * (self.goal + 1)
        for cell in range(self.goal - 1, OFF_GRID - 1, -1):
            needed[cell] = 1 + min([needed[cell + by] for by in self._leaps[cell]])
        return needed
