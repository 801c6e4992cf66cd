"""Solves the Markov chain that two memory policies make when they play each other, backwards, by exact sums.

Its states are what both sides' naming has left in memory and where both tokens are. `tools.hunt.evaluation`
sums the same chain forwards from the opening.
"""

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import NOWHERE, Array, MemoryPolicy, policy_of_tables
from duels.games.hunt.memory import Memory, State
from duels.games.hunt.self_play import FOLDED, RANK, RANKS, STEP, UNITS
from duels.games.hunt.strategy import CELLS, OWN, Strategy
from duels.solving.compiling import cached_njit
from duels.solving.progress import Progress, no_progress

Chances = dict[Seat, Array]
"""By seat, before its turn: its chance to win, by both sides' naming and both tokens, its own first."""

CLOSE = 1e-10
"""Unless told otherwise, the iteration stops when no value changes by more."""


class Public:
    """All that one side's naming can leave behind: in its own memory and in the other's."""

    def __init__(self, owner: Memory, hearer: Memory) -> None:
        start: tuple[State, State, int] = ((), (), NOWHERE)
        found = {start: 0}
        waiting = [start]
        following: list[list[int]] = []
        for own, heard, last in waiting:  # grows while it is read
            steps = []
            for cell in range(owner.cells):
                then = (owner.after(own, cell), hearer.after(heard, cell), cell)
                if cell != last and then not in found:
                    found[then] = len(waiting)
                    waiting.append(then)
                steps.append(found.get(then, 0))
            following.append(steps)
        self.following = np.array(following)
        self.owner = np.array([owner.numbers[own] for own, _, _ in waiting])
        self.hearer = np.array([hearer.numbers[heard] for _, heard, _ in waiting])
        self.last = np.array([last for _, _, last in waiting])


def chances(
    one: MemoryPolicy, two: MemoryPolicy, progress: Progress = no_progress, close: float = CLOSE
) -> Chances:
    """The chance of the player to move, before every turn."""
    sides = {Seat.ONE: one, Seat.TWO: two}
    public = {seat: Public(sides[seat].own, sides[seat.other].others) for seat in Seat}
    found = {
        seat: np.full(
            tuple(len(public[s].last) for s in (seat, seat.other))
            + tuple(len(sides[s].cell) for s in (seat, seat.other)),
            0.5,
        )
        for seat in Seat
    }
    change, rounds = 1.0, 0
    while change > close:
        change, rounds = 0.0, rounds + 1
        for seat in reversed(Seat):
            mover, other = sides[seat], sides[seat.other]
            mine, theirs = public[seat], public[seat.other]
            change = max(
                change,
                _back_up(
                    found[seat], found[seat.other], mine.following, mine.owner, theirs.hearer,
                    len(mover.others.states), mover.cell, other.cell, mover.moves, mover.names,
                ),
            )  # fmt: skip
        progress(f"self-play values, round {rounds}, changing by {change:.1g}")
    return found


@cached_njit(nogil=True)
def _back_up(  # noqa: C901  compiled: a loop in one piece
    chance: Array, others: Array, following: Array, owner: Array, hearer: Array, width: int,
    cell: Array, other_cell: Array, moves: Array, names: Array,
) -> float:  # fmt: skip
    """Renew `chance`, the mover's, from `others`, the other's before its next turn; the largest change."""
    change = 0.0
    types, other_types = chance.shape[2], chance.shape[3]
    moved = np.zeros((types, other_types))
    for i in range(chance.shape[0]):
        for j in range(chance.shape[1]):
            row = owner[i] * width + hearer[j]
            for z in range(types):
                for y in range(other_types):
                    moved[z, y] = 0.0
                    if cell[z] < 0 or cell[z] == other_cell[y]:
                        continue
                    for c in range(names.shape[2]):
                        q = names[row, z, c]
                        if q > 0.0:
                            won = 1.0 if c == other_cell[y] else 1.0 - others[j, following[i, c], y, z]
                            moved[z, y] += q * won
            for x in range(types):
                for y in range(other_types):
                    total = 0.0
                    for z in range(types):
                        p = moves[row, x, z]
                        if p > 0.0:
                            total += p * moved[z, y]
                    change = max(change, abs(total - chance[i, j, x, y]))
                    chance[i, j, x, y] = total
    return change


# -- the shipped table -------------------------------------------------------------------------------


def solved(strategy: Strategy, progress: Progress = no_progress, close: float = CLOSE) -> Chances:
    """The shipped kind of pair solved; both sides' naming by its number in OWN, tokens by their place."""
    one, two = (policy_of_tables(strategy[seat]) for seat in Seat)
    order = np.argsort(Public(one.own, two.others).owner)
    return {seat: found[order][:, order] for seat, found in chances(one, two, progress, close).items()}


def furthest(found: Chances, table: bytes) -> float:
    """How far the table is off at most, wherever play can come to."""
    shape = (FOLDED, *[CELLS] * 3)
    start, most = 0, 0.0

    def read(kind: str, *ranks: int) -> Array:
        nonlocal start
        numbers = np.frombuffer(table, kind, int(np.prod(shape) * np.prod(ranks)), start)
        start += numbers.nbytes
        return numbers.astype(float).reshape(*shape, *ranks)

    for seat in Seat:
        stored = read("<i2", RANKS, 1) + read("<i2", 1, RANKS) + STEP * read("i1", RANKS, RANKS)
        off = np.abs(stored / UNITS - by_latest(found[seat]))
        off[:, never_met()] = 0
        most = max(most, float(off.max()))
    return most


def by_latest(chance: Array) -> Array:
    """By both latest cells named, the mover's on one half of the grid; by both cells; by both ranks."""
    ranked: Array = np.empty((CELLS, RANKS), int)
    for number, latest in enumerate(OWN.latest):
        if latest >= 0:
            ranked[latest, RANK[number]] = number
    mine, theirs = ranked[:FOLDED, None, :, None], ranked[None, :, None, :]
    return np.asarray(chance[mine, theirs, :CELLS, :CELLS].transpose(0, 1, 4, 5, 2, 3))


def never_met() -> Array:
    """By the other's latest cell and both cells, the mover's first: where the match would be over."""
    heard, own, other = np.ogrid[:CELLS, :CELLS, :CELLS]
    return np.asarray((own == other) | (own == heard))
