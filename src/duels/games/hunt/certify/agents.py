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
from duels.games.hunt.certify.policies import MemoryPolicy, drop_tunnel, make_policy_from_function, normalize
from duels.games.hunt.certify.pomdp import Effort, bounds, find_lower_bound
from duels.games.hunt.certify.responder_problem import HiddenStrategy, make_problem
from duels.games.hunt.rules import Action, View
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress

Odds = Callable[[Sight[Action, View]], Sequence[float]]
"""A function from a sight to the probabilities of its actions."""
EFFORT = Effort(sweeps=14, trials=6000, depth=6)
DISCOUNT = 0.999
"""The discount per turn for an impatient responder."""


class MemorylessSight(Sight[Action, View]):
    """A sight without the past: its events and history raise DuelsError."""

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
        again = odds(MemorylessSight(view, actions))
        if any(abs(now - before) > ANSWER_TOLERANCE for now, before in zip(again, answer, strict=True)):
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
    impatient = find_lower_bound(replace(problem, signals=problem.signals * DISCOUNT), effort)
    patient = tightest.low if without_tunnel else find_lower_bound(problem, effort)
    return Bounds(max(patient, impatient), tightest.high)


def make_informed_problem(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """Return the POMDP of a responder that is informed when the policy tunnels.

    Places and nodes come in four blocks: the policy decides whether to tunnel; it acts with its tunnel
    spent; it acts and keeps its tunnel; it tunnels and acts.
    """
    cells, off = policy.own.cells, policy.own.cells
    left, spent = slice(cells, None), slice(None, cells)
    never_tunnelling = replace(
        policy, cell=policy.cell[left], moves=policy.moves[:, left, left], names=policy.names[:, left]
    )
    plain = make_problem(never_tunnelling, seat)
    rows, hidden = len(plain.moves), plain.states
    tunnels, after = np.zeros_like(plain.moves), np.zeros_like(plain.moves)
    tunnels[:, : off + 1, :cells] = policy.moves[:, left, spent]
    after[:, :cells, :cells] = policy.moves[:, spent, spent]
    named = np.zeros_like(plain.signals)
    named[:, :, :cells] = policy.names[:, spent].transpose(0, 2, 1)
    choice = np.zeros_like(plain.signals)
    choice[:, 0], choice[:, 1] = plain.moves.sum(axis=2), tunnels.sum(axis=2)
    still = np.broadcast_to(np.eye(hidden), plain.moves.shape)

    nodes = len(plain.kernel)
    numbers = np.arange(nodes)
    choice_nodes = np.full_like(plain.next_nodes, -1)
    choice_nodes[:, 0], choice_nodes[:, 1] = numbers + 2 * nodes, numbers + 3 * nodes
    spent_nodes = np.where(plain.next_nodes < 0, -1, plain.next_nodes + nodes)
    nothing, everywhere = np.zeros(2 * nodes, np.int64), np.full(2 * nodes, (1 << hidden) - 1)
    options = len(plain.win_masks)
    start = plain.start
    if seat is Seat.ONE:
        start += tuple(
            (node + nodes, tuple(tunnels[0, off] * signal))
            for (node, _), signal in zip(plain.start, named[0], strict=True)
        )
    return HiddenStrategy(
        np.concatenate(
            [plain.first_option, options + plain.first_option[1:], 2 * options + 1 + np.arange(2 * nodes)]
        ),
        np.concatenate([plain.win_masks, plain.win_masks, nothing]),
        np.concatenate([plain.continue_masks, plain.continue_masks, everywhere]),
        np.concatenate(
            [plain.next_places, plain.next_places + nodes, numbers + 2 * nodes, numbers + 3 * nodes]
        ),
        np.concatenate([plain.kernel + block * rows for block in range(4)]),
        np.concatenate([np.zeros_like(plain.caught_masks), *[plain.caught_masks] * 3]),
        np.concatenate([plain.support] * 4),
        np.concatenate([choice_nodes, spent_nodes, plain.next_nodes, spent_nodes]),
        np.concatenate([still, after, normalize(plain.moves), normalize(tunnels)]),
        np.concatenate([choice, named, plain.signals, named]),
        start,
    )
