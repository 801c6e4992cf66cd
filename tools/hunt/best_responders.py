"""The second part of training: a strategy learns against its best responders.

The responder is a controller that responds to the current strategy. Actions that did better against the
latest responders get more weight. The computation is deterministic.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import MAX_STATES, ResponderProblem
from tools.hunt.gains import ActionGains, GradingController
from tools.hunt.mirror_descent import descend

DISCOUNT = 0.9
"""Discount of earlier responders after each round."""
MAX_NEW_VECTORS = 60_000
"""Vectors that the responder may add, beyond one per afterstate, before unused vectors are dropped."""
OPENING_TEMPERATURE = 0.004
"""The scale of the loss up to which some responders still take a first action."""


@dataclass(frozen=True)
class Stage:
    rounds: int
    step: float
    temperature: float


@dataclass
class Strategy:
    """A mirror-symmetric strategy. Probabilities are indexed [memory row, state, new state or cell]."""

    move_probs: Array
    observation_probs: Array
    can_move: Array
    can_observe: Array
    mirrored_rows: Array
    """The mirror image of each row. States are counted from the other end, except the last one."""

    def mirror_states(self, values: Array) -> Array:
        """Return values indexed [row, old state, ...] at the mirrored rows and states."""
        cells = self.observation_probs.shape[1]
        return values[self.mirrored_rows][:, [*range(cells - 1, -1, -1), cells]]

    def write_to(self, problem: ResponderProblem) -> None:
        """Write the strategy into the responder's problem."""
        cells = self.observation_probs.shape[1]
        problem.transition_probs[:, : cells + 1, :cells] = self.move_probs
        problem.observation_probs[:, :, :cells] = self.observation_probs.transpose(0, 2, 1)

    def symmetrize(self) -> None:
        """Make the strategy exactly mirror-symmetric."""
        self.move_probs = (self.move_probs + self.mirror_states(self.move_probs)[:, :, ::-1]) / 2
        mirrored_probs = self.observation_probs[self.mirrored_rows][:, ::-1, ::-1]
        self.observation_probs = (self.observation_probs + mirrored_probs) / 2

    def learn(self, gains: ActionGains, stage: Stage) -> None:
        cells = self.observation_probs.shape[1]
        values, reach = gains.move_values[:, : cells + 1, :cells], gains.move_reach[:, : cells + 1]
        descend(
            self.move_probs, self.can_move,
            values + self.mirror_states(values)[:, :, ::-1], reach + self.mirror_states(reach),
            stage.step, stage.temperature,
        )  # fmt: skip
        values, reach = gains.observation_values[:, :cells], gains.observation_reach[:, :cells]
        descend(
            self.observation_probs, self.can_observe,
            values + values[self.mirrored_rows][:, ::-1, ::-1], reach + reach[self.mirrored_rows][:, ::-1],
            stage.step, stage.temperature,
        )  # fmt: skip


class Responder(GradingController):
    """The best responder so far, updated while the strategy changes."""

    def __init__(self, problem: ResponderProblem, opening: int | None) -> None:
        super().__init__(problem, 150_000)
        self.opening = opening
        self.recent_reach = np.zeros(len(self.reach))
        self.win_probability = 0.0

    def find_opening(self) -> tuple[Array, Array]:
        """Return the first vectors and beliefs: the strategy's opening, or nearly best first actions."""
        problem, belief = self.problem, self.problem.start_beliefs[0]
        first_vector, values = self.vectors.first_vector, self.vectors.values
        if self.opening is not None:
            root = first_vector[self.opening]
            belief = (problem.support[self.opening] >> np.arange(MAX_STATES) & 1).astype(float)
            self.win_probability = float((values[root] * belief).sum())
            return np.array([root]), belief[None]
        node = problem.start_nodes[0]
        roots = first_vector[problem.afterstates[problem.first_action[node] : problem.first_action[node + 1]]]
        root_values = values[roots] @ belief
        self.win_probability = float(root_values.max())
        weights = np.exp((root_values - root_values.max()) / OPENING_TEMPERATURE)
        return roots, (weights / weights.sum())[:, None] * belief

    def respond(self, round_number: int) -> None:
        """Respond to the current strategy and propagate play. Every fifth round backs up all vectors."""
        self.iterate(1, -1.0 if round_number % 5 == 0 else 1e-7)
        for gain in self.gains:
            gain *= DISCOUNT
        self.play(*self.find_opening())
        count = self.vector_count
        self.recent_reach[:count] = DISCOUNT * self.recent_reach[:count] + self.reach[:count].sum(axis=1)

    def refine(self) -> None:
        if self.vector_count > self.initial_count + MAX_NEW_VECTORS:
            self.drop_vectors(self.recent_reach[: self.vector_count] > 3e-6)
        self.grow(min_reach=1e-4, min_branch_reach=2.5e-3, gain=7e-4)

    def drop_vectors(self, in_use: Array) -> None:
        """Drop vectors that are not in use, except one per afterstate."""
        vectors = self.vectors
        in_use[: self.initial_count] = True
        old_indices = np.nonzero(in_use)[0]
        count = len(old_indices)
        initial_vectors = np.full(len(vectors.first_vector), -1)
        initial_vectors[vectors.afterstates[: self.initial_count]] = np.arange(self.initial_count)
        new_indices = np.where(
            in_use, np.cumsum(in_use) - 1, initial_vectors[vectors.afterstates[: len(in_use)]]
        )
        for values in (
            vectors.afterstates, vectors.beliefs, vectors.values, vectors.actions,
            self.recent_reach, self.reach,
        ):  # fmt: skip
            values[:count] = values[old_indices]
        self.recent_reach[count:], self.reach[count:] = 0.0, 0.0
        successors = vectors.successors[old_indices]
        vectors.successors[:count] = np.where(successors >= 0, new_indices[successors], -1)
        vectors.first_vector[:] = -1
        for i in range(count):
            vectors.next_vector[i] = vectors.first_vector[vectors.afterstates[i]]
            vectors.first_vector[vectors.afterstates[i]] = i
        vectors.size[0] = count


def improve(
    strategy: Strategy,
    problem: ResponderProblem,
    opening: int | None,
    stages: tuple[Stage, ...],
) -> Iterator[tuple[float, float]]:
    """Improve `strategy` in place. Yield the share of the work done and the responder's win probability.

    `problem` is the responder's problem with merged mirror images, into which the strategy is written.
    `opening` is the afterstate at which the strategy acts before the responder's first turn, if any.
    """
    strategy.symmetrize()
    strategy.write_to(problem)
    responder = Responder(problem, opening)
    responder.iterate()
    for _ in range(3):
        responder.play(*responder.find_opening())
        responder.grow()
        responder.iterate(2)
    total_rounds = sum(stage.rounds for stage in stages)
    finished_rounds = 0
    for stage in stages:
        for round_number in range(stage.rounds):
            responder.respond(round_number)
            strategy.learn(responder.gains, stage)
            strategy.write_to(problem)
            if round_number % 4 == 0:
                responder.refine()
            if round_number % 10 == 0:
                yield finished_rounds / total_rounds, responder.win_probability
            finished_rounds += 1
    strategy.symmetrize()
