"""The opening of a strategy as arrays, and exact best responses to it. Needs numpy and numba.

A history is a number with one digit in base 7 per observed cell. Its mirror image gets the mirrored actions,
so only histories whose first digit is at most 3 are worked on. After the opening, the strategy plays by its
memory: this is the tail.

A best responder remembers its own path as well. Two paths are compatible if the tokens have never met. So the
responder's belief is a product: the strategy's reach of each of its paths, times compatibility.
`Opening.back_up` uses this for an exact best response, given the values at the leaves, where the responder
is to act and the tail begins.
"""
# mypy: disable-error-code="no-untyped-call"

from array import array
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.controller import AlphaVectors, fast
from duels.games.hunt.certify.policies import Array, normalize
from duels.games.hunt.certify.responder_problem import ResponderProblem
from duels.games.hunt.strategy import (
    CELLS,
    FOLDED_CELLS,
    OFF,
    OPENING_TURNS,
    OWN_MEMORY,
    Tables,
    count_histories,
    find_opening_row,
    find_row,
)

MAX_ADVANTAGES = 8.0
"""The responder ignores actions that are this many temperatures worse than the best one."""


class Paths(NamedTuple):
    """The paths of a token after some number of moves."""

    parents: Array
    """The path before the last move."""
    cells: Array
    """The token's cell, or OFF."""
    has_tunnel: Array


def list_paths(moves: int, may_tunnel: bool) -> list[Paths]:
    """Return the paths after 0 to `moves` moves. A tunnel to a neighbouring cell is never needed."""
    levels = [Paths(np.zeros(1, np.int64), np.full(1, OFF), np.full(1, may_tunnel))]
    for _ in range(moves):
        last = levels[-1]
        steps = [
            (path, cell, bool(last.has_tunnel[path]) and is_step)
            for path, old_cell in enumerate(last.cells)
            for cell in range(CELLS)
            if (is_step := bool(old_cell == OFF or abs(cell - old_cell) <= 1)) or last.has_tunnel[path]
        ]
        levels.append(Paths(*(np.array(column) for column in zip(*steps, strict=True))))
    return levels


class Opening:
    """One seat's opening and the responder's possible play against it.

    The responder moves before each turn of the strategy, except before Player 1's first turn.
    `own_paths[k]` and `other_paths[k]` are the paths of both tokens before turn k of the strategy.
    """

    def __init__(self, seat: Seat, may_tunnel: bool = True) -> None:
        """Create an opening without probabilities. `may_tunnel` says whether the responder may tunnel."""
        self.moves_second = seat is Seat.TWO
        lead = int(self.moves_second)
        self.own_paths = list_paths(OPENING_TURNS, may_tunnel=False)
        self.other_paths = list_paths(OPENING_TURNS - 1 + lead, may_tunnel)[lead:]
        self.digits = [2 * turn + lead for turn in range(OPENING_TURNS)]
        """The length of a history before each turn."""
        self.compatible_before, self.compatible_after = self._list_compatible_paths()
        self.leaf_digits = 2 * OPENING_TURNS - 1 + lead
        self.leaf_rows, legal_leaves = self._list_leaves()
        self.legal = {self.leaf_digits: legal_leaves}
        """The legal histories of each length."""
        for digits in reversed(range(self.leaf_digits)):
            self.legal[digits] = np.unique(self.legal[digits + 1] // CELLS)
        self.move_probs = [np.zeros((CELLS**d, len(p.cells))) for d, p in self.list_turns()]
        """Per turn: the probability of the last move of a path, indexed [history, path after the move]."""
        self.observation_probs = [np.zeros((*probs.shape, CELLS)) for probs in self.move_probs]

    def list_turns(self) -> list[tuple[int, Paths]]:
        """Return the digits of the history before each turn, and the own paths after its move."""
        return list(zip(self.digits, self.own_paths[1:], strict=True))

    def _list_compatible_paths(self) -> tuple[list[Array], list[Array]]:
        """Return whether pairs of paths have never met, before and after the strategy's move of each turn."""
        before: list[Array] = []
        after: list[Array] = []
        for turn, other in enumerate(self.other_paths):
            own, moved = self.own_paths[turn], self.own_paths[turn + 1]
            if turn == 0:
                before.append(np.ones((1, len(other.cells))))
            else:
                before.append(after[-1][:, other.parents] * (own.cells[:, None] != other.cells))
            after.append(before[-1][moved.parents] * (moved.cells[:, None] != other.cells))
        return before, after

    def _list_leaves(self) -> tuple[Array, Array]:
        """Return the tail's row after each complete history, and the legal ones among them."""
        rows = np.zeros(CELLS**self.leaf_digits, np.int64)
        legal = []
        for history in range(FOLDED_CELLS * CELLS ** (self.leaf_digits - 1)):
            own, other = self.split_history(history, self.leaf_digits)
            if all(a != b for cells in (own, other) for a, b in pairwise(cells)):
                legal.append(history)
                rows[history] = find_row(OWN_MEMORY.index(own), OWN_MEMORY.index(other))
        return rows, np.array(legal)

    def split_history(self, history: int, digits: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the observations of the strategy and of the responder, oldest first."""
        cells = tuple(history // CELLS ** (digits - 1 - i) % CELLS for i in range(digits))
        lead = int(self.moves_second)
        return cells[lead::2], cells[1 - lead :: 2]

    def read_tables(self, tables: Tables) -> None:
        """Set the probabilities from a seat's tables."""
        for turn, (digits, paths) in enumerate(self.list_turns()):
            moves = self._read_rows(tables.moves, digits, has_moved=False)
            self.move_probs[turn][: len(moves)] = moves[:, paths.parents, paths.cells]
            observations = self._read_rows(tables.observations, digits, has_moved=True)
            self.observation_probs[turn][: len(observations)] = observations

    def _read_rows(self, table: "array[int]", digits: int, has_moved: bool) -> Array:
        """Return a turn's probabilities, indexed [history, path, cell]."""
        rows = slice(*(CELLS * find_opening_row(end, has_moved) for end in (digits, digits + 2)))
        weights = np.array(table[rows], float).reshape(count_histories(digits), -1, CELLS)
        return np.asarray(normalize(weights))

    def propagate(self) -> None:
        """Compute how likely the strategy's own actions lead to each history and path."""
        self.reach_before, self.reach_after = [], []
        reach = np.ones((CELLS ** self.digits[0], 1))
        for turn, (digits, paths) in enumerate(self.list_turns()):
            self.reach_before.append(reach)
            acted = (reach[:, paths.parents] * self.move_probs[turn])[:, :, None] * self.observation_probs[
                turn
            ]
            after = np.ascontiguousarray(acted.transpose(0, 2, 1)).reshape(CELLS ** (digits + 1), -1)
            self.reach_after.append(after)
            unobserved = np.arange(CELLS)[:, None] != paths.cells
            reach = (after[:, None] * unobserved).reshape(-1, len(paths.cells))

    def back_up(self, leaf_values: Array, temperature: float) -> float:
        """Return the value of the best response, given the responder's values at the leaves.

        `leaf_values` is indexed [history, responder's path]. Values are not divided by the reach. Also
        compute the responder's mixed policy, which prefers better actions by `temperature`.
        """
        values = leaf_values
        self.policies: list[Array] = [np.zeros(0)] * OPENING_TURNS
        for turn in reversed(range(OPENING_TURNS)):
            digits, other = self.digits[turn], self.other_paths[turn]
            if not digits:  # Player 1's first turn, before the responder's
                weights = np.where(np.arange(CELLS) < CELLS // 2, 2, np.arange(CELLS) == CELLS // 2)
                return float(weights @ values[:CELLS, 0])
            turn_values = np.zeros((CELLS**digits, len(other.cells)))
            back_up_turn(
                self.legal[digits], self.reach_before[turn], self.move_probs[turn], self.own_paths[turn + 1],
                self.compatible_before[turn], other.cells, values, turn_values,
            )  # fmt: skip
            if not turn and self.moves_second:
                self.first_values = turn_values
                return float(turn_values[:FOLDED_CELLS].max())
            own, before = self.own_paths[turn], self.other_paths[turn - 1]
            values = np.zeros((CELLS ** (digits - 1), len(before.cells)))
            policy = self.policies[turn] = np.zeros((len(values), len(other.cells), CELLS))
            back_up_response(
                self.legal[digits - 1], self.reach_after[turn - 1], own.cells,
                self.compatible_after[turn - 1], other, self._get_last_observations(turn),
                turn_values, temperature, values, policy,
            )  # fmt: skip
        raise AssertionError("The loop returns at the first turn.")

    def _get_last_observations(self, turn: int) -> Array:
        """Return the responder's last observation before its move, per history; -1 if there is none."""
        digits = self.digits[turn] - 1
        histories = np.arange(CELLS**digits)
        return histories // CELLS % CELLS if digits > 1 else np.full(len(histories), -1)

    def propagate_responder(self, first_reach: Array) -> list[Array]:
        """Return how likely the responder's own actions lead to each history and path, before each turn.

        `first_reach` holds before the first turn.
        """
        reach = [first_reach]
        for turn in range(1, OPENING_TURNS):
            last, other = self.other_paths[turn - 1], self.other_paths[turn]
            unobserved = np.arange(CELLS)[:, None] != last.cells
            survived = (reach[-1][:, None] * unobserved).reshape(-1, len(last.cells))
            moved = survived[:, other.parents, None] * self.policies[turn]
            reach.append(np.ascontiguousarray(moved.transpose(0, 2, 1)).reshape(-1, len(other.cells)))
        return reach

    def start_response(self, temperature: float) -> Array:
        """Return the responder's reach before the first turn: good entries for each first observation."""
        if not self.moves_second:
            return np.ones((1, 1))
        advantages = self.first_values - self.first_values.max(axis=1, keepdims=True)
        weights = np.exp(np.maximum(advantages / temperature, -700.0))
        weights[FOLDED_CELLS:] = 0.0
        return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))


@fast
def back_up_turn(
    legal: Array, reach: Array, move_probs: Array, paths: Paths, compatible: Array, other_cells: Array,
    leaf_values: Array, values: Array,
) -> None:  # fmt: skip
    """Fill in the responder's values before a turn of the strategy."""
    for history in legal:
        for other in range(len(other_cells)):
            value = 0.0
            for path in range(len(paths.cells)):
                if paths.cells[path] == other_cells[other]:  # the strategy moves onto the responder
                    parent = paths.parents[path]
                    value += reach[history, parent] * move_probs[history, path] * compatible[parent, other]
            for cell in range(CELLS):
                if cell != other_cells[other]:
                    value += leaf_values[history * CELLS + cell, other]
            values[history, other] = value


@fast
def back_up_response(  # noqa: C901  compiled: a loop in one piece
    legal: Array, reach: Array, cells: Array, compatible: Array, other: Paths, last_observations: Array,
    turn_values: Array, temperature: float, values: Array, policy: Array,
) -> None:  # fmt: skip
    """Fill in the responder's values before its own turn, and its policy, indexed [history, path, cell]."""
    chances = np.zeros(CELLS)
    for history in legal:
        for before in range(values.shape[1]):
            chances[:] = 0.0
            for path in range(len(cells)):
                chances[cells[path]] += reach[history, path] * compatible[path, before]
            scale = temperature * chances.sum() + 1e-15
            best = -1.0
            for path in range(len(other.cells)):
                if other.parents[path] != before:
                    continue
                for cell in range(CELLS):
                    if cell != last_observations[history]:
                        value = turn_values[history * CELLS + cell, path]
                        if cell != other.cells[path]:
                            value += chances[cell]
                        policy[history, path, cell] = value
                        best = max(best, value)
                    else:
                        policy[history, path, cell] = -np.inf
            values[history, before] = best
            total = 0.0
            for path in range(len(other.cells)):
                if other.parents[path] == before:
                    for cell in range(CELLS):
                        advantage = (policy[history, path, cell] - best) / scale
                        policy[history, path, cell] = (
                            np.exp(advantage) if advantage > -MAX_ADVANTAGES else 0.0
                        )
                        total += policy[history, path, cell]
            for path in range(len(other.cells)):
                if other.parents[path] == before:
                    policy[history, path] /= total


@fast
def fill_belief(reach: Array, cells: Array, compatible: Array, belief: Array) -> float:
    """Fill `belief` over the strategy's cells. Return its mass."""
    belief[:] = 0.0
    for path in range(len(cells)):
        belief[cells[path]] += reach[path] * compatible[path]
    mass: float = belief.sum()
    return mass


@fast
def fill_node_values(
    action: int, vector: int, problem: ResponderProblem, vectors: AlphaVectors, values: Array
) -> None:
    """Fill in the responder's value of an action, followed by an alpha vector, per hidden state."""
    for x in range(len(values)):
        if problem.win_masks[action] >> x & 1:
            values[x] = 1.0
        elif problem.continue_masks[action] >> x & 1:
            values[x] = vectors.values[vector, problem.mirror[x] if problem.is_mirrored[action] else x]
        else:
            values[x] = 0.0
