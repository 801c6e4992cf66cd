"""Solve the Markov chain of two memory policies that play each other, by backups.

Its states are both sides' memories and both tokens' types. `tools.hunt.evaluation` evaluates the same chain
forwards from the opening.
"""

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import NOWHERE, Array, MemoryPolicy, make_policy_from_tables
from duels.games.hunt.memory import Memory, State
from duels.games.hunt.self_play import FOLDED, RANK, RANKS, STEP, UNITS
from duels.games.hunt.strategy import CELLS, OWN, Strategy
from duels.solving.compiling import cached_njit
from duels.solving.progress import Progress, no_progress

Chances = dict[Seat, Array]
"""Each seat's chance to win before its turn, indexed [own state, other state, own type, other type]."""

TOLERANCE = 1e-10
"""The default tolerance: the iteration stops when no value changes by more."""


class PublicStates:
    """The reachable states of one side's observations in its own and in the opponent's memory."""

    def __init__(self, owner: Memory, opponent: Memory) -> None:
        start: tuple[State, State, int] = ((), (), NOWHERE)
        numbers = {start: 0}
        states = [start]
        next_states: list[list[int]] = []
        for own, other, last in states:  # grows during the loop
            steps = []
            for cell in range(owner.cells):
                successor = (owner.after(own, cell), opponent.after(other, cell), cell)
                if cell != last and successor not in numbers:
                    numbers[successor] = len(states)
                    states.append(successor)
                steps.append(numbers.get(successor, 0))
            next_states.append(steps)
        self.next_states = np.array(next_states)
        self.owner = np.array([owner.numbers[own] for own, _, _ in states])
        self.opponent = np.array([opponent.numbers[other] for _, other, _ in states])
        self.last = np.array([last for _, _, last in states])


def solve_pair(
    one: MemoryPolicy, two: MemoryPolicy, progress: Progress = no_progress, tolerance: float = TOLERANCE
) -> Chances:
    """Return the mover's chance to win before every turn."""
    sides = {Seat.ONE: one, Seat.TWO: two}
    public = {seat: PublicStates(sides[seat].own, sides[seat.other].others) for seat in Seat}
    values = {
        seat: np.full(
            tuple(len(public[s].last) for s in (seat, seat.other))
            + tuple(len(sides[s].cell) for s in (seat, seat.other)),
            0.5,
        )
        for seat in Seat
    }
    change, rounds = 1.0, 0
    while change > tolerance:
        change, rounds = 0.0, rounds + 1
        for seat in reversed(Seat):
            mover, other = sides[seat], sides[seat.other]
            own_public, other_public = public[seat], public[seat.other]
            change = max(
                change,
                _back_up(
                    values[seat], values[seat.other], own_public.next_states, own_public.owner,
                    other_public.opponent, len(mover.others.states), mover.cell, other.cell,
                    mover.moves, mover.observation_probs,
                ),
            )  # fmt: skip
        progress(f"self-play values, round {rounds}, changing by {change:.1g}")
    return values


@cached_njit(nogil=True)
def _back_up(  # noqa: C901  compiled: a loop in one piece
    chance: Array, other_chance: Array, next_states: Array, owner: Array, opponent: Array, width: int,
    cell: Array, other_cell: Array, moves: Array, observation_probs: Array,
) -> float:  # fmt: skip
    """Back up the mover's `chance` from the opponent's. Return the largest change."""
    change = 0.0
    types, other_types = chance.shape[2], chance.shape[3]
    after_move = np.zeros((types, other_types))
    for i in range(chance.shape[0]):
        for j in range(chance.shape[1]):
            row = owner[i] * width + opponent[j]
            for z in range(types):
                for y in range(other_types):
                    after_move[z, y] = 0.0
                    if cell[z] < 0 or cell[z] == other_cell[y]:
                        continue
                    for c in range(observation_probs.shape[2]):
                        q = observation_probs[row, z, c]
                        if q > 0.0:
                            loss = 0.0 if c == other_cell[y] else other_chance[j, next_states[i, c], y, z]
                            after_move[z, y] += q * (1.0 - loss)
            for x in range(types):
                for y in range(other_types):
                    total = 0.0
                    for z in range(types):
                        p = moves[row, x, z]
                        if p > 0.0:
                            total += p * after_move[z, y]
                    change = max(change, abs(total - chance[i, j, x, y]))
                    chance[i, j, x, y] = total
    return change


def solve_self_play(
    strategy: Strategy, progress: Progress = no_progress, tolerance: float = TOLERANCE
) -> Chances:
    """Solve the self-play of a strategy. Public states are numbered as in OWN, types are places."""
    one, two = (make_policy_from_tables(strategy[seat]) for seat in Seat)
    order = np.argsort(PublicStates(one.own, two.others).owner)
    return {
        seat: values[order][:, order] for seat, values in solve_pair(one, two, progress, tolerance).items()
    }


def find_largest_error(values: Chances, table: bytes) -> float:
    """Return the largest error of the table over all reachable states."""
    shape = (FOLDED, *[CELLS] * 3)
    start, largest = 0, 0.0

    def read(dtype: str, *ranks: int) -> Array:
        nonlocal start
        numbers = np.frombuffer(table, dtype, int(np.prod(shape) * np.prod(ranks)), start)
        start += numbers.nbytes
        return numbers.astype(float).reshape(*shape, *ranks)

    for seat in Seat:
        stored = read("<i2", RANKS, 1) + read("<i2", 1, RANKS) + STEP * read("i1", RANKS, RANKS)
        errors = np.abs(stored / UNITS - rearrange(values[seat]))
        errors[:, list_unreachable()] = 0
        largest = max(largest, float(errors.max()))
    return largest


def rearrange(chance: Array) -> Array:
    """Rearrange to the table's axes: both latest cells (the mover's on one half), both cells, both ranks."""
    ranked: Array = np.empty((CELLS, RANKS), int)
    for index, latest in enumerate(OWN.latest):
        if latest >= 0:
            ranked[latest, RANK[index]] = index
    own_states, other_states = ranked[:FOLDED, None, :, None], ranked[None, :, None, :]
    return np.asarray(chance[own_states, other_states, :CELLS, :CELLS].transpose(0, 1, 4, 5, 2, 3))


def list_unreachable() -> Array:
    """Return the unreachable states, indexed [opponent's latest cell, mover's cell, opponent's cell]."""
    other_latest, own, other = np.ogrid[:CELLS, :CELLS, :CELLS]
    return np.asarray((own == other) | (own == other_latest))
