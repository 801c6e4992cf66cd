"""The second part of training: a strategy learns against its best responders.

The responder is a controller that answers the current strategy. Actions that did better against the latest
responders get more weight. The computation is deterministic.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from duels.games.hunt.certify.controller import Controller
from duels.games.hunt.certify.responder_problem import MAX_STATES, HiddenStrategy
from tools.hunt.mirror_descent import descend

Array = np.ndarray[Any, Any]
Turn = Callable[[Array], Array]
MEMORY = 0.9
"""Discount of earlier responders after each round."""
MOST_NEW = 60_000
"""Points that the responder may add, beyond one per place, before unused points are dropped."""
EVEN = 0.004
"""The loss up to which some responders still take a first option."""


@dataclass(frozen=True)
class Stage:
    rounds: int
    step: float
    temperature: float


@dataclass
class Strategy:
    """The strategy by memory row: moves by old and new state, signals by state. It is mirror-symmetric."""

    moves: Array
    names: Array
    can_move: Array
    can_name: Array
    rows: Array
    """By row, its mirror image. States are counted from the other end, except the last one."""

    def turned_moves(self, values: Array) -> Array:
        """Return the mirrored moves, by row and old state."""
        cells = self.names.shape[1]
        return values[self.rows][:, [*range(cells - 1, -1, -1), cells]]

    def put(self, problem: HiddenStrategy) -> None:
        """Write the strategy into the responder's problem."""
        cells = self.names.shape[1]
        problem.moves[:, : cells + 1, :cells] = self.moves
        problem.signals[:, :, :cells] = self.names.transpose(0, 2, 1)

    def even_out(self) -> None:
        """Make the strategy exactly mirror-symmetric."""
        self.moves = (self.moves + self.turned_moves(self.moves)[:, :, ::-1]) / 2
        self.names = (self.names + self.names[self.rows][:, ::-1, ::-1]) / 2

    def learn(self, gains: tuple[Array, ...], stage: Stage) -> None:
        cells = self.names.shape[1]
        move_worth, move_reach, name_worth, name_reach = gains
        moved, at = move_worth[:, : cells + 1, :cells], move_reach[:, : cells + 1]
        named, on = name_worth[:, :cells], name_reach[:, :cells]
        descend(
            self.moves, self.can_move,
            moved + self.turned_moves(moved)[:, :, ::-1], at + self.turned_moves(at),
            stage.step, stage.temperature,
        )  # fmt: skip
        descend(
            self.names, self.can_name,
            named + named[self.rows][:, ::-1, ::-1], on + on[self.rows][:, ::-1],
            stage.step, stage.temperature,
        )  # fmt: skip


class Responder(Controller):
    """The best responder so far, updated while the strategy changes."""

    def __init__(self, problem: HiddenStrategy, opening: int | None) -> None:
        super().__init__(problem, 150_000)
        self.opening = opening
        self.lately = np.zeros(len(self.reach))
        self.worth = 0.0

    def opened(self) -> tuple[Array, Array]:
        """Return the opening places: those of the strategy, or first options close to the best."""
        hidden = np.array(self.problem.start[0][1])
        first, worth = self.points[0], self.points[4]
        if self.opening is not None:
            root = first[self.opening]
            opens = (self.problem.support[self.opening] >> np.arange(MAX_STATES) & 1).astype(float)
            self.worth = float((worth[root] * opens).sum())
            return np.array([root]), opens[None]
        node = self.problem.start[0][0]
        roots = first[
            self.problem.next_places[self.problem.first_option[node] : self.problem.first_option[node + 1]]
        ]
        values = worth[roots] @ hidden
        self.worth = float(values.max())
        weights = np.exp((values - values.max()) / EVEN)
        return roots, (weights / weights.sum())[:, None] * hidden

    def answer(self, number: int) -> None:
        """Respond to the current strategy and follow play. Every fifth round recomputes everything."""
        self.settle(1, -1.0 if number % 5 == 0 else 1e-7)
        for gain in self.gains:
            gain *= MEMORY
        self.play(*self.opened())
        count = self.count
        self.lately[:count] = MEMORY * self.lately[:count] + self.reach[:count].sum(axis=1)

    def refine(self) -> None:
        if self.count > self.basis + MOST_NEW:
            self.forget(self.lately[: self.count] > 3e-6)
        self.grow(min_reach=1e-4, min_branch_reach=2.5e-3, gain=7e-4)

    def forget(self, in_use: Array) -> None:
        """Drop points that are not in use, except one per place."""
        first, following, places, beliefs, worth, options, nexts, used = self.points
        in_use[: self.basis] = True
        old = np.nonzero(in_use)[0]
        count = len(old)
        home = np.full(len(first), -1)
        home[places[: self.basis]] = np.arange(self.basis)
        new = np.where(in_use, np.cumsum(in_use) - 1, home[places[: len(in_use)]])
        for values in (places, beliefs, worth, options, self.lately, self.reach):
            values[:count] = values[old]
        self.lately[count:], self.reach[count:] = 0.0, 0.0
        then = nexts[old]
        nexts[:count] = np.where(then >= 0, new[then], -1)
        first[:] = -1
        for i in range(count):
            following[i] = first[places[i]]
            first[places[i]] = i
        used[0] = count


def improve(
    strategy: Strategy,
    problem: HiddenStrategy,
    opening: int | None,
    stages: tuple[Stage, ...],
) -> Iterator[tuple[float, float]]:
    """Improve `strategy` in place. Yield the share of the work done and the responder's winnings.

    `problem` is the responder's folded problem, into which the strategy is written. `opening` is the place
    where the strategy acts before the responder's first turn, if any.
    """
    strategy.even_out()
    strategy.put(problem)
    responder = Responder(problem, opening)
    responder.settle()
    for _ in range(3):
        responder.play(*responder.opened())
        responder.grow()
        responder.settle(2)
    whole = sum(stage.rounds for stage in stages)
    done = 0
    for stage in stages:
        for number in range(stage.rounds):
            responder.answer(number)
            strategy.learn(responder.gains, stage)
            strategy.put(problem)
            if number % 4 == 0:
                responder.refine()
            if number % 10 == 0:
                yield done / whole, responder.worth
            done += 1
    strategy.even_out()
