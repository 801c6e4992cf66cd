"""The first part of training: a strategy learns against an adversary with more memory.

The sums over all memories and positions of both seats are exact. The computation is deterministic.
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
    """The moves of tokens. Types are numbered: cells without the tunnel, cells with it, off the grid."""

    next_type: Array
    """The type after a move, or -1 if the move is illegal, indexed [type, cell]."""
    is_step: Array
    """Whether a move needs no tunnel, indexed [type, cell]."""

    @property
    def types(self) -> int:
        return len(self.next_type)

    @property
    def cells(self) -> int:
        return len(self.next_type[0])


@dataclass(frozen=True)
class Plan:
    """The length of training.

    In the first `rounds`, the adversary knows the strategy's memory and its own last `depth` cells. In the
    `stages`, best responders are the adversaries.
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
    """One seat's policy and the values of its actions, indexed [memory row, own type, cell]."""

    def __init__(self, seat: Seat, rows: Array, latest: Array, can_move: Array) -> None:
        self.seat, self.rows = seat, rows
        count = len(latest)
        types, cells = can_move.shape
        self.can_move = np.broadcast_to(can_move, (count, types, cells))
        is_legal = latest[:, None] != np.arange(cells)
        self.can_observe = np.broadcast_to(is_legal[:, None, :], (count, types - 1, cells))
        self.move_probs = (self.can_move / self.can_move.sum(-1, keepdims=True)).astype(np.float32)
        self.observation_probs = (self.can_observe / self.can_observe.sum(-1, keepdims=True)).astype(
            np.float32
        )
        self.move_values, self.move_reach = (
            np.zeros_like(self.move_probs),
            np.zeros((count, types), np.float32),
        )
        self.observation_values = np.zeros_like(self.observation_probs)
        self.observation_reach = np.zeros((count, types - 1), np.float32)

    def learn(self, step: float, temperature: float) -> None:
        descend(self.move_probs, self.can_move, self.move_values, self.move_reach, step, temperature)
        descend(
            self.observation_probs,
            self.can_observe,
            self.observation_values,
            self.observation_reach,
            step,
            temperature,
        )


class Chain:
    """The game between two policies as a Markov chain over memories and types.

    `reach[seat]` is the expected number of visits with `seat` to move. `values[seat]` is the value to `seat`
    before the other seat's turn. Both are indexed [memory row, type of the waiting seat, type of the mover].
    """

    def __init__(self, one: Memory, two: Memory, grid: "Grid") -> None:
        self.grid = grid
        self.memory = {Seat.ONE: one, Seat.TWO: two}
        self.next = {seat: np.array(memory.successors) for seat, memory in self.memory.items()}
        self.latest = {seat: np.array(memory.latest) for seat, memory in self.memory.items()}
        self.size = len(one.states) * len(two.states)
        shape = (self.size, grid.types, grid.types)
        self.reach = {seat: np.zeros(shape, np.float32) for seat in Seat}
        self.values = {seat: np.full(shape, 0.5, np.float32) for seat in Seat}
        self.reach[Seat.ONE][0, -1, -1] = 1

    def rows(self, seat: Seat, others: Memory) -> Any:
        """Return every state's row for `seat`, which remembers the opponent's observations as `others`."""
        one, two = np.divmod(np.arange(self.size), len(self.memory[Seat.TWO].states))
        own, other = (one, two) if seat is Seat.ONE else (two, one)
        shorter = np.array([others.index(state[::-1]) for state in self.memory[seat.other].states])
        return own * len(others.states) + shorter[other]

    def policy(self, seat: Seat, others: Memory, tunnels: bool) -> Policy:
        latest = np.repeat(self.latest[seat], len(others.states))
        can_move = (self.grid.next_type >= 0) & (self.grid.is_step | tunnels)
        return Policy(seat, self.rows(seat, others), latest, can_move)

    def turn(self, policy: Policy) -> None:
        seat = policy.seat
        other = seat.other
        _turn(
            seat == Seat.ONE, self.next[Seat.ONE], self.next[Seat.TWO], self.latest[seat],
            self.grid.next_type, policy.rows,
            self.reach[seat], self.values[seat], self.values[other], self.reach[other],
            policy.move_probs, policy.observation_probs,
            policy.move_values, policy.move_reach, policy.observation_values, policy.observation_reach,
        )  # fmt: skip
        if seat is Seat.TWO:
            self.reach[Seat.ONE][0, -1, -1] += 1

    @property
    def value(self) -> float:
        """Player 1's probability of winning."""
        return 1 - float(self.values[Seat.TWO][0, -1, -1])


@cached_njit(nogil=True, fastmath=True)
def _turn(  # noqa: C901  compiled: a loop in one piece
    first: bool, next_one: Array, next_two: Array, latest: Array, next_type: Array, rows: Array,
    reach: Array, next_values: Array, values: Array, next_reach: Array,
    move_probs: Array, observation_probs: Array,
    move_values: Array, move_reach: Array, observation_values: Array, observation_reach: Array,
) -> None:  # fmt: skip
    """Compute one turn in all states: reach flows forward, values flow back to actions."""
    next_reach[:] = 0
    move_values[:] = 0
    move_reach[:] = 0
    observation_values[:] = 0
    observation_reach[:] = 0
    types, cells = next_type.shape
    moved_reach = np.zeros((types, types), np.float32)
    mean_values = np.zeros((types, types), np.float32)
    next_memories = np.zeros(cells, np.int64)
    count = next_two.shape[0]
    for m in range(next_one.shape[0] * count):
        one, two = m // count, m % count
        for c in range(cells):
            next_memories[c] = next_one[one, c] * count + two if first else one * count + next_two[two, c]
        last_observed = latest[one] if first else latest[two]
        row = rows[m]
        here = reach[m]
        moved_reach[:] = 0
        mean_values[:] = 0
        for x in range(types):
            for c in range(cells):
                if next_type[x, c] >= 0:
                    p = move_probs[row, x, c]
                    for y in range(types):
                        moved_reach[next_type[x, c], y] += p * here[y, x]
        for a in range(2 * cells):
            cell = a % cells
            moved_reach[a, cell] = 0
            moved_reach[a, cells + cell] = 0
            observation_reach[row, a] += moved_reach[a].sum()
            for c in range(cells):
                if c == last_observed:
                    continue
                value = next_values[next_memories[c], a]
                target = next_reach[next_memories[c], a]
                q = observation_probs[row, a, c]
                total = np.float32(0)
                for y in range(types):
                    if y == c or y == cells + c:
                        mean_values[a, y] += q
                        total += moved_reach[a, y]
                    else:
                        mean_values[a, y] += q * value[y]
                        total += moved_reach[a, y] * value[y]
                        target[y] += q * moved_reach[a, y]
                observation_values[row, a, c] += total
            mean_values[a, cell] = 0
            mean_values[a, cells + cell] = 0
        values[m] = 1
        for x in range(types):
            for y in range(types):
                move_reach[row, x] += here[y, x]
            for c in range(cells):
                a = next_type[x, c]
                if a >= 0:
                    p = move_probs[row, x, c]
                    total = np.float32(0)
                    for y in range(types):
                        total += here[y, x] * mean_values[a, y]
                        values[m, y, x] -= p * mean_values[a, y]
                    move_values[row, x, c] += total


@dataclass(frozen=True)
class Step:
    """The progress of a stage of training."""

    stage: str
    done: float
    value: float
    """The strategy's win probability against its training adversary."""


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
        for policy in trained.by_seat:
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
    def by_seat(self) -> list[Policy]:
        """Both policies, Player 1's first."""
        return sorted((self.pupil, self.adversary), key=lambda policy: policy.seat)

    def get_strategy(self) -> tuple[Array, Array]:
        """Return the pupil's probabilities of moves and observations. It keeps its tunnel."""
        cells = self.chain.grid.cells
        return self.pupil.move_probs[:, cells:], self.pupil.observation_probs[:, cells:]
