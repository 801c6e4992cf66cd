"""What the best opponent wins against a memoryless agent.

Such an agent is a memory policy: it knows the cells named last and no more. Of one that tunnels more is
hidden than can be bounded from above, so there the responder is told of the tunnel as it is used. To know
more never costs it anything: what it wins at most then, it wins at most without being told. Needs numpy and
numba.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from duels.core.errors import DuelsError
from duels.core.rules import Seat, Sight
from duels.core.validation import ANSWER_TOLERANCE
from duels.games.hunt.certify.policies import MemoryPolicy, keeping_the_tunnel, normalized, policy_of_weights
from duels.games.hunt.certify.pomdp import Effort, at_least, bounds
from duels.games.hunt.certify.responder_problem import HiddenStrategy, problem_of
from duels.games.hunt.rules import Action, Known
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, no_progress

Odds = Callable[[Sight[Action, Known]], Sequence[float]]
"""From what a seat knows to the probability of each of its actions."""
EFFORT = Effort(sweeps=14, trials=6000, depth=6)
HURRY = 0.999
"""The chance that a hurried responder may go on after a turn."""


class Glance(Sight[Action, Known]):
    """What a seat has before its eyes, without what has been; whoever asks for that is refused."""

    def __init__(self, view: Known, actions: Sequence[Action]) -> None:
        for name, value in {"seat": view.seat, "view": view, "actor": view.seat, "actions": actions}.items():
            object.__setattr__(self, name, value)

    def _refuse(self) -> NoReturn:
        raise DuelsError(
            "This policy looks at the past: at sight.events or sight.history, as an agent with memory= does. "
            "On the whole of hunt only policies of sight.view and sight.actions can be measured, others in "
            "forms small enough to be searched, such as cells=2, max_turns=3."
        )

    events = property(_refuse)
    history = property(_refuse)


def policy_of_agent(odds: Odds, seat: Seat, cells: int) -> MemoryPolicy:
    """The agent as tables; one that does not answer as before when it is asked again, later, is refused."""
    answers: dict[tuple[Known, Sequence[Action]], list[float]] = {}

    def weigh(view: Known, actions: Sequence[Action]) -> list[float]:
        answers[view, actions] = list(odds(Glance(view, actions)))
        return answers[view, actions]

    policy = policy_of_weights(weigh, seat, cells)
    for (view, actions), answer in reversed(answers.items()):
        again = odds(Glance(view, actions))
        if any(abs(now - then) > ANSWER_TOLERANCE for now, then in zip(again, answer, strict=True)):
            raise DuelsError(
                f"This policy gives different answers at {view}: it has to give the probabilities of its "
                "actions instead of drawing one, and to remember nothing."
            )
    return policy


def responder_bounds(
    policy: MemoryPolicy, seat: Seat, effort: Effort = EFFORT, progress: Progress = no_progress
) -> Bounds:
    """Bounds on the best responder against `seat`'s policy."""
    kept = keeping_the_tunnel(policy)
    problem = problem_of(kept or policy, seat)
    for step in bounds(problem if kept else told_of_the_tunnel(policy, seat), effort):
        progress(
            f"best responder against {seat.label}: at most {step.bounds.high:.1%} "
            f"({step.done:.0%}, {step.stage})"
        )
    found = step.bounds
    # A responder that loses nothing by waiting may put off for ever what it is sure to win; what one wins
    # who loses a little by waiting can be won without that too.
    hurried = at_least(replace(problem, signals=problem.signals * HURRY), effort)
    patient = found.low if kept else at_least(problem, effort)
    return Bounds(max(patient, hurried), found.high)


def told_of_the_tunnel(policy: MemoryPolicy, seat: Seat) -> HiddenStrategy:
    """The problem of a responder that hears of the policy's tunnel, as it is used, before anything else.

    Places, and the responder's nodes, come in four blocks: the policy decides whether to tunnel; it acts with
    its tunnel spent; it keeps its tunnel and acts; it tunnels and acts.
    """
    cells, off = policy.own.cells, policy.own.cells
    left, spent = slice(cells, None), slice(None, cells)
    kept = replace(
        policy, cell=policy.cell[left], moves=policy.moves[:, left, left], names=policy.names[:, left]
    )
    plain = problem_of(kept, seat)
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
    decided = np.full_like(plain.then, -1)
    decided[:, 0], decided[:, 1] = numbers + 2 * nodes, numbers + 3 * nodes
    with_it_spent = np.where(plain.then < 0, -1, plain.then + nodes)
    nothing, everywhere = np.zeros(2 * nodes, np.int64), np.full(2 * nodes, (1 << hidden) - 1)
    options = len(plain.wins)
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
        np.concatenate([plain.wins, plain.wins, nothing]),
        np.concatenate([plain.stays, plain.stays, everywhere]),
        np.concatenate([plain.goes, plain.goes + nodes, numbers + 2 * nodes, numbers + 3 * nodes]),
        np.concatenate([plain.kernel + block * rows for block in range(4)]),
        np.concatenate([np.zeros_like(plain.caught), *[plain.caught] * 3]),
        np.concatenate([plain.support] * 4),
        np.concatenate([decided, with_it_spent, plain.then, with_it_spent]),
        np.concatenate([still, after, normalized(plain.moves), normalized(tunnels)]),
        np.concatenate([choice, named, plain.signals, named]),
        start,
    )
