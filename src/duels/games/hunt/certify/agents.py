"""Bounds on the best response to a memoryless agent. Needs numpy and numba.

Such an agent is a memory policy that remembers only the last observations. If it tunnels, it has too many
hidden states for an upper bound. Then the responder is informed when the agent tunnels: more information
never hurts, so an upper bound for the informed responder is valid for any responder.
"""

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.core.validation import ANSWER_TOLERANCE
from duels.games.hunt.certify.policies import (
    MemoryPolicy,
    drop_tunnel,
    keep_tunnel_types,
    make_policy_from_function,
    normalize,
)
from duels.games.hunt.certify.pomdp import Effort, find_lower_bound, tighten_bounds
from duels.games.hunt.certify.responder_problem import ResponderProblem, make_problem
from duels.games.hunt.rules import Action, View
from duels.solving.oracle import Bounds, Progress, no_progress

Odds = Callable[[Sight[Action, View]], Sequence[float]]
"""A policy: maps a sight to the probabilities of its actions."""
EFFORT = Effort(sweeps=14, trials=6000, depth=6)
DISCOUNT = 0.999
"""The discount per turn for the second lower bound."""


class MemorylessSight(Sight[Action, View]):
    """A sight without memory: its events and history raise DuelsError."""

    def __init__(self, view: View, actions: Sequence[Action]) -> None:
        for name, value in {"seat": view.seat, "view": view, "actor": view.seat, "actions": actions}.items():
            object.__setattr__(self, name, value)

    def _refuse(self) -> NoReturn:
        raise DuelsError(
            "This policy reads sight.events or sight.history, as an agent with memory= does. "
            "In the full game of hunt, only policies of sight.view and sight.actions can be measured. "
            "Measure others in a form small enough to search, such as cells=2, max_turns=3."
        )

    events = property(_refuse)
    history = property(_refuse)


def make_policy_from_agent(odds: Odds, seat: Seat, cells: int) -> MemoryPolicy:
    """Return the agent as a policy. Raises DuelsError if it gives different answers to the same question."""
    answers: dict[tuple[View, Sequence[Action]], list[float]] = {}

    def weigh_actions(view: View, actions: Sequence[Action]) -> list[float]:
        answers[view, actions] = list(odds(MemorylessSight(view, actions)))
        return answers[view, actions]

    policy = make_policy_from_function(weigh_actions, seat, cells)
    for (view, actions), answer in reversed(answers.items()):
        repeated = odds(MemorylessSight(view, actions))
        if any(abs(new - old) > ANSWER_TOLERANCE for new, old in zip(repeated, answer, strict=True)):
            raise DuelsError(
                f"This policy gives different answers at {view}. It must return the probabilities of its "
                "actions instead of drawing one, and it must not remember anything."
            )
    return policy


def bound_responder(
    policy: MemoryPolicy, seat: Seat, effort: Effort = EFFORT, progress: Progress = no_progress
) -> Bounds:
    """Return bounds on the best response to `seat`'s policy."""
    without_tunnel = drop_tunnel(policy)
    problem = make_problem(without_tunnel or policy, seat)
    for step in tighten_bounds(problem if without_tunnel else make_informed_problem(policy, seat), effort):
        progress(
            f"best responder against {seat.label}: at most {step.bounds.high:.1%} "
            f"({step.finished_share:.0%}, {step.stage})"
        )
    tightest = step.bounds
    # Without a discount, the responder may postpone a sure win for ever. A discounted value can also be won
    # without the discount, so it is a lower bound too.
    discounted = problem._replace(observation_probs=problem.observation_probs * DISCOUNT)
    discounted_low = find_lower_bound(discounted, effort)
    undiscounted_low = tightest.low if without_tunnel else find_lower_bound(problem, effort)
    return Bounds(max(undiscounted_low, discounted_low), tightest.high)


def make_informed_problem(policy: MemoryPolicy, seat: Seat) -> ResponderProblem:
    """Return the POMDP of a responder that is informed when the policy tunnels.

    Afterstates and nodes come in four blocks: the policy decides whether to tunnel; it acts with its tunnel
    spent; it acts and keeps its tunnel; it tunnels and acts.
    """
    cells, off_grid = policy.own_memory.cells, policy.own_memory.cells
    tunnel_left, tunnel_spent = slice(cells, None), slice(None, cells)
    plain = make_problem(keep_tunnel_types(policy), seat)
    tunnel_probs, spent_probs = np.zeros_like(plain.transition_probs), np.zeros_like(plain.transition_probs)
    tunnel_probs[:, : off_grid + 1, :cells] = policy.move_probs[:, tunnel_left, tunnel_spent]
    spent_probs[:, :cells, :cells] = policy.move_probs[:, tunnel_spent, tunnel_spent]
    spent_observation_probs = np.zeros_like(plain.observation_probs)
    spent_observation_probs[:, :, :cells] = policy.observation_probs[:, tunnel_spent].transpose(0, 2, 1)
    choice_probs = np.zeros_like(plain.observation_probs)
    choice_probs[:, 0], choice_probs[:, 1] = plain.transition_probs.sum(axis=2), tunnel_probs.sum(axis=2)
    identity = np.broadcast_to(np.eye(len(plain.states)), plain.transition_probs.shape)

    block = len(plain.kernels)
    keeping_nodes, tunnelling_nodes = np.arange(2 * block, 3 * block), np.arange(3 * block, 4 * block)
    choice_nodes = np.full_like(plain.next_nodes, -1)
    choice_nodes[:, 0], choice_nodes[:, 1] = keeping_nodes, tunnelling_nodes
    spent_nodes = np.where(plain.next_nodes < 0, -1, plain.next_nodes + block)
    # A node at which the responder is informed has one action, which changes nothing.
    no_states, all_states = np.zeros(2 * block, np.int64), np.full(2 * block, (1 << len(plain.states)) - 1)
    first_action, actions = plain.first_action, len(plain.win_masks)
    start_nodes, start_beliefs = plain.start_nodes, plain.start_beliefs
    if seat is Seat.ONE:
        start_nodes = np.concatenate([start_nodes, start_nodes + block])
        start_beliefs = np.concatenate(
            [start_beliefs, tunnel_probs[0, off_grid] * spent_observation_probs[0]]
        )
    return plain._replace(
        first_action=np.concatenate(
            [first_action, actions + first_action[1:], 2 * actions + 1 + np.arange(2 * block)]
        ),
        win_masks=np.concatenate([plain.win_masks, plain.win_masks, no_states]),
        continue_masks=np.concatenate([plain.continue_masks, plain.continue_masks, all_states]),
        afterstates=np.concatenate(
            [plain.afterstates, plain.afterstates + block, keeping_nodes, tunnelling_nodes]
        ),
        is_mirrored=np.zeros(2 * actions + 2 * block, np.bool_),
        kernels=np.concatenate([plain.kernels + i * len(plain.transition_probs) for i in range(4)]),
        collision_masks=np.concatenate([np.zeros_like(plain.collision_masks), *[plain.collision_masks] * 3]),
        support=np.concatenate([plain.support] * 4),
        next_nodes=np.concatenate([choice_nodes, spent_nodes, plain.next_nodes, spent_nodes]),
        transition_probs=np.concatenate(
            [identity, spent_probs, normalize(plain.transition_probs), normalize(tunnel_probs)]
        ),
        observation_probs=np.concatenate(
            [choice_probs, spent_observation_probs, plain.observation_probs, spent_observation_probs]
        ),
        start_nodes=start_nodes,
        start_beliefs=start_beliefs,
    )
