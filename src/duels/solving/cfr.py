"""Counterfactual regret minimization in sequence form: equilibria and best responses of games with secrets.

A sequence is the list of actions that one seat has taken on the way to a history. The sequences of both seats
meet only at terminal histories. So an iteration visits these and each seat's decisions, not the whole tree.

The method is Discounted CFR with the recommended discounts (N. Brown, T. Sandholm: Solving
Imperfect-Information Games via Discounted Regret Minimization, 2019). The next regrets are guessed to be like
the last ones (G. Farina, C. Kroer, T. Sandholm: Faster Game Solving via Predictive Blackwell Approachability,
2021). The exploitability of the result is computed, not taken from a theorem.

The sequence form also gives the best response to any policy, with one policy call per decision.
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
"""The NashConv at which to stop: the sum of both seats' possible gains, in probability of winning."""
MAX_VISITS = 50_000_000
"""Stop after this number of visited histories, whatever the NashConv is."""
MAX_ITERATIONS = 2000
CHECK_EVERY = 20
"""Iterations between two computations of the NashConv."""
STRAY = 10.0
"""In iteration t a seat plays uniformly at random with probability STRAY / t², at most 1/2.

So every decision is reached and gets a good policy. The effect on the average policy is negligible.
"""
GUESS = 0.5
"""The weight of the predicted regrets: with 0, mixed policies cycle; with 1, large games are slow."""
RARE = 0.01
"""Actions with a lower probability are dropped if that does not increase the NashConv."""

Policy = dict[int, tuple[float, ...]]
"""The action probabilities at each information set, by its number (see `tree`)."""


@dataclass(frozen=True)
class Equilibrium:
    """A policy for each seat, near equilibrium, with the best-response values."""

    policy: dict[Seat, Policy]
    best_response_values: dict[Seat, float]
    """The value of each seat's best response to the other's policy."""
    iterations: int

    @property
    def nash_conv(self) -> float:
        """The sum of both seats' possible gains: 0 in an equilibrium."""
        return sum(self.best_response_values.values()) - 1


class SequenceForm:
    """One seat's part of a game in sequence form. Sequence 0 is the empty sequence."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.sequences = 1
        self.decisions: list[tuple[int, int, int]] = []
        """The sequence that leads to each decision, and the range (first, end) of its own sequences."""
        self.information_sets: list[int] = []
        """The information set of each decision."""
        self.nodes: list[int] = []
        """One history of each decision."""
        self.endings: list[tuple[int, Sequence[int], Sequence[float]]] = []
        """A sequence, the opponent's sequences with which the game ends, and the value of each ending."""

    def plan(self, policy: Sequence[float]) -> list[float]:
        """Return the realization plan of a policy: the probability of each whole sequence."""
        plan = [1.0] * self.sequences
        for before, first, end in self.decisions:
            so_far = plan[before]
            plan[first:end] = [so_far * step for step in policy[first:end]]
        return plan

    def gains(self, others: Sequence[float]) -> list[float]:
        """Return the counterfactual value of the endings of each sequence, against the opponent's plan."""
        gains = [0.0] * self.sequences
        find = others.__getitem__
        for sequence, met, values in self.endings:
            gains[sequence] = sum(map(mul, values, map(find, met)))
        return gains

    def best_plan(self, others: Sequence[float]) -> tuple[float, list[int]]:
        """Return the best-response value and the index of the best action at each decision."""
        gains, best_actions = self.gains(others), []
        for before, first, end in reversed(self.decisions):
            best = max(gains[first:end])
            gains[before] += best
            best_actions.append(gains.index(best, first) - first)
        return gains[0], best_actions[::-1]


def build_sequence_forms(tree: Tree) -> dict[Seat, SequenceForm]:
    """Return the sequence form of a game for each seat.

    Raises DuelsError if the game does not have perfect recall.
    """
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
            side, information_set, before = sides[actor], tree.information_set[actor][node], done[actor][node]
            if information_set not in decision[actor]:
                decision[actor][information_set] = (before, side.sequences, side.sequences + len(children))
                side.decisions.append(decision[actor][information_set])
                side.information_sets.append(information_set)
                side.nodes.append(node)
                side.sequences += len(children)
            sequence, first, end = decision[actor][information_set]
            if sequence != before or end - first != len(children):
                raise DuelsError(f"{actor.label} does not see its own actions: this game cannot be solved.")
            done[actor][span] = range(first, end)
    for seat, side in sides.items():
        side.endings = [(done, tuple(met), tuple(met.values())) for done, met in ends[seat].items()]
    return sides


def _add(ends: dict[int, dict[int, float]], own: int, others: int, value: float) -> None:
    if value:
        met = ends.setdefault(own, {})
        met[others] = met.get(others, 0.0) + value


class _Learner:
    """One seat's regrets and average policy."""

    def __init__(self, side: SequenceForm) -> None:
        self.side = side
        self._regrets = [[0.0] * (end - first) for _, first, end in side.decisions]
        self._policy = [1.0] * side.sequences
        for _, first, end in side.decisions:
            self._policy[first:end] = [1 / (end - first)] * (end - first)
        self.plan = side.plan(self._policy)
        self._sum = [0.0] * side.sequences

    def learn(self, others: Sequence[float], iteration: int) -> None:
        """Update the regrets and the policy against the opponent's plan."""
        side, policy = self.side, self._policy
        gains = side.gains(others)
        discount = (iteration - 1) ** 1.5 / ((iteration - 1) ** 1.5 + 1)
        stray = min(0.5, STRAY / iteration**2)
        for place in reversed(range(len(side.decisions))):
            before, first, end = side.decisions[place]
            value = sum(map(mul, policy[first:end], gains[first:end]))
            gains[before] += value
            regrets, targets = self._regrets[place], []
            for action, old in enumerate(regrets):  # a plain loop: lists are short, and there are very many
                new = gains[first + action] - value
                regret = regrets[action] = (old * discount if old > 0 else old / 2) + new
                guess = (regret if regret > 0 else 0.0) + GUESS * new
                targets.append(guess if guess > 0 else 0.0)
            total, count = sum(targets), end - first
            if total > 0:
                share, uniform = (1 - stray) / total, stray / count
                policy[first:end] = [share * guess + uniform for guess in targets]
            else:
                policy[first:end] = [1 / count] * count
        self.plan = side.plan(policy)
        weight = iteration**2
        self._sum = [total + weight * new for total, new in zip(self._sum, self.plan, strict=True)]

    def average(self) -> list[float]:
        """Return the average policy, with more weight on later iterations."""
        policy = [1.0] * self.side.sequences
        for before, first, end in self.side.decisions:
            policy[first:end] = [done / self._sum[before] for done in self._sum[first:end]]
        return policy


def find_equilibrium(tree: Tree, progress: Progress = no_progress) -> Equilibrium:
    """Find a pair of policies with a NashConv of TARGET, or the best pair within the iteration limit."""
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
    """Return the average policies, without RARE actions if that does not increase the NashConv."""
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
            information_set: tuple(average[seat][first:end])
            for information_set, (_, first, end) in zip(side.information_sets, side.decisions, strict=True)
        }
        for seat, side in sides.items()
    }
    return Equilibrium(policy, answers, iterations)


def find_best_responses(
    rules: AnyRules, tree: Tree, policy: best_response.Policy[Any, Any]
) -> dict[Seat, tuple[float, dict[int, int]]]:
    """Return each seat's best response to `policy` in the other seat: its value, and its actions.

    The actions are indexes, by information set. This is quicker than `best_response`, which serves as an
    independent check.
    """
    sides = build_sequence_forms(tree)
    matches = NodeMatches(rules, tree)
    plans = {seat: _plan(side, matches, policy) for seat, side in sides.items()}
    responses = {}
    for seat, side in sides.items():
        value, actions = side.best_plan(plans[seat.other])
        responses[seat] = value, dict(zip(side.information_sets, actions, strict=True))
    return responses


def _plan(side: SequenceForm, matches: NodeMatches, policy: best_response.Policy[Any, Any]) -> list[float]:
    """Return the realization plan of a policy, which is called only at decisions that it can reach."""
    plan = [1.0] + [0.0] * (side.sequences - 1)
    for (before, first, end), node in zip(side.decisions, side.nodes, strict=True):
        if plan[before]:
            chances = policy(matches.get_match(node).sight(side.seat))
            plan[first:end] = [plan[before] * chance for chance in chances]
    return plan
