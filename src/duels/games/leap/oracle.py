"""Perfect play in leap: tokens do not meet, so it is a race; whoever needs fewer turns wins it.

Let the player to move need m turns and the other n. If m <= n, the mover takes a shortest path and is
there with the m-th turn, before the other's m-th; the other needs at least m. If m > n, the other takes a
shortest path and is there with the n-th turn, after the mover's n-th; the mover needs more than n.
So the mover wins exactly if m <= n, and from equal cells, as at the start, whoever moves first wins.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from duels.core.notation import listed
from duels.core.rules import Seat, Sight
from duels.games.leap.paths import Paths
from duels.games.leap.rules import OFF_GRID, Action, Enter, QuantumLeap, State
from duels.solving.check import backward_induction_agrees, in_words, sampled_play_agrees
from duels.solving.oracle import Check, Finding, OpenOracle
from duels.solving.progress import Progress, quiet

_WON, _LOST = Fraction(1), Fraction(0)
_FARTHEST_BRUTE_FORCE = 30
_FARTHEST_TABLE = 1000
_FARTHEST_LISTED = 1_000_000  # finding every path takes long beyond
_MOST_PATHS_TOLD = 20
_MOST_CELLS_TOLD = 10


class LeapOracle(OpenOracle[Action, State]):
    """Values for any goal, all exact."""

    rules: QuantumLeap

    def __init__(self, rules: QuantumLeap) -> None:
        super().__init__(rules)
        self.paths = Paths(rules.goal)

    def worth(self, state: State) -> Fraction:
        mine, theirs = state.cell_of(state.mover), state.cell_of(state.mover.other)
        mover_wins = mine == theirs or self.paths.within(mine, self.paths.needed(theirs))
        return _worth(mover_wins, state.mover)

    def worths_after(self, state: State, actions: tuple[Action, ...]) -> list[Fraction]:
        """Each leap is good or not by the other's distance, which is worked out once."""
        mover, mine = state.mover, state.cell_of(state.mover)
        turns_left = self.paths.needed(state.cell_of(mover.other)) - 1
        if not self.paths.within(mine, turns_left + 1):
            return [_worth(False, mover)] * len(actions)
        if mine == OFF_GRID:
            return [_worth(True, mover)] * len(actions)
        good = self.paths.in_time(mine, turns_left)
        reached = (self.rules.apply(state, action).state.cell_of(mover) for action in actions)
        return [_worth(cell in good, mover) for cell in reached]

    def reason(self, sight: Sight[Action, State]) -> str:
        state, seat = sight.view, sight.seat
        mine = self.paths.needed(state.cell_of(seat))
        theirs = self.paths.needed(state.cell_of(seat.other))
        verdict = self.judge(sight)
        count = f"You need {mine} more {_turns(mine)} to the goal, the other player {theirs}"
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
            f"After leaping {self.rules.format(action)} you needed {mine} more {_turns(mine)}, "
            f"the other player, whose turn it was, {theirs}."
        )

    def quickest(self, state: State, best: tuple[Action, ...]) -> tuple[Action, ...]:
        """All that count are the turns left: fewest wins soonest, and leaves the winner least to spare."""
        mover, cell = state.mover, state.cell_of(state.mover)
        if len(best) == 1 or cell == OFF_GRID:
            return best
        soonest = self.paths.soonest(cell)
        taken = (a for a in best if self.rules.apply(state, a).state.cell_of(mover) in soonest)
        return tuple(taken) or best

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        cell = sight.view.cell_of(sight.seat)
        turns = self.paths.needed(cell)
        if self.rules.goal > _FARTHEST_LISTED:
            yield Finding(
                "shortest_paths",
                f"A shortest path of {sight.seat.label} takes {turns} {_turns(turns)}. Paths are counted and "
                f"listed for goals up to {_FARTHEST_LISTED:,} only: beyond, that takes long.\n",
                {"count": None, "turns": turns, "paths": None},
            )
        else:
            yield self._shortest_paths(sight.seat, cell)
        # Doubling is the fastest way past the goal; if it cannot land there, the exact landing costs turns.
        cost = turns - (self.paths.at_least(cell) if cell else 1 + self.paths.at_least(1))
        yield Finding(
            "clauses",
            f"Having to land exactly on {self.rules.goal} costs {cost} {_turns(cost)} from here. The clauses "
            "'closest wins' and 'forfeit' never matter: one can always leap 1.\n",
            {"exact_landing_costs": cost, "never_matter": ["closest wins", "forfeit"]},
        )
        if self.rules.goal <= _FARTHEST_TABLE:
            costly = self.costly_longest_leaps()
            cells = [str(cell) for cell in costly[:_MOST_CELLS_TOLD]]
            if len(costly) > len(cells):
                cells.append(f"{len(costly) - len(cells):,} more")
            where = f"except from {listed(cells)}" if costly else "from every cell"
            yield Finding(
                "longest_leaps",
                f"The longest leap is on a shortest path {where}.\n",
                {"costs_a_turn_from": costly},
            )

    def costly_longest_leaps(self) -> list[int]:
        """The cells from which the longest leap costs a turn."""
        needed = _table(self.rules)
        return [
            cell
            for cell in range(1, self.rules.goal)
            if needed[cell + max(self.rules.leaps(cell))] + 1 > needed[cell]
        ]

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

    def verify(self, progress: Progress = quiet) -> Iterator[Check]:
        small = QuantumLeap(min(self.rules.goal, _FARTHEST_BRUTE_FORCE))
        starts = [
            State((x, o), seat)
            for x in range(OFF_GRID, small.goal)
            for o in range(OFF_GRID, small.goal)
            for seat in Seat
        ]
        yield backward_induction_agrees(small, starts, LeapOracle(small).worth, progress)
        near = QuantumLeap(min(self.rules.goal, _FARTHEST_TABLE))
        paths, table = Paths(near.goal), _table(near)
        yield Check(
            "the search finds the distances that a table of all cells has",
            all(paths.needed(cell) == needed for cell, needed in table.items()),
            f"{in_words(near)}, {len(table):,} cells",
        )
        yield Check(
            "the clauses 'closest wins' and 'forfeit' never matter: from every cell one can leap 1",
            all(near.leaps(cell)[:1] == (1,) for cell in range(1, near.goal)),
            in_words(near),
        )
        yield from sampled_play_agrees(small, LeapOracle(small), starts[::7], games=200)


def _table(rules: QuantumLeap) -> dict[int, int]:
    """The leaps needed from every cell, from the rules alone, last cell first."""
    needed = {rules.goal: 0}
    for cell in range(rules.goal - 1, 0, -1):
        needed[cell] = 1 + min(needed[cell + by] for by in rules.leaps(cell))
    return needed


def _worth(mover_wins: bool, mover: Seat) -> Fraction:
    return _WON if mover_wins == (mover is Seat.ONE) else _LOST


def _turns(count: int) -> str:
    return "turn" if count == 1 else "turns"


def make_oracle(rules: QuantumLeap, progress: Progress = quiet) -> LeapOracle:
    return LeapOracle(rules)
