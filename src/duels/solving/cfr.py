"""An equilibrium of a game with secrets, found in its sequence form by discounted regret minimisation.

A sequence is all that one seat has done on the way to a history. The two seats' sequences meet only where
the game ends, so an iteration walks through the endings and each seat's own decisions, not the whole tree.

The method is Discounted CFR with the recommended discounts (N. Brown, T. Sandholm: Solving
Imperfect-Information Games via Discounted Regret Minimization, 2019). The next regrets are guessed to be like
the last ones (G. Farina, C. Kroer, T. Sandholm: Faster Game Solving via Predictive Blackwell Approachability,
2021). How good the pair is that comes out is not taken from any theorem, but computed.

The sequence form also gives the best answer to any policy, which is asked once a decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.solving import best_response
from duels.solving.progress import Progress, no_progress
from duels.solving.tree import NodeMatches, Tree

TARGET = 0.0002
"""The NashConv at which to stop: what both seats together could gain by other play, as a chance to win."""
MAX_VISITS = 50_000_000
"""Iterations end when they have gone through so many histories, whatever the NashConv is then."""
MAX_ITERATIONS = 2000
CHECK_EVERY = 20
"""Iterations from one look at the NashConv to the next."""
STRAY = 10.0
"""In iteration t a seat does just anything with a chance of STRAY / t², at most one half.

So every decision is met, and what nobody should do is answered well; on average it costs next to nothing.
"""
GUESS = 0.5
"""How much the guess counts: with 0, seats that mix circle for long; with 1, large games are slow."""
RARE = 0.01
"""What is done less often than this was left by the iterations: it is dropped where that costs nothing."""

Policy = dict[int, tuple[float, ...]]
"""From the number of what a seat has seen (see `tree`) to the probability of each of its actions."""


@dataclass(frozen=True)
class Equilibrium:
    """A policy for each seat, and what the best answer to it wins."""

    policy: dict[Seat, Policy]
    answers: dict[Seat, float]
    """What each seat would win with the best answer to the other's policy."""
    iterations: int

    @property
    def nash_conv(self) -> float:
        """What both seats together could gain: 0 in an equilibrium."""
        return sum(self.answers.values()) - 1


class SequenceForm:
    """One seat's part of a game in sequence form; sequence 0 is to have done nothing yet."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.sequences = 1
        self.decisions: list[tuple[int, int, int]] = []
        """The sequence that leads to each decision, and the first and the end of those that it leads to."""
        self.memories: list[int] = []
        """What the seat has seen there."""
        self.nodes: list[int] = []
        """One of the histories with which it is at each decision."""
        self.endings: list[tuple[int, Sequence[int], Sequence[float]]] = []
        """A sequence, the other's sequences with which the game may end, and what each such end is worth."""

    def plan(self, policy: Sequence[float]) -> list[float]:
        """The probability of doing all of each sequence, given that of the last step of each."""
        plan = [1.0] * self.sequences
        for before, first, end in self.decisions:
            so_far = plan[before]
            plan[first:end] = [so_far * step for step in policy[first:end]]
        return plan

    def gains(self, others: Sequence[float]) -> list[float]:
        """What each sequence brings where the game ends with it, against the other's plan."""
        gains = [0.0] * self.sequences
        find = others.__getitem__
        for sequence, met, worths in self.endings:
            gains[sequence] = sum(map(mul, worths, map(find, met)))
        return gains

    def best_plan(self, others: Sequence[float]) -> tuple[float, list[int]]:
        """What the best plan wins against the other's, and which action it takes at each decision, from 0."""
        gains, taken = self.gains(others), []
        for before, first, end in reversed(self.decisions):
            best = max(gains[first:end])
            gains[before] += best
            taken.append(gains.index(best, first) - first)
        return gains[0], taken[::-1]


def build_sequence_forms(tree: Tree) -> dict[Seat, SequenceForm]:
    """The sequence form of a game; DuelsError if a seat forgets what it did."""
    sides = {seat: SequenceForm(seat) for seat in Seat}
    decision: dict[Seat, dict[int, tuple[int, int, int]]] = {seat: {} for seat in Seat}
    ends: dict[Seat, dict[int, dict[int, float]]] = {seat: {} for seat in Seat}
    done = {seat: [0] * len(tree) for seat in Seat}
    chance = [1.0] * len(tree)
    for node, actor in enumerate(tree.actor):
        children = tree.children[node]
        one, two = done[Seat.ONE][node], done[Seat.TWO][node]
        if actor is None:
            score = tree.score[node]
            _add(ends[Seat.ONE], one, two, chance[node] * score)
            _add(ends[Seat.TWO], two, one, chance[node] * (1 - score))
            continue
        span = slice(children.start, children.stop)
        chance[span] = [chance[node]] * len(children)
        done[Seat.ONE][span], done[Seat.TWO][span] = [one] * len(children), [two] * len(children)
        if actor is CHANCE:
            chance[span] = [chance[node] * odds for odds in tree.odds[node]]
        elif isinstance(actor, Seat):
            side, memory, before = sides[actor], tree.memory[actor][node], done[actor][node]
            if memory not in decision[actor]:
                decision[actor][memory] = (before, side.sequences, side.sequences + len(children))
                side.decisions.append(decision[actor][memory])
                side.memories.append(memory)
                side.nodes.append(node)
                side.sequences += len(children)
            known, first, end = decision[actor][memory]
            if known != before or end - first != len(children):
                raise DuelsError(
                    f"{actor.label} is not shown what it has done: such a game cannot be solved."
                )
            done[actor][span] = range(first, end)
    for seat, side in sides.items():
        side.endings = [(done, tuple(met), tuple(met.values())) for done, met in ends[seat].items()]
    return sides


def _add(ends: dict[int, dict[int, float]], own: int, others: int, worth: float) -> None:
    if worth:
        met = ends.setdefault(own, {})
        met[others] = met.get(others, 0.0) + worth


class _Learner:
    """One seat that learns from what it regrets."""

    def __init__(self, side: SequenceForm) -> None:
        self.side = side
        self._regrets = [[0.0] * (end - first) for _, first, end in side.decisions]
        self._policy = [1.0] * side.sequences
        for _, first, end in side.decisions:
            self._policy[first:end] = [1 / (end - first)] * (end - first)
        self.plan = side.plan(self._policy)
        self._sum = [0.0] * side.sequences

    def learn(self, others: Sequence[float], iteration: int) -> None:
        """Take in what every action would have brought against the other's plan, and act on it."""
        side, policy = self.side, self._policy
        gains = side.gains(others)
        kept = (iteration - 1) ** 1.5 / ((iteration - 1) ** 1.5 + 1)
        stray = min(0.5, STRAY / iteration**2)
        for place in reversed(range(len(side.decisions))):
            before, first, end = side.decisions[place]
            worth = sum(map(mul, policy[first:end], gains[first:end]))
            gains[before] += worth
            regrets, wanted = self._regrets[place], []
            for action, old in enumerate(regrets):  # a plain loop: lists are short, and there are very many
                new = gains[first + action] - worth
                regret = regrets[action] = (old * kept if old > 0 else old / 2) + new
                guess = (regret if regret > 0 else 0.0) + GUESS * new
                wanted.append(guess if guess > 0 else 0.0)
            total, count = sum(wanted), end - first
            if total > 0:
                share, any_one = (1 - stray) / total, stray / count
                policy[first:end] = [share * guess + any_one for guess in wanted]
            else:
                policy[first:end] = [1 / count] * count
        self.plan = side.plan(policy)
        weight = iteration**2
        self._sum = [total + weight * new for total, new in zip(self._sum, self.plan, strict=True)]

    def average(self) -> list[float]:
        """The policy that was played on average, later iterations counting more."""
        policy = [1.0] * self.side.sequences
        for before, first, end in self.side.decisions:
            policy[first:end] = [done / self._sum[before] for done in self._sum[first:end]]
        return policy


def find_equilibrium(tree: Tree, progress: Progress = no_progress) -> Equilibrium:
    """A pair of policies that gives next to nothing away: TARGET, or what the iterations allowed come to."""
    sides = build_sequence_forms(tree)
    learners = {seat: _Learner(side) for seat, side in sides.items()}
    most = max(CHECK_EVERY, min(MAX_ITERATIONS, MAX_VISITS // len(tree)) // CHECK_EVERY * CHECK_EVERY)
    for iteration in range(1, most + 1):
        for seat, learner in learners.items():
            learner.learn(learners[seat.other].plan, iteration)
        if iteration % CHECK_EVERY == 0:
            solution = _solution(sides, learners, iteration)
            progress(f"iteration {iteration} of {most}, {100 * solution.nash_conv:.3f} points given away")
            if solution.nash_conv <= TARGET:
                break
    return solution


def _solution(sides: dict[Seat, SequenceForm], learners: dict[Seat, _Learner], iteration: int) -> Equilibrium:
    """What was played on average, without what is RARE unless it is needed: some equilibria mix so finely."""
    average = {seat: learner.average() for seat, learner in learners.items()}
    played = _measured(sides, average, iteration)
    pruned = _measured(sides, {seat: _pruned(side, average[seat]) for seat, side in sides.items()}, iteration)
    return pruned if pruned.nash_conv <= max(TARGET, played.nash_conv) else played


def _pruned(side: SequenceForm, policy: list[float]) -> list[float]:
    pruned = [step if step >= RARE else 0.0 for step in policy]
    for _, first, end in side.decisions:
        total = sum(pruned[first:end])
        pruned[first:end] = [step / total for step in pruned[first:end]]
    return pruned


def _measured(
    sides: dict[Seat, SequenceForm], average: dict[Seat, list[float]], iterations: int
) -> Equilibrium:
    plans = {seat: side.plan(average[seat]) for seat, side in sides.items()}
    answers = {seat: side.best_plan(plans[seat.other])[0] for seat, side in sides.items()}
    policy = {
        seat: {
            memory: tuple(average[seat][first:end])
            for memory, (_, first, end) in zip(side.memories, side.decisions, strict=True)
        }
        for seat, side in sides.items()
    }
    return Equilibrium(policy, answers, iterations)


def find_best_responses(
    rules: AnyRules, tree: Tree, policy: best_response.Policy[Any, Any]
) -> dict[Seat, tuple[float, dict[int, int]]]:
    """The best answer of each seat to the policy in the other; `tree` is that of the rules.

    Returns what it wins, and which of its actions, counted from 0, the seat takes by what it has seen.
    Quicker than `best_response`, which searches the game from the rules alone and checks what is found here.
    """
    sides = build_sequence_forms(tree)
    matches = NodeMatches(rules, tree)
    plans = {seat: _plan(side, matches, policy) for seat, side in sides.items()}
    found = {}
    for seat, side in sides.items():
        wins, taken = side.best_plan(plans[seat.other])
        found[seat] = wins, dict(zip(side.memories, taken, strict=True))
    return found


def _plan(side: SequenceForm, matches: NodeMatches, policy: best_response.Policy[Any, Any]) -> list[float]:
    """The probability of doing all of each sequence; the policy is not asked where it never comes to."""
    plan = [1.0] + [0.0] * (side.sequences - 1)
    for (before, first, end), node in zip(side.decisions, side.nodes, strict=True):
        if plan[before]:
            chances = policy(matches.at(node).sight(side.seat))
            plan[first:end] = [plan[before] * chance for chance in chances]
    return plan
