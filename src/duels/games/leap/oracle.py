"""Perfect play in leap. The tokens do not interact, so the player with the shorter path wins.

Proof: let the player to move need m turns, and the opponent n. If m <= n, the mover takes a shortest path and
arrives on turn m, before the opponent's turn m. If m > n, the opponent takes a shortest path and arrives on
turn n, when the mover has had n turns and needs more. So the mover wins exactly if m <= n. From equal cells,
as at the start, the player to move wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice

from duels.core.rules import Seat, Sight
from duels.core.words import join_and
from duels.games.leap.rules import OFF_GRID, Action, Enter, QuantumLeap, State
from duels.solving.check import check_backward_induction, check_sampled_play, format_options
from duels.solving.oracle import Check, Finding, OpenOracle, Progress, no_progress

_MAX_GOAL_BRUTE_FORCE = 30
_MAX_GOAL_CHECKED = 1000
_MAX_PATHS_LISTED = 20
_MAX_CELLS_LISTED = 10


@dataclass(frozen=True)
class Paths:
    """The shortest paths from every cell to the goal."""

    rules: QuantumLeap

    def count_turns(self, cell: int) -> int:
        """Return the length of a shortest path from `cell` (0: off the grid), in turns."""
        return self._turns_by_cell[cell]

    def min_leaps(self, cell: int) -> int:
        """Return a lower bound on the leaps from `cell`: the doublings needed to reach or pass the goal."""
        return (-(-self.rules.goal // cell) - 1).bit_length()

    def find_farthest_cell(self, cell: int) -> int:
        """Return the cell that the longest leap from `cell` reaches."""
        return cell + self._leaps_by_cell[cell][-1]

    def list_next_cells(self, cell: int) -> list[int]:
        """Return the next cells on shortest paths from `cell`, the longest leap first."""
        targets = (cell + leap for leap in reversed(self._leaps_by_cell[cell]))
        return [target for target in targets if self._turns_by_cell[target] < self._turns_by_cell[cell]]

    def count_paths(self, cell: int) -> int:
        """Return the number of shortest paths from `cell`."""
        counts = {cell: 1}
        for _ in range(self.count_turns(cell)):
            next_counts: dict[int, int] = {}
            for current, count in counts.items():
                for target in self.list_next_cells(current):
                    next_counts[target] = next_counts.get(target, 0) + count
            counts = next_counts
        return counts[self.rules.goal]

    def iter_paths(self, cell: int) -> Iterator[tuple[int, ...]]:
        """Yield every shortest path from `cell` as the cells it visits, the goal last."""
        if cell == self.rules.goal:
            yield ()
        for target in self.list_next_cells(cell):
            for rest in self.iter_paths(target):
                yield target, *rest

    @cached_property
    def _leaps_by_cell(self) -> list[tuple[int, ...]]:
        """The possible leaps from each cell, shortest first. Entering the grid counts as a leap of 1."""
        return [(1,), *(self.rules.leaps(cell) for cell in range(1, self.rules.goal + 1))]

    @cached_property
    def _turns_by_cell(self) -> list[int]:
        """The turns needed from each cell, computed from the goal backwards."""
        turns_needed = [0] * (self.rules.goal + 1)
        for cell in range(self.rules.goal - 1, OFF_GRID - 1, -1):
            turns_needed[cell] = 1 + min([turns_needed[cell + leap] for leap in self._leaps_by_cell[cell]])
        return turns_needed


class LeapOracle(OpenOracle[Action, State]):
    """Exact values for every goal."""

    rules: QuantumLeap

    def __init__(self, rules: QuantumLeap) -> None:
        super().__init__(rules)
        self.paths = Paths(rules)

    def state_value(self, state: State) -> Fraction:
        own_turns, other_turns = self._count_turns(state, state.mover)
        return Fraction((own_turns <= other_turns) == (state.mover is Seat.ONE))

    def _count_turns(self, state: State, seat: Seat) -> tuple[int, int]:
        """Return the turns that `seat` and the opponent need."""
        return self.paths.count_turns(state.cell_of(seat)), self.paths.count_turns(state.cell_of(seat.other))

    def reason(self, sight: Sight[Action, State]) -> str:
        state, seat = sight.view, sight.seat
        turns, other_turns = self._count_turns(state, seat)
        verdict = self.judge(sight)
        need = f"You need {turns} more {_pluralize_turns(turns)} to the goal"
        count = f"{need}, the other player needs {other_turns}"
        if verdict.value.number == 0:
            return f"{count}: the other player is ahead and stays ahead by taking a shortest path."
        if turns == 1:
            return f"{count}: leaping {self.rules.goal - state.cell_of(seat)} ends the race."
        best = max(reversed(verdict.actions), key=lambda judged: judged.weight).action
        move = "entering" if isinstance(best, Enter) else f"leaping {self.rules.format(best)}"
        return f"{count}, and it is your turn: {move} leaves you enough time to be there first."

    def pointer(self, sight: Sight[Action, State]) -> str:
        turns, other_turns = self._count_turns(sight.view, sight.seat)
        if turns == 1:
            return "Can you reach the goal with this move?"
        count = f"Count turns, not cells: you need {turns} to the goal, the other player {other_turns}."
        if turns > other_turns:
            return f"{count} You need a mistake of the other player, so do not lose any time."
        if turns < other_turns:
            return f"{count} You are ahead. Which leaps lose no time?"
        return f"{count} You move first, so no turn may be lost. The longest leap is not always the quickest."

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        turns, other_turns = self._count_turns(self.rules.apply(sight.view, action).state, sight.seat)
        return (
            f"After leaping {self.rules.format(action)} you needed {turns} more {_pluralize_turns(turns)}; "
            f"the other player, whose turn it was, needed {other_turns}."
        )

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, Enter):
            return "entering"
        doubled = action.by == sight.view.cell_of(sight.seat)
        return "leaping as far as possible" if doubled else "leaping less than possible"

    def select_quickest(self, state: State, best: tuple[Action, ...]) -> tuple[Action, ...]:
        """Return the best actions that are on a shortest path: they win soonest or lose by the least."""
        next_cells = self.paths.list_next_cells(state.cell_of(state.mover))
        return tuple(a for a in best if self.rules.apply(state, a).state.cell_of(state.mover) in next_cells)

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        cell = sight.view.cell_of(sight.seat)
        turns = self.paths.count_turns(cell)
        yield self._describe_shortest_paths(sight.seat, cell)
        # Doubling passes the goal fastest; landing on it exactly may take more turns.
        cost = turns - (self.paths.min_leaps(cell) if cell else 1 + self.paths.min_leaps(1))
        yield Finding(
            "clauses",
            f"Having to land exactly on {self.rules.goal} costs {cost} {_pluralize_turns(cost)} from here. "
            "The clauses 'closest wins' and 'forfeit' never matter: a leap of 1 is always possible.\n",
            {"exact_landing_costs": cost, "never_matter": ["closest wins", "forfeit"]},
        )
        costly = self.list_costly_longest_leaps()
        cells = [str(cell) for cell in costly[:_MAX_CELLS_LISTED]]
        if len(costly) > len(cells):
            cells.append(f"{len(costly) - len(cells):,} more")
        exceptions = f"except from {join_and(cells)}" if costly else "from every cell"
        yield Finding(
            "longest_leaps",
            f"The longest leap is on a shortest path {exceptions}.\n",
            {"costs_a_turn_from": costly},
        )

    def list_costly_longest_leaps(self) -> list[int]:
        """Return the cells from which the longest leap costs a turn."""
        count_turns, find_farthest_cell = self.paths.count_turns, self.paths.find_farthest_cell
        return [
            cell
            for cell in range(1, self.rules.goal)
            if count_turns(find_farthest_cell(cell)) >= count_turns(cell)
        ]

    def _describe_shortest_paths(self, seat: Seat, cell: int) -> Finding:
        count, turns = self.paths.count_paths(cell), self.paths.count_turns(cell)
        paths = list(islice(self.paths.iter_paths(cell), _MAX_PATHS_LISTED))
        lines = ["  " + " - ".join(map(str, path)) for path in paths]
        if count > len(paths):
            lines.append(f"  … and {count - len(paths):,} more")
        paths_text = "one shortest path" if count == 1 else f"{count:,} shortest paths"
        return Finding(
            "shortest_paths",
            f"{seat.label} has {paths_text} of {turns} {_pluralize_turns(turns)}. The cells on the way:\n"
            + "\n".join(lines)
            + "\n",
            {"count": count, "turns": turns, "paths": [list(path) for path in paths]},
        )

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        small = QuantumLeap(min(self.rules.goal, _MAX_GOAL_BRUTE_FORCE))
        starts = [
            State((x, o), seat)
            for x in range(OFF_GRID, small.goal)
            for o in range(OFF_GRID, small.goal)
            for seat in Seat
        ]
        yield check_backward_induction(small, starts, LeapOracle(small).state_value, progress)
        medium = QuantumLeap(min(self.rules.goal, _MAX_GOAL_CHECKED))
        yield Check(
            "the clauses 'closest wins' and 'forfeit' never matter: a leap of 1 is possible from every cell",
            all(medium.leaps(cell)[:1] == (1,) for cell in range(1, medium.goal)),
            format_options(medium),
        )
        yield from check_sampled_play(small, LeapOracle(small), starts[::7], games=200)


def _pluralize_turns(count: int) -> str:
    return "turn" if count == 1 else "turns"


def make_oracle(rules: QuantumLeap, progress: Progress = no_progress) -> LeapOracle:
    """Return the oracle. It needs no preparation and reports no progress."""
    return LeapOracle(rules)
