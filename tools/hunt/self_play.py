"""The first part of training: a strategy learns against an adversary with more memory.

The sums over all memories and all places of both tokens are exact. The computation is deterministic.
"""
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.memory import Memory, Window
from duels.solving.compiling import cached_njit
from tools.hunt.best_responders import Stage
from tools.hunt.mirror_descent import descend

Array = np.ndarray[Any, Any]
TEMPERATURE = 0.012
"""Strength of the pull towards the uniform policy."""


@dataclass(frozen=True)
class Grid:
    """The moves of tokens. Types: cells without the tunnel, cells with it, off the grid."""

    after: Array
    """By type and cell, the type after the move, or -1 if the move is illegal."""
    plain: Array
    """By type and cell, whether the move needs no tunnel."""

    @property
    def types(self) -> int:
        return len(self.after)

    @property
    def cells(self) -> int:
        return len(self.after[0])


@dataclass(frozen=True)
class Learned:
    """A strategy by memory row and own place (cells, then off the grid), with its winning probabilities."""

    moves: Array
    names: Array
    waiting: Array


@dataclass(frozen=True)
class Plan:
    """The length of training.

    First against an adversary with the strategy's memory and a number of its own last cells, then against
    the best responders.
    """

    rounds: int = 160
    depth: int = 2
    stages: tuple[Stage, ...] = (
        Stage(100, 0.06, 0.006),
        Stage(80, 0.03, 0.004),
        Stage(70, 0.012, 0.002),
        Stage(150, 0.006, 0.001),
    )


class Policy:
    """One seat's policy by memory row and own type, with the value of every action."""

    def __init__(self, seat: Seat, rows: Array, last: Array, moves: Array) -> None:
        self.seat, self.rows = seat, rows
        count = len(last)
        types, cells = moves.shape
        self.can_move = np.broadcast_to(moves, (count, types, cells))
        free = last[:, None] != np.arange(cells)
        self.can_name = np.broadcast_to(free[:, None, :], (count, types - 1, cells))
        self.moves = (self.can_move / self.can_move.sum(-1, keepdims=True)).astype(np.float32)
        self.names = (self.can_name / self.can_name.sum(-1, keepdims=True)).astype(np.float32)
        self.move_worth, self.move_reach = np.zeros_like(self.moves), np.zeros((count, types), np.float32)
        self.name_worth, self.name_reach = np.zeros_like(self.names), np.zeros((count, types - 1), np.float32)

    def learn(self, step: float, temperature: float) -> None:
        descend(self.moves, self.can_move, self.move_worth, self.move_reach, step, temperature)
        descend(self.names, self.can_name, self.name_worth, self.name_reach, step, temperature)


class Chain:
    """The game between two policies as a Markov chain over namings and places.

    `reach[s]` is how often seat s moves there; `worth[s]` is the value to s of the other seat's next turn.
    Both are by memory row, type of the waiting seat, type of the moving seat.
    """

    def __init__(self, one: Memory, two: Memory, grid: "Grid") -> None:
        self.grid = grid
        self.memory = {Seat.ONE: one, Seat.TWO: two}
        self.next = {seat: np.array(memory.following) for seat, memory in self.memory.items()}
        self.last = {seat: np.array(memory.latest) for seat, memory in self.memory.items()}
        self.size = len(one.states) * len(two.states)
        shape = (self.size, grid.types, grid.types)
        self.reach = {seat: np.zeros(shape, np.float32) for seat in Seat}
        self.worth = {seat: np.full(shape, 0.5, np.float32) for seat in Seat}
        self.reach[Seat.ONE][0, -1, -1] = 1

    def rows(self, seat: Seat, others: Memory) -> Any:
        """Return every state's row for `seat`, which remembers only `others` of the opponent's namings."""
        one, two = np.divmod(np.arange(self.size), len(self.memory[Seat.TWO].states))
        own, other = (one, two) if seat is Seat.ONE else (two, one)
        shorter = np.array([others.index(state[::-1]) for state in self.memory[seat.other].states])
        return own * len(others.states) + shorter[other]

    def policy(self, seat: Seat, others: Memory, tunnels: bool) -> Policy:
        last = np.repeat(self.last[seat], len(others.states))
        moves = (self.grid.after >= 0) & (self.grid.plain | tunnels)
        return Policy(seat, self.rows(seat, others), last, moves)

    def turn(self, policy: Policy) -> None:
        seat = policy.seat
        other = seat.other
        _turn(
            seat == Seat.ONE, self.next[Seat.ONE], self.next[Seat.TWO], self.last[seat],
            self.grid.after, policy.rows,
            self.reach[seat], self.worth[seat], self.worth[other], self.reach[other],
            policy.moves, policy.names,
            policy.move_worth, policy.move_reach, policy.name_worth, policy.name_reach,
        )  # fmt: skip
        if seat is Seat.TWO:
            self.reach[Seat.ONE][0, -1, -1] += 1

    @property
    def value(self) -> float:
        """Player 1's probability of winning."""
        return 1 - float(self.worth[Seat.TWO][0, -1, -1])


@cached_njit(nogil=True, fastmath=True)
def _turn(  # noqa: C901  compiled: a loop in one piece
    first: bool, next_one: Array, next_two: Array, last: Array, after: Array, rows: Array,
    reach: Array, next_worth: Array, worth: Array, onward: Array, moves: Array, names: Array,
    move_worth: Array, move_reach: Array, name_worth: Array, name_reach: Array,
) -> None:  # fmt: skip
    """Compute one turn in all states: reach flows forward, values flow back to actions."""
    onward[:] = 0
    move_worth[:] = 0
    move_reach[:] = 0
    name_worth[:] = 0
    name_reach[:] = 0
    types, cells = after.shape
    moved = np.zeros((types, types), np.float32)
    named = np.zeros((types, types), np.float32)
    then = np.zeros(cells, np.int64)
    count = next_two.shape[0]
    for m in range(next_one.shape[0] * count):
        one, two = m // count, m % count
        for c in range(cells):
            then[c] = next_one[one, c] * count + two if first else one * count + next_two[two, c]
        barred = last[one] if first else last[two]
        row = rows[m]
        here = reach[m]
        moved[:] = 0
        named[:] = 0
        for x in range(types):
            for c in range(cells):
                if after[x, c] >= 0:
                    p = moves[row, x, c]
                    for y in range(types):
                        moved[after[x, c], y] += p * here[y, x]
        for a in range(2 * cells):
            cell = a % cells
            moved[a, cell] = 0
            moved[a, cells + cell] = 0
            name_reach[row, a] += moved[a].sum()
            for c in range(cells):
                if c == barred:
                    continue
                value = next_worth[then[c], a]
                target = onward[then[c], a]
                q = names[row, a, c]
                total = np.float32(0)
                for y in range(types):
                    if y == c or y == cells + c:
                        named[a, y] += q
                        total += moved[a, y]
                    else:
                        named[a, y] += q * value[y]
                        total += moved[a, y] * value[y]
                        target[y] += q * moved[a, y]
                name_worth[row, a, c] += total
            named[a, cell] = 0
            named[a, cells + cell] = 0
        worth[m] = 1
        for x in range(types):
            for y in range(types):
                move_reach[row, x] += here[y, x]
            for c in range(cells):
                a = after[x, c]
                if a >= 0:
                    p = moves[row, x, c]
                    total = np.float32(0)
                    for y in range(types):
                        total += here[y, x] * named[a, y]
                        worth[m, y, x] -= p * named[a, y]
                    move_worth[row, x, c] += total


@dataclass(frozen=True)
class Step:
    """The progress of a stage of training."""

    stage: str
    done: float
    value: float
    """The strategy's current winnings against its training adversary."""


Report = Callable[[Step], None]


def train_seat(seat: Seat, own: Memory, others: Memory, grid: Grid, plan: Plan, report: Report) -> "Trained":
    """Train one seat's strategy, without tunnels, against an adversary with limited memory."""
    window = Window(own.cells, plan.depth)
    chain = Chain(own, window, grid) if seat is Seat.ONE else Chain(window, own, grid)
    pupil = chain.policy(seat, others, tunnels=False)
    adversary = chain.policy(seat.other, own, tunnels=True)
    trained = Trained(chain, pupil, adversary)
    for number in range(plan.rounds):
        # Start with a high temperature.
        heat = (0.1 - TEMPERATURE) * max(0.0, 1 - 1.5 * number / plan.rounds) ** 2
        for policy in trained.in_turn:
            chain.turn(policy)
            policy.learn(0.5 if policy is pupil else 1.0, heat + TEMPERATURE)
        if number % 10 == 0:
            won = chain.value if seat is Seat.ONE else 1 - chain.value
            report(Step(f"{seat.label}, adversary", number / plan.rounds, won))
    return trained


@dataclass(frozen=True)
class Trained:
    """A strategy and its training adversary."""

    chain: Chain
    pupil: Policy
    adversary: Policy

    @property
    def in_turn(self) -> list[Policy]:
        """Return both, the first mover first."""
        return sorted((self.pupil, self.adversary), key=lambda policy: policy.seat)

    def learned(self) -> Learned:
        """Return the pupil's strategy, which keeps its tunnel, and its winning probabilities."""
        cells = self.chain.grid.cells
        worth, reach = self.chain.worth[self.pupil.seat], self.chain.reach[self.adversary.seat]
        waiting = _mean(worth, reach, self.pupil, cells)
        return Learned(self.pupil.moves[:, cells:], self.pupil.names[:, cells:], waiting)

    def get_used_to(self, moves: Array, names: Array, rounds: int) -> None:
        """Give the pupil another strategy and let the adversary adapt for some rounds."""
        cells = self.chain.grid.cells
        self.pupil.moves[:, cells:] = moves
        self.pupil.names[:, cells:] = names
        for _ in range(rounds):
            for policy in self.in_turn:
                self.chain.turn(policy)
            self.adversary.learn(1.0, TEMPERATURE)


def _mean(worth: Array, reach: Array, pupil: Policy, cells: int) -> Any:
    """Return the mean value by row, own place and the opponent's place."""
    worth, weight = worth[:, cells:].astype(float), reach[:, cells:].astype(float) + 1e-12
    sums = np.zeros((2, len(pupil.moves), cells + 1, cells + 1))
    for total, values in zip(sums, (worth * weight, weight), strict=True):
        by_place = np.zeros((len(values), cells + 1, cells + 1))
        by_place[:, :, :cells] = values[:, :, :cells] + values[:, :, cells:-1]
        by_place[:, :, cells] = values[:, :, -1]
        np.add.at(total, pupil.rows, by_place)
    return np.clip(sums[0] / np.maximum(sums[1], 1e-300), 0.0, 1.0)
