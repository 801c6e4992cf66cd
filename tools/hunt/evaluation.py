"""Evaluate two memory policies against each other, by exact sums.

This is independent of the training's own sums: forward, turn by turn, in double precision.
"""
# mypy: disable-error-code="no-untyped-call"

from dataclasses import dataclass

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.pair_values import PublicStates
from duels.games.hunt.certify.policies import Array, MemoryPolicy
from duels.solving.compiling import cached_njit
from duels.solving.progress import Progress, no_progress


@dataclass(frozen=True)
class Turn:
    """The events of one turn as probabilities in the whole game, summed over all histories."""

    seat: Seat
    captured: float
    collided: float
    moved: Array
    """By the mover's type before and after."""
    named: Array
    """By the mover's previous naming (last row: none) and its new one."""
    answered: Array
    """By the opponent's last naming (last row: none) and the mover's new cell."""
    echoed: Array
    """By the opponent's last naming (last row: none) and the mover's naming."""


@dataclass(frozen=True)
class Evaluation:
    turns: tuple[Turn, ...]
    left: float
    """The probability that the game continues after these turns."""

    @property
    def won(self) -> float:
        """Player 1's probability of winning, to within `left`. Unfinished games count one half."""
        taken = sum(t.captured if t.seat is Seat.ONE else t.collided for t in self.turns)
        return float(taken + self.left / 2)

    @property
    def lengths(self) -> tuple[float, ...]:
        """The probability that the game ends on each turn."""
        return tuple(turn.captured + turn.collided for turn in self.turns)

    @property
    def turns_on_average(self) -> float:
        return float(sum(number * chance for number, chance in enumerate(self.lengths, 1)))


def evaluate(
    one: MemoryPolicy,
    two: MemoryPolicy,
    longest: int = 400,
    negligible: float = 1e-9,
    progress: Progress = no_progress,
) -> Evaluation:
    """Play `one` against `two` until the probability of an unfinished game is `negligible`."""
    sides = {Seat.ONE: one, Seat.TWO: two}
    public = {seat: PublicStates(sides[seat].own, sides[seat.other].others) for seat in Seat}
    reach: Array = np.zeros(
        (len(public[Seat.ONE].last), len(public[Seat.TWO].last), len(one.cell), len(two.cell))
    )
    reach[0, 0, -1, -1] = left = 1.0
    turns: list[Turn] = []
    seat = Seat.ONE
    while left > negligible and len(turns) < longest:
        progress(f"exact sums, turn {len(turns) + 1}, {left:.2g} of the games left")
        mover, other = sides[seat], sides[seat.other]
        mine, theirs = public[seat], public[seat.other]
        cells = mover.own.cells
        onward = np.zeros(tuple(reach.shape[axis] for axis in (1, 0, 3, 2)))
        types = len(mover.cell)
        moved = np.zeros((types, types))
        named, answered, echoed = np.zeros((3, cells + 1, cells))
        captured, collided = _turn(
            reach, onward, mine.next_states, mine.owner, theirs.opponent, len(mover.others.states),
            mover.cell, other.cell, mover.moves, mover.observation_probs, mine.last, theirs.last,
            moved, named, answered, echoed,
        )  # fmt: skip
        turns.append(Turn(seat, captured, collided, moved, named, answered, echoed))
        reach, left, seat = onward, float(onward.sum()), seat.other
    return Evaluation(tuple(turns), left)


@cached_njit(nogil=True)
def _turn(  # noqa: C901  compiled: a loop in one piece
    reach: Array, onward: Array, following: Array, owner: Array, hearer: Array, width: int,
    cell: Array, other_cell: Array, moves: Array, names: Array, last: Array, other_last: Array,
    moved: Array, named: Array, answered: Array, echoed: Array,
) -> tuple[float, float]:  # fmt: skip
    """Compute one turn in all states. The mover's axes come first in `reach`, the opponent's in `onward`."""
    captured, collided = 0.0, 0.0
    types, others = reach.shape[2], reach.shape[3]
    after = np.zeros((types, others))
    for i in range(reach.shape[0]):
        for j in range(reach.shape[1]):
            here = reach[i, j]
            if here.sum() == 0.0:
                continue
            row = owner[i] * width + hearer[j]
            after[:] = 0.0
            for x in range(types):
                mass = here[x].sum()
                if mass == 0.0:
                    continue
                for z in range(types):
                    p = moves[row, x, z]
                    if p > 0.0:
                        moved[x, z] += p * mass
                        answered[other_last[j], cell[z]] += p * mass
                        for y in range(others):
                            after[z, y] += p * here[x, y]
            for z in range(types):
                for y in range(others):
                    if cell[z] == other_cell[y] and after[z, y] > 0.0:
                        collided += after[z, y]
                        after[z, y] = 0.0
                mass = after[z].sum()
                if mass == 0.0:
                    continue
                for c in range(names.shape[2]):
                    q = names[row, z, c]
                    if q == 0.0:
                        continue
                    named[last[i], c] += q * mass
                    echoed[other_last[j], c] += q * mass
                    k = following[i, c]
                    for y in range(others):
                        if other_cell[y] == c:
                            captured += q * after[z, y]
                        else:
                            onward[j, k, y, z] += q * after[z, y]
    return captured, collided
