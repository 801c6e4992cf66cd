"""The value of each of the strategy's actions against a responder, from which the strategy learns."""
# mypy: disable-error-code="no-untyped-call"

from typing import NamedTuple

import numpy as np

from duels.games.hunt.certify.controller import AlphaVectors, Controller, apply_strategy, fast
from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import ResponderProblem


class ActionGains(NamedTuple):
    """The values of the strategy's actions. A value is the responder's loss times the reach."""

    move_values: Array
    """Values of transitions, indexed [kernel, state, new state]."""
    move_reach: Array
    """Reach of states before the transition, indexed [kernel, state]."""
    observation_values: Array
    """Values of observations, indexed [kernel, state, observation]."""
    observation_reach: Array
    """Reach of states after the transition, indexed [kernel, state]."""


class GradingController(Controller):
    """A controller that adds up the values of the strategy's actions whenever it plays."""

    def __init__(self, problem: ResponderProblem, max_vectors: int) -> None:
        super().__init__(problem, max_vectors)
        kernels, observations, state_count = problem.observation_probs.shape
        self.gains = ActionGains(
            move_values=np.zeros((kernels, state_count, state_count)),
            move_reach=np.zeros((kernels, state_count)),
            observation_values=np.zeros((kernels, state_count, observations)),
            observation_reach=np.zeros((kernels, state_count)),
        )

    def play(self, roots: Array, root_beliefs: Array, rounds: int = 14) -> None:
        super().play(roots, root_beliefs, rounds)
        add_gains(self.problem, self.vectors, self.reach, self.gains)


@fast
def add_gains(problem: ResponderProblem, vectors: AlphaVectors, reach: Array, gains: ActionGains) -> None:
    """Add the values of the strategy's actions at every vector that play reached."""
    state_count, observation_count = len(problem.states), problem.observation_probs.shape[1]
    next_belief = np.zeros(state_count)
    losses = np.zeros((observation_count, state_count))
    for i in range(vectors.size[0]):
        belief = reach[i]
        if belief.sum() == 0.0:
            continue
        afterstate = vectors.afterstates[i]
        kernel = problem.kernels[afterstate]
        apply_strategy(afterstate, belief, problem, next_belief)
        find_losses(i, problem, vectors, losses)
        for z in range(state_count):
            expected_loss = 0.0
            gains.observation_reach[kernel, z] += next_belief[z]
            for observation in range(observation_count):
                loss = losses[observation, z]
                gains.observation_values[kernel, z, observation] += next_belief[z] * loss
                expected_loss += problem.observation_probs[kernel, observation, z] * loss
            if not problem.collision_masks[afterstate] >> z & 1:
                for x in range(state_count):
                    gains.move_values[kernel, x, z] += belief[x] * expected_loss
        for x in range(state_count):
            gains.move_reach[kernel, x] += belief[x]


@fast
def find_losses(i: int, problem: ResponderProblem, vectors: AlphaVectors, losses: Array) -> None:
    """Fill in the responder's chance to lose after each observation at vector `i`, by the new state."""
    losses[:] = 1.0
    for observation in range(problem.observation_probs.shape[1]):
        action, k = vectors.actions[i, observation], vectors.successors[i, observation]
        if problem.next_nodes[vectors.afterstates[i], observation] < 0 or action < 0:
            continue
        for z in range(len(problem.states)):
            if problem.win_masks[action] >> z & 1:
                losses[observation, z] = 0.0
            elif problem.continue_masks[action] >> z & 1:
                x = problem.mirror[z] if problem.is_mirrored[action] else z
                losses[observation, z] = 1.0 - vectors.values[k, x]
