"""Bounds on the best response to a memoryless agent. Needs numpy and numba.

Such an agent is a memory policy that remembers only the last observations. If it tunnels, it has too many
hidden states for an upper bound. Then the responder is informed when the agent tunnels: more information
never hurts, so an upper bound for the informed responder is valid for any responder.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
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
from duels.games.hunt.certify.pomdp import Effort, bounds, find_lower_bound
from duels.games.hunt.certify.responder_problem import HiddenStrategy, make_problem
from duels.games.hunt.rules import Action, View
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress

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
    for step in bounds(problem if without_tunnel else make_informed_problem(policy, seat), effort):
        progress(
            f"best responder against {seat.label}: at most {step.bounds.high:.1%} "
            f"({step.done:.0%}, {step.stage})"
        )
    tightest = step.bounds
    # Without a discount, the responder may postpone a sure win for ever. A discounted value can also be won
    # without the discount, so it is a lower bound too.
    discounted_low = find_lower_bound(replace(problem, signals=problem.signals * DISCOUNT), effort)
    undiscounted_low = tightest.low if without_tunnel else find_lower_bound(problem, effort)
    return Bounds(max(undiscounted_low, discounted_low), tightest.high)


def make_informed_problem(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """Return the POMDP of a responder that is informed when the policy tunnels.

    Places and nodes come in four blocks: the policy decides whether to tunnel; it acts with its tunnel
    spent; it acts and keeps its tunnel; it tunnels and acts.
    """
    cells, off_grid_index = policy.own.cells, policy.own.cells
    tunnel_left, tunnel_spent = slice(cells, None), slice(None, cells)
    plain = make_problem(keep_tunnel_types(policy), seat)
    rows, hidden = len(plain.moves), plain.states
    tunnel_moves, spent_moves = np.zeros_like(plain.moves), np.zeros_like(plain.moves)
    tunnel_moves[:, : off_grid_index + 1, :cells] = policy.moves[:, tunnel_left, tunnel_spent]
    spent_moves[:, :cells, :cells] = policy.moves[:, tunnel_spent, tunnel_spent]
    spent_signals = np.zeros_like(plain.signals)
    spent_signals[:, :, :cells] = policy.observation_probs[:, tunnel_spent].transpose(0, 2, 1)
    choice = np.zeros_like(plain.signals)
    choice[:, 0], choice[:, 1] = plain.moves.sum(axis=2), tunnel_moves.sum(axis=2)
    identity = np.broadcast_to(np.eye(hidden), plain.moves.shape)

    nodes = len(plain.kernel)
    node_indices = np.arange(nodes)
    choice_nodes = np.full_like(plain.next_nodes, -1)
    choice_nodes[:, 0], choice_nodes[:, 1] = node_indices + 2 * nodes, node_indices + 3 * nodes
    spent_nodes = np.where(plain.next_nodes < 0, -1, plain.next_nodes + nodes)
    no_states, all_states = np.zeros(2 * nodes, np.int64), np.full(2 * nodes, (1 << hidden) - 1)
    options = len(plain.win_masks)
    start = plain.start
    if seat is Seat.ONE:
        start += tuple(
            (node + nodes, tuple(tunnel_moves[0, off_grid_index] * signal))
            for (node, _), signal in zip(plain.start, spent_signals[0], strict=True)
        )
    return HiddenStrategy(
        np.concatenate(
            [plain.first_option, options + plain.first_option[1:], 2 * options + 1 + np.arange(2 * nodes)]
        ),
        np.concatenate([plain.win_masks, plain.win_masks, no_states]),
        np.concatenate([plain.continue_masks, plain.continue_masks, all_states]),
        np.concatenate(
            [plain.next_places, plain.next_places + nodes, node_indices + 2 * nodes, node_indices + 3 * nodes]
        ),
        np.concatenate([plain.kernel + block * rows for block in range(4)]),
        np.concatenate([np.zeros_like(plain.caught_masks), *[plain.caught_masks] * 3]),
        np.concatenate([plain.support] * 4),
        np.concatenate([choice_nodes, spent_nodes, plain.next_nodes, spent_nodes]),
        np.concatenate([identity, spent_moves, normalize(plain.moves), normalize(tunnel_moves)]),
        np.concatenate([choice, spent_signals, plain.signals, spent_signals]),
        start,
    )
