"""Each seat's chance to win when two memory policies play each other, computed by value iteration.

A state of this Markov chain has both sides' memories and both tokens' private states (`types`). The values of
a strategy's opening follow from it, turn by turn from the end.
"""

from dataclasses import dataclass

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.opening import Opening
from duels.games.hunt.certify.policies import Array, MemoryPolicy, make_policy_from_tables
from duels.games.hunt.self_play import (
    OPENING_SHAPES,
    STATE_RANKS,
    STATES_PER_CELL,
    STEP,
    STORED_DIGITS,
    UNITS,
    split_opening,
    split_table,
)
from duels.games.hunt.strategy import CELLS, FOLDED_CELLS, OPENING_TURNS, OWN_MEMORY, Strategy
from duels.solving.compiling import cached_njit
from duels.solving.oracle import Progress, no_progress

Chances = dict[Seat, Array]
"""Each seat's chance to win just before its turn: [own memory, other's memory, own type, other's type].

A memory is an index of a side's `own_memory.states`: it determines what the opponent remembers of that side.
"""

TOLERANCE = 1e-10
"""The default tolerance: the iteration stops when no value changes by more."""


def solve_pair(
    one: MemoryPolicy, two: MemoryPolicy, progress: Progress = no_progress, tolerance: float = TOLERANCE
) -> Chances:
    """Return each seat's chance to win, seen just before its turns."""
    sides = {Seat.ONE: one, Seat.TWO: two}
    values = {
        seat: np.full(
            tuple(len(sides[s].own_memory.states) for s in (seat, seat.other))
            + tuple(len(sides[s].type_cells) for s in (seat, seat.other)),
            0.5,
        )
        for seat in Seat
    }
    change, rounds = 1.0, 0
    while change > tolerance:
        change, rounds = 0.0, rounds + 1
        for seat in reversed(Seat):
            mover, other = sides[seat], sides[seat.other]
            change = max(
                change,
                _back_up(
                    values[seat], values[seat.other], np.array(mover.own_memory.successors),
                    np.array(mover.other_memory.shorten(other.own_memory)), len(mover.other_memory.states),
                    mover.type_cells, other.type_cells, mover.move_probs, mover.observation_probs,
                ),
            )  # fmt: skip
        progress(f"self-play values, round {rounds}, changing by {change:.1g}")
    return values


@cached_njit(nogil=True)
def _back_up(  # noqa: C901  compiled: Numba runs nested loops faster than calls
    chance: Array, other_chance: Array, next_memory: Array, short_memory: Array, short_states: int,
    type_cells: Array, other_type_cells: Array, move_probs: Array, observation_probs: Array,
) -> float:  # fmt: skip
    """Back up the mover's `chance` from the opponent's. Return the largest change."""
    change = 0.0
    types, other_types = chance.shape[2], chance.shape[3]
    after_move = np.zeros((types, other_types))
    for i in range(chance.shape[0]):
        for j in range(chance.shape[1]):
            row = i * short_states + short_memory[j]
            for moved in range(types):
                for other in range(other_types):
                    after_move[moved, other] = 0.0
                    if type_cells[moved] < 0 or type_cells[moved] == other_type_cells[other]:
                        continue
                    for cell in range(observation_probs.shape[2]):
                        q = observation_probs[row, moved, cell]
                        if q > 0.0:
                            is_hit = cell == other_type_cells[other]
                            reply = 0.0 if is_hit else other_chance[j, next_memory[i, cell], other, moved]
                            after_move[moved, other] += q * (1.0 - reply)
            for own in range(types):
                for other in range(other_types):
                    total = 0.0
                    for moved in range(types):
                        p = move_probs[row, own, moved]
                        if p > 0.0:
                            total += p * after_move[moved, other]
                    change = max(change, abs(total - chance[i, j, own, other]))
                    chance[i, j, own, other] = total
    return change


@dataclass(frozen=True)
class SelfPlay:
    """The chances to win when both seats play a strategy."""

    chances: Chances
    """Chances after the opening. Memories are numbered as in OWN_MEMORY; types are positions."""
    opening: dict[int, Array]
    """Player 2's chances before its turns with stored values, in the shapes of OPENING_SHAPES."""


def solve_self_play(
    strategy: Strategy, progress: Progress = no_progress, tolerance: float = TOLERANCE
) -> SelfPlay:
    """Solve the self-play of a strategy."""
    one, two = (make_policy_from_tables(strategy[seat]) for seat in Seat)
    chances = solve_pair(one, two, progress, tolerance)
    openings = {seat: Opening(seat) for seat in Seat}
    for seat, opening in openings.items():
        opening.read_tables(strategy[seat])
    return SelfPlay(chances, solve_opening(openings, chances))


def solve_opening(openings: dict[Seat, Opening], chances: Chances) -> dict[int, Array]:
    """Return the opening's values from those after it."""
    one, two = openings[Seat.ONE], openings[Seat.TWO]
    values = np.zeros((CELLS**two.leaf_digits, CELLS, CELLS))
    for history in two.legal[two.leaf_digits]:
        observed_by_two, observed_by_one = two.split_history(int(history), two.leaf_digits)
        memories = OWN_MEMORY.index(observed_by_one), OWN_MEMORY.index(observed_by_two)
        values[history] = chances[Seat.ONE][memories][:CELLS, :CELLS]
    stored = {}
    for digits in range(two.leaf_digits - 1, 0, -1):
        mover, other = (two, one) if digits % 2 else (one, two)
        values = _back_up_opening(mover, other, digits, values)
        if digits in STORED_DIGITS:
            stored[digits] = values[: OPENING_SHAPES[digits][0]]
    return stored


def _back_up_opening(mover: Opening, other: Opening, digits: int, next_values: Array) -> Array:
    """Return the mover's chances before its turn, indexed [history, mover's path, other's path].

    `next_values` has the opponent's chances before the next turn.
    """
    turn, other_turns = digits // 2, (digits + 1) // 2
    paths = mover.own_paths[turn + 1]
    own_ends = paths.cells if turn + 1 == OPENING_TURNS else np.arange(len(paths.cells))
    has_ended = other_turns == OPENING_TURNS
    other_cells = np.arange(CELLS) if has_ended else other.own_paths[other_turns].cells
    values = np.zeros((CELLS**digits, len(mover.own_paths[turn].cells), len(other_cells)))
    apart = paths.cells[:, None] != other_cells
    hits = np.arange(CELLS)[:, None] == other_cells
    for history in mover.legal[digits]:
        replies = next_values[history * CELLS : (history + 1) * CELLS][:, :, own_ends]  # [cell, other, own]
        after = np.where(hits[:, :, None], 1.0, 1.0 - replies)
        chances = apart * np.einsum("pc,cop->po", mover.observation_probs[turn][history], after)
        np.add.at(values[history], paths.parents, mover.move_probs[turn][history][:, None] * chances)
    return values


def find_largest_error(values: SelfPlay, table: bytes) -> float:
    """Return the largest error of the table over all reachable states."""
    shape, largest = (FOLDED_CELLS, *[CELLS] * 3), 0.0
    for seat, (own_means, other_means, differences) in split_table(table).items():
        stored = (
            np.array(own_means, float).reshape(*shape, STATES_PER_CELL, 1)
            + np.array(other_means, float).reshape(*shape, 1, STATES_PER_CELL)
            + STEP * np.array(differences, float).reshape(*shape, STATES_PER_CELL, STATES_PER_CELL)
        )
        errors = np.abs(stored / UNITS - rearrange(values.chances[seat]))
        errors[:, list_unreachable()] = 0
        largest = max(largest, float(errors.max()))
    for digits, opening in split_opening(table).items():
        errors = np.abs(np.array(opening, float) / UNITS - values.opening[digits].ravel())
        largest = max(largest, float(errors.max()))
    return largest


def rearrange(chance: Array) -> Array:
    """Rearrange to the table's axes: the last observed cells, the tokens' cells, and the memories' ranks.

    The mover's last observed cell covers only half of the cells: the other half are mirror images.
    """
    ranked: Array = np.empty((CELLS, STATES_PER_CELL), int)
    for index, latest in enumerate(OWN_MEMORY.latest):
        if latest >= 0:
            ranked[latest, STATE_RANKS[index]] = index
    own_states, other_states = ranked[:FOLDED_CELLS, None, :, None], ranked[None, :, None, :]
    return np.asarray(chance[own_states, other_states, :CELLS, :CELLS].transpose(0, 1, 4, 5, 2, 3))


def list_unreachable() -> Array:
    """Return the unreachable states, indexed [opponent's latest cell, mover's cell, opponent's cell]."""
    other_latest, own, other = np.ogrid[:CELLS, :CELLS, :CELLS]
    return np.asarray((own == other) | (own == other_latest))
