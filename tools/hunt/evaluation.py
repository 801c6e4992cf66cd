"""Evaluate two memory policies against each other, by exact sums.

This is independent of the training's own sums: forward, turn by turn, in double precision.
"""
# mypy: disable-error-code="no-untyped-call"

from dataclasses import dataclass

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import Array, MemoryPolicy
from duels.solving.compiling import cached_njit
from duels.solving.oracle import Progress, no_progress


@dataclass(frozen=True)
class Turn:
    """The probabilities of the events of one turn, summed over all histories of the game."""

    seat: Seat
    captured: float
    collided: float
    moved: Array
    """Indexed [the mover's type before, after]."""
    observed: Array
    """Indexed [the mover's last observation, its new one]. In the last row there is no last observation."""
    moved_after_observation: Array
    """Indexed [the opponent's last observation, the mover's new cell], with the same last row."""
    observed_after_observation: Array
    """Indexed [the opponent's last observation, the mover's observation], with the same last row."""


@dataclass(frozen=True)
class Evaluation:
    turns: tuple[Turn, ...]
    unfinished: float
    """The probability that the game continues after these turns."""

    @property
    def won(self) -> float:
        """Player 1's probability of winning, to within `unfinished`. Unfinished games count one half."""
        decided = sum(t.captured if t.seat is Seat.ONE else t.collided for t in self.turns)
        return float(decided + self.unfinished / 2)

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
    max_turns: int = 400,
    negligible: float = 1e-9,
    progress: Progress = no_progress,
) -> Evaluation:
    """Play `one` against `two` until the probability of an unfinished game is `negligible`."""
    sides = {Seat.ONE: one, Seat.TWO: two}
    shape = (
        *(len(sides[seat].own_memory.states) for seat in Seat),
        *(len(sides[seat].type_cells) for seat in Seat),
    )
    reach: Array = np.zeros(shape)
    reach[0, 0, -1, -1] = unfinished = 1.0
    turns: list[Turn] = []
    seat = Seat.ONE
    while unfinished > negligible and len(turns) < max_turns:
        progress(f"exact sums, turn {len(turns) + 1}, {unfinished:.2g} of the games left")
        mover, other = sides[seat], sides[seat.other]
        cells = mover.own_memory.cells
        next_reach = np.zeros(tuple(reach.shape[axis] for axis in (1, 0, 3, 2)))
        types = len(mover.type_cells)
        moved = np.zeros((types, types))
        observed, moved_after_observation, observed_after_observation = np.zeros((3, cells + 1, cells))
        captured, collided = _turn(
            reach, next_reach, np.array(mover.own_memory.successors),
            np.array(mover.other_memory.shorten(other.own_memory)), len(mover.other_memory.states),
            mover.type_cells, other.type_cells, mover.move_probs, mover.observation_probs,
            np.array(mover.own_memory.latest), np.array(other.own_memory.latest),
            moved, observed, moved_after_observation, observed_after_observation,
        )  # fmt: skip
        turns.append(
            Turn(
                seat, captured, collided, moved, observed, moved_after_observation, observed_after_observation
            )
        )
        reach, unfinished, seat = next_reach, float(next_reach.sum()), seat.other
    return Evaluation(tuple(turns), unfinished)


@cached_njit(nogil=True)
def _turn(  # noqa: C901  compiled: a loop in one piece
    reach: Array, next_reach: Array, next_memory: Array, short_memory: Array, short_states: int,
    type_cells: Array, other_type_cells: Array,
    move_probs: Array, observation_probs: Array, latest: Array, other_latest: Array,
    moved: Array, observed: Array, moved_after_observation: Array, observed_after_observation: Array,
) -> tuple[float, float]:  # fmt: skip
    """Compute one turn in all states. The axes of the player to move come first."""
    captured, collided = 0.0, 0.0
    types, others = reach.shape[2], reach.shape[3]
    after = np.zeros((types, others))
    for i in range(reach.shape[0]):
        for j in range(reach.shape[1]):
            here = reach[i, j]
            if here.sum() == 0.0:
                continue
            row = i * short_states + short_memory[j]
            after[:] = 0.0
            for x in range(types):
                mass = here[x].sum()
                if mass == 0.0:
                    continue
                for z in range(types):
                    p = move_probs[row, x, z]
                    if p > 0.0:
                        moved[x, z] += p * mass
                        moved_after_observation[other_latest[j], type_cells[z]] += p * mass
                        for y in range(others):
                            after[z, y] += p * here[x, y]
            for z in range(types):
                for y in range(others):
                    if type_cells[z] == other_type_cells[y] and after[z, y] > 0.0:
                        collided += after[z, y]
                        after[z, y] = 0.0
                mass = after[z].sum()
                if mass == 0.0:
                    continue
                for c in range(observation_probs.shape[2]):
                    q = observation_probs[row, z, c]
                    if q == 0.0:
                        continue
                    observed[latest[i], c] += q * mass
                    observed_after_observation[other_latest[j], c] += q * mass
                    k = next_memory[i, c]
                    for y in range(others):
                        if other_type_cells[y] == c:
                            captured += q * after[z, y]
                        else:
                            next_reach[j, k, y, z] += q * after[z, y]
    return captured, collided
