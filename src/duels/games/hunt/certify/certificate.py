"""The certificate of a strategy: bounds on the best response to each seat. Needs numpy and numba.

The opening is enumerated exactly. Bounds at its leaves come from the tail: `Interpolation` from above, a
`Controller` from below. Trials start at the leaves that the responder reaches by its upper bounds, at the
widest gaps. Upper bounds at other leaves may be old; they stay valid.
"""
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.controller import AlphaVectors, Controller, choose_action, fast
from duels.games.hunt.certify.interpolation import Interpolation, UpperBounds, bound_node
from duels.games.hunt.certify.opening import Opening, fill_belief
from duels.games.hunt.certify.policies import Array, make_policy_from_tables
from duels.games.hunt.certify.pomdp import ROUNDING, BoundsStep
from duels.games.hunt.certify.responder_problem import (
    MAX_STATES,
    TYPES,
    ResponderProblem,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import CELLS, FOLDED_CELLS, Certificate, Strategy
from duels.solving.oracle import Bounds, Progress, no_progress

MAX_BELIEFS = 3_000_000
PURE = 1e-9
"""A temperature at which the responder plays a best action."""


@dataclass(frozen=True)
class Effort:
    """The amount of work for the bounds. More work gives tighter bounds; any amount gives valid ones."""

    sweeps: int = 7
    """The number of sweeps over all afterstates and sets of hidden states."""
    batches: int = 110
    """Each batch runs trials from the leaves with the widest gaps."""
    trials: int = 200
    """The number of trials per batch."""
    starts: int = 60
    """The number of leaves per batch."""


def make_certificate(strategy: Strategy, progress: Progress = no_progress) -> Certificate:
    """Compute the certificate of a strategy. This takes minutes."""
    against: dict[Seat, Bounds] = {}
    for seat, step in certify(strategy):
        against[seat] = step.bounds
        progress(f"best responder against {seat.label}: {step.bounds.in_words()}")
    return Certificate(against)


def certify(
    strategy: Strategy, effort: Effort = Effort(), may_tunnel: bool = True
) -> Iterator[tuple[Seat, BoundsStep]]:
    """Yield bounds on the best response to each seat's strategy, tighter with each step.

    `may_tunnel` says whether the responder may tunnel.
    """
    for seat, tables in strategy.items():
        opening = Opening(seat, may_tunnel)
        opening.read_tables(tables)
        problem = merge_mirror_images(make_problem(make_policy_from_tables(tables), seat))
        for step in bound_opening(opening, problem, effort):
            yield seat, step


def bound_opening(opening: Opening, problem: ResponderProblem, effort: Effort) -> Iterator[BoundsStep]:
    """Yield bounds on the best response to an opening and its tail. All are valid; the last are the tightest.

    `problem` is the responder's problem in the tail.
    """
    leaves = LeafBounds(opening, problem)
    for sweep in range(effort.sweeps):
        leaves.upper.sweep(1 if sweep < effort.sweeps // 2 else MAX_STATES)
    leaves.tighten(leaves.everywhere)
    yield BoundsStep("sweeps", 0.1, leaves.get_bounds())
    for batch in range(1, effort.batches + 1):
        leaves.run_trials(effort.trials, effort.starts)
        done = 0.1 + 0.9 * batch / (effort.batches + 1)
        yield BoundsStep(f"trials, part {batch} of {effort.batches}", done, leaves.get_bounds())
    leaves.tighten_low(leaves.everywhere)
    yield BoundsStep("all leaves", 1.0, leaves.get_bounds())


class LeafBounds:
    """Bounds on the responder's values at the leaves of an opening."""

    def __init__(self, opening: Opening, problem: ResponderProblem) -> None:
        self.opening, self.problem = opening, problem
        self.upper = Interpolation(problem, MAX_BELIEFS)
        self.responder = Controller(problem, 600_000)
        self.responder.iterate()
        opening.propagate()
        other = opening.other_paths[-1]
        self.types = np.where(other.has_tunnel, other.cells + CELLS, other.cells)
        self.leaf_count = CELLS**opening.leaf_digits
        self.everywhere = np.ones((self.leaf_count // CELLS, len(other.cells)))
        self.high = np.zeros((self.leaf_count, len(other.cells)))
        self.high[opening.legal[opening.leaf_digits]] = 1.0
        self.low = np.zeros_like(self.high)

    def get_bounds(self) -> Bounds:
        low = self.opening.back_up(self.low, PURE)
        high = self.opening.back_up(self.high, PURE)  # last, so that the responder follows the upper bounds
        return Bounds(max(0.0, low - ROUNDING), min(1.0, high + ROUNDING))

    def tighten(self, reach: Array) -> None:
        """Tighten both bounds at the leaves that the responder reaches."""
        self._tighten_high(reach)
        self.tighten_low(reach)

    def _tighten_high(self, reach: Array) -> None:
        tighten_high(
            *self._get_leaves(reach), self.problem, self.upper.bounds, self.upper.best_actions, self.high
        )

    def tighten_low(self, reach: Array) -> None:
        tighten_low(*self._get_leaves(reach), self.problem, self.responder.vectors, self.low)

    def _get_leaves(self, reach: Array) -> tuple[Array, ...]:
        opening = self.opening
        legal = opening.legal[opening.leaf_digits]
        compatible = np.ascontiguousarray(opening.compatible_after[-1].T)
        return (
            legal[reach[legal // CELLS].any(axis=1)], reach, opening.reach_after[-1],
            opening.own_paths[-1].cells, compatible, opening.leaf_rows, self.types,
        )  # fmt: skip

    def find_best_play(self) -> Array:
        """Return the responder's reach of its last paths if it follows the upper bounds."""
        opening = self.opening
        if opening.moves_second:
            first = np.zeros((CELLS, CELLS))
            first.flat[np.argmax(opening.first_values[:FOLDED_CELLS])] = 1.0
        else:
            first = np.ones((1, 1))
        return opening.propagate_responder(first)[-1]

    def run_trials(self, trials: int, starts: int) -> None:
        """Make the upper bounds current along the best play, then run trials from its widest gaps."""
        value = self.opening.back_up(self.high, PURE)
        while True:
            reach = self.find_best_play()
            self._tighten_high(reach)
            last_value, value = value, self.opening.back_up(self.high, PURE)
            if last_value - value < 1e-7:
                break
        self.tighten_low(reach)
        legal, _, own_reach, cells, compatible, rows, types = self._get_leaves(reach)
        gaps = (self.high - self.low)[legal] * (reach[legal // CELLS] > 0)
        leaves, paths = np.unravel_index(np.argsort(-gaps, axis=None, kind="stable")[:starts], gaps.shape)
        beliefs = np.zeros((len(leaves), MAX_STATES))
        for belief, leaf, path in zip(beliefs, legal[leaves], paths, strict=True):
            fill_belief(own_reach[leaf], cells, compatible[path], belief)
        nodes = rows[legal[leaves]] * TYPES + types[paths]
        self.upper.problem = self.problem._replace(start_nodes=nodes, start_beliefs=beliefs)
        self.upper.run_trials(trials, self.responder)


@fast
def tighten_high(
    legal: Array, reach: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array,
    problem: ResponderProblem, bounds: UpperBounds, best_actions: Array, high: Array,
) -> None:  # fmt: skip
    """Lower the upper bounds at the leaves that the responder reaches."""
    belief = np.zeros(MAX_STATES)
    for history in legal:
        for path in range(len(types)):
            if types[path] % CELLS == history % CELLS:
                high[history, path] = 0.0  # the strategy has just observed the responder
            elif reach[history // CELLS, path] > 0.0:
                fill_belief(own_reach[history], cells, compatible[path], belief)
                node = rows[history] * TYPES + types[path]
                value = bound_node(node, belief, problem, bounds, best_actions)
                high[history, path] = min(high[history, path], value)


@fast
def tighten_low(
    legal: Array, reach: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array,
    problem: ResponderProblem, vectors: AlphaVectors, low: Array,
) -> None:  # fmt: skip
    """Raise the lower bounds at the leaves that the responder reaches."""
    belief = np.zeros(MAX_STATES)
    choice = np.zeros(2, np.int64)
    for history in legal:
        for path in range(len(types)):
            if types[path] % CELLS != history % CELLS and reach[history // CELLS, path] > 0.0:
                fill_belief(own_reach[history], cells, compatible[path], belief)
                node = rows[history] * TYPES + types[path]
                value = choose_action(node, belief, problem, vectors, choice)
                low[history, path] = max(low[history, path], value)
