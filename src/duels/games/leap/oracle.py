"""Perfect play in leap: tokens do not meet, so it is a race; whoever needs fewer turns wins it.

Let the player to move need m turns and the other n. If m <= n, the mover takes a shortest path and is
there with the m-th turn, before the other's m-th; the other needs at least m. If m > n, the other takes a
shortest path and is there with the n-th turn, after the mover's n-th; the mover needs more than n.
So the mover wins exactly if m <= n, and from equal cells, as at the start, whoever moves first wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice

from duels.core.notation import join_and
from duels.core.rules import Seat, Sight
from duels.games.leap.rules import OFF_GRID, Action, Enter, QuantumLeap, State
from duels.solving.check import check_backward_induction, check_sampled_play, format_options
from duels.solving.oracle import Check, Finding, OpenOracle
from duels.solving.progress import Progress, no_progress

_FARTHEST_BRUTE_FORCE = 30
_FARTHEST_TRIAL_DIVISION = 1000
_MOST_PATHS_TOLD = 20
_MOST_CELLS_TOLD = 10


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


class LeapOracle(OpenOracle[Action, State]):
    """Values for every goal, all exact."""

    rules: QuantumLeap

    def __init__(self, rules: QuantumLeap) -> None:
        super().__init__(rules)
        self.paths = Paths(rules.goal)

    def state_value(self, state: State) -> Fraction:
        mine, theirs = (self.paths.needed(state.cell_of(seat)) for seat in (state.mover, state.mover.other))
        return Fraction((mine <= theirs) == (state.mover is Seat.ONE))

    def reason(self, sight: Sight[Action, State]) -> str:
        state, seat = sight.view, sight.seat
        mine = self.paths.needed(state.cell_of(seat))
        theirs = self.paths.needed(state.cell_of(seat.other))
        verdict = self.judge(sight)
        count = f"You need {mine} more {_turns(mine)} to the goal, the other player needs {theirs}"
        if verdict.value.number == 0:
            return f"{count}: the other player is ahead and stays ahead by taking a shortest path."
        if mine == 1:
            return f"{count}: leaping {self.rules.goal - state.cell_of(seat)} ends the race."
        best = max(reversed(verdict.actions), key=lambda judged: judged.weight).action
        move = "entering" if isinstance(best, Enter) else f"leaping {self.rules.format(best)}"
        return f"{count}, and it is your turn: {move} leaves you enough time to be there first."

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        after = self.rules.apply(sight.view, action).state
        mine, theirs = (self.paths.needed(after.cell_of(seat)) for seat in (sight.seat, sight.seat.other))
        return (
            f"After leaping {self.rules.format(action)} you needed {mine} more {_turns(mine)}; "
            f"the other player, whose turn it was, needed {theirs}."
        )

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, Enter):
            return "entering"
        doubled = action.by == sight.view.cell_of(sight.seat)
        return "leaping as far as possible" if doubled else "leaping less than possible"

    def select_quickest(self, state: State, best: tuple[Action, ...]) -> tuple[Action, ...]:
        """All that count are the turns left: fewest wins soonest, and leaves the winner least to spare."""
        nearer = self.paths.nearer(state.cell_of(state.mover))
        return tuple(a for a in best if self.rules.apply(state, a).state.cell_of(state.mover) in nearer)

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        cell = sight.view.cell_of(sight.seat)
        turns = self.paths.needed(cell)
        yield self._shortest_paths(sight.seat, cell)
        # Doubling is the fastest way past the goal; if it cannot land there, the exact landing costs turns.
        cost = turns - (self.paths.at_least(cell) if cell else 1 + self.paths.at_least(1))
        yield Finding(
            "clauses",
            f"Having to land exactly on {self.rules.goal} costs {cost} {_turns(cost)} from here. The clauses "
            "'closest wins' and 'forfeit' never matter: one can always leap 1.\n",
            {"exact_landing_costs": cost, "never_matter": ["closest wins", "forfeit"]},
        )
        costly = self.costly_longest_leaps()
        cells = [str(cell) for cell in costly[:_MOST_CELLS_TOLD]]
        if len(costly) > len(cells):
            cells.append(f"{len(costly) - len(cells):,} more")
        where = f"except from {join_and(cells)}" if costly else "from every cell"
        yield Finding(
            "longest_leaps",
            f"The longest leap is on a shortest path {where}.\n",
            {"costs_a_turn_from": costly},
        )

    def costly_longest_leaps(self) -> list[int]:
        """The cells from which the longest leap costs a turn."""
        needed, longest_leap = self.paths.needed, self.paths.longest_leap
        return [cell for cell in range(1, self.rules.goal) if needed(longest_leap(cell)) >= needed(cell)]

    def _shortest_paths(self, seat: Seat, cell: int) -> Finding:
        count, turns = self.paths.count(cell), self.paths.needed(cell)
        paths = list(islice(self.paths.all_shortest(cell), _MOST_PATHS_TOLD))
        lines = ["  " + " - ".join(map(str, path)) for path in paths]
        if count > len(paths):
            lines.append(f"  … and {count - len(paths):,} more")
        ways = "one shortest path" if count == 1 else f"{count:,} shortest paths"
        return Finding(
            "shortest_paths",
            f"{seat.label} has {ways} of {turns} {_turns(turns)}, by the cells that the turns lead to:\n"
            + "\n".join(lines)
            + "\n",
            {"count": count, "turns": turns, "paths": [list(path) for path in paths]},
        )

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        small = QuantumLeap(min(self.rules.goal, _FARTHEST_BRUTE_FORCE))
        starts = [
            State((x, o), seat)
            for x in range(OFF_GRID, small.goal)
            for o in range(OFF_GRID, small.goal)
            for seat in Seat
        ]
        yield check_backward_induction(small, starts, LeapOracle(small).state_value, progress)
        near = QuantumLeap(min(self.rules.goal, _FARTHEST_TRIAL_DIVISION))
        paths, distances = Paths(near.goal), _by_trial_division(near)
        yield Check(
            "trial division of every cell gives the same distances",
            all(paths.needed(cell) == needed for cell, needed in distances.items()),
            f"{format_options(near)}, {len(distances):,} cells",
        )
        yield Check(
            "the clauses 'closest wins' and 'forfeit' never matter: from every cell one can leap 1",
            all(near.leaps(cell)[:1] == (1,) for cell in range(1, near.goal)),
            format_options(near),
        )
        yield from check_sampled_play(small, LeapOracle(small), starts[::7], games=200)


def _by_trial_division(rules: QuantumLeap) -> dict[int, int]:
    """The leaps needed from every cell, from the rules alone, last cell first."""
    needed = {rules.goal: 0}
    for cell in range(rules.goal - 1, 0, -1):
        needed[cell] = 1 + min(needed[cell + by] for by in rules.leaps(cell))
    return needed


def _turns(count: int) -> str:
    return "turn" if count == 1 else "turns"


def make_oracle(rules: QuantumLeap, progress: Progress = no_progress) -> LeapOracle:
    return LeapOracle(rules)
