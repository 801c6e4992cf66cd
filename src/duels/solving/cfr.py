"""Counterfactual regret minimization in sequence form: equilibria and best responses.

CFR solves games with hidden information. A sequence is the list of actions that one seat has taken in a
history. Only terminal histories combine the sequences of both seats. So an iteration visits the terminal
histories and each seat's decisions, not the whole tree.

The method is Discounted CFR with the recommended discounts (N. Brown, T. Sandholm: Solving
Imperfect-Information Games via Discounted Regret Minimization, 2019). It predicts that the next regrets will
be like the last ones (G. Farina, C. Kroer, T. Sandholm: Faster Game Solving via Predictive Blackwell
Approachability, 2021). The exploitability of the result is computed, not taken from a theorem.

The sequence form also gives the best response to any policy, with one policy call per decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.solving import best_response
from duels.solving.oracle import Progress, no_progress
from duels.solving.tree import NodeMatches, Tree

TARGET = 0.0002
"""The NashConv at which to stop: the sum of both seats' possible gains, in probability of winning."""
MAX_VISITS = 50_000_000
"""The number of visited histories after which to stop, even if the NashConv is above TARGET."""
MAX_ITERATIONS = 2000
CHECK_EVERY = 20
"""Iterations between two computations of the NashConv."""
EXPLORATION = 10.0
"""In iteration t a seat plays uniformly at random with probability EXPLORATION / t², at most 1/2.

This reaches every decision, so that each gets a good policy. The effect on the average policy is negligible.
"""
PREDICTION_WEIGHT = 0.5
"""The weight of the predicted regrets: with 0, mixed policies cycle; with 1, large games are slow."""
MIN_PROBABILITY = 0.01
"""Actions with a lower probability are dropped if that does not increase the NashConv."""

Policy = dict[int, tuple[float, ...]]
"""The action probabilities at each information set, by its number (see `tree`)."""


@dataclass(frozen=True)
class Equilibrium:
    """A policy for each seat, near equilibrium, with the best-response values."""

    policy: dict[Seat, Policy]
    best_response_values: dict[Seat, float]
    """The value of each seat's best response to the other's policy."""

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
        """For each decision, the sequence that leads there, and the range (first, end) of its sequences."""
        self.information_sets: list[int] = []
        """The information set of each decision."""
        self.nodes: list[int] = []
        """One history of each decision."""
        self.endings: list[tuple[int, Sequence[int], Sequence[float]]] = []
        """A sequence, the opponent's sequences that lead with it to an ending, and each ending's value."""

    def plan(self, policy: Sequence[float]) -> list[float]:
        """Return the realization plan of a policy: the probability of each whole sequence."""
        plan = [1.0] * self.sequences
        for parent, first, end in self.decisions:
            reach = plan[parent]
            plan[first:end] = [reach * probability for probability in policy[first:end]]
        return plan

    def gains(self, opponent_plan: Sequence[float]) -> list[float]:
        """Return the counterfactual value of each sequence's endings against the opponent's plan."""
        gains = [0.0] * self.sequences
        get_reach = opponent_plan.__getitem__
        for sequence, opponent_sequences, values in self.endings:
            gains[sequence] = sum(map(mul, values, map(get_reach, opponent_sequences)))
        return gains

    def best_response(self, opponent_plan: Sequence[float]) -> tuple[float, list[int]]:
        """Return the best-response value and the index of the best action at each decision."""
        gains, best_actions = self.gains(opponent_plan), []
        for parent, first, end in reversed(self.decisions):
            best = max(gains[first:end])
            gains[parent] += best
            best_actions.append(gains.index(best, first) - first)
        return gains[0], best_actions[::-1]


def build_sequence_forms(tree: Tree) -> dict[Seat, SequenceForm]:
    """Return the sequence form of a game for each seat.

    Raises DuelsError if the game does not have perfect recall.
    """
    forms = {seat: SequenceForm(seat) for seat in Seat}
    decisions: dict[Seat, dict[int, tuple[int, int, int]]] = {seat: {} for seat in Seat}
    endings: dict[Seat, dict[int, dict[int, float]]] = {seat: {} for seat in Seat}
    sequences = {seat: [0] * len(tree) for seat in Seat}
    chance = [1.0] * len(tree)
    for node, actor in enumerate(tree.actor):
        children = tree.children[node]
        one, two = sequences[Seat.ONE][node], sequences[Seat.TWO][node]
        if actor is None:
            score = tree.score[node]
            _add_ending(endings[Seat.ONE], one, two, chance[node] * score)
            _add_ending(endings[Seat.TWO], two, one, chance[node] * (1 - score))
            continue
        span = slice(children.start, children.stop)
        chance[span] = [chance[node]] * len(children)
        sequences[Seat.ONE][span] = [one] * len(children)
        sequences[Seat.TWO][span] = [two] * len(children)
        if actor is CHANCE:
            chance[span] = [chance[node] * odds for odds in tree.odds[node]]
        elif isinstance(actor, Seat):
            form, parent = forms[actor], sequences[actor][node]
            information_set = tree.information_set[actor][node]
            if information_set not in decisions[actor]:
                decisions[actor][information_set] = (parent, form.sequences, form.sequences + len(children))
                form.decisions.append(decisions[actor][information_set])
                form.information_sets.append(information_set)
                form.nodes.append(node)
                form.sequences += len(children)
            sequence, first, end = decisions[actor][information_set]
            if sequence != parent or end - first != len(children):
                raise DuelsError(f"{actor.label} does not see its own actions: this game cannot be solved.")
            sequences[actor][span] = range(first, end)
    for seat, form in forms.items():
        form.endings = [(own, tuple(values), tuple(values.values())) for own, values in endings[seat].items()]
    return forms


def _add_ending(endings: dict[int, dict[int, float]], own: int, opponent: int, value: float) -> None:
    if value:
        values = endings.setdefault(own, {})
        values[opponent] = values.get(opponent, 0.0) + value


class _Learner:
    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self._regrets = [[0.0] * (end - first) for _, first, end in form.decisions]
        self._policy = [1.0] * form.sequences
        for _, first, end in form.decisions:
            self._policy[first:end] = [1 / (end - first)] * (end - first)
        self.plan = form.plan(self._policy)
        self._plan_sum = [0.0] * form.sequences

    def learn(self, opponent_plan: Sequence[float], iteration: int) -> None:
        """Update the regrets and the policy against the opponent's plan."""
        form, policy = self.form, self._policy
        gains = form.gains(opponent_plan)
        discount = (iteration - 1) ** 1.5 / ((iteration - 1) ** 1.5 + 1)
        exploration = min(0.5, EXPLORATION / iteration**2)
        for index in reversed(range(len(form.decisions))):
            parent, first, end = form.decisions[index]
            value = sum(map(mul, policy[first:end], gains[first:end]))
            gains[parent] += value
            regrets, targets = self._regrets[index], []
            for action, old in enumerate(regrets):  # a plain loop is fastest: the lists are short
                change = gains[first + action] - value
                regret = regrets[action] = (old * discount if old > 0 else old / 2) + change
                predicted = (regret if regret > 0 else 0.0) + PREDICTION_WEIGHT * change
                targets.append(predicted if predicted > 0 else 0.0)
            total, count = sum(targets), end - first
            if total > 0:
                share, uniform = (1 - exploration) / total, exploration / count
                policy[first:end] = [share * predicted + uniform for predicted in targets]
            else:
                policy[first:end] = [1 / count] * count
        self.plan = form.plan(policy)
        weight = iteration**2
        self._plan_sum = [total + weight * new for total, new in zip(self._plan_sum, self.plan, strict=True)]

    def average(self) -> list[float]:
        """Return the average policy, with more weight on later iterations."""
        policy = [1.0] * self.form.sequences
        for parent, first, end in self.form.decisions:
            policy[first:end] = [total / self._plan_sum[parent] for total in self._plan_sum[first:end]]
        return policy


def find_equilibrium(tree: Tree, progress: Progress = no_progress) -> Equilibrium:
    """Iterate until the NashConv is at most TARGET or a limit is reached, and return the policies."""
    forms = build_sequence_forms(tree)
    learners = {seat: _Learner(form) for seat, form in forms.items()}
    max_iterations = CHECK_EVERY * max(1, min(MAX_ITERATIONS, MAX_VISITS // len(tree)) // CHECK_EVERY)
    for iteration in range(1, max_iterations + 1):
        for seat, learner in learners.items():
            learner.learn(learners[seat.other].plan, iteration)
        if iteration % CHECK_EVERY == 0:
            solution = _average_solution(forms, learners)
            points = 100 * solution.nash_conv
            progress(f"iteration {iteration} of {max_iterations}, {points:.3f} points given away")
            if solution.nash_conv <= TARGET:
                break
    return solution


def _average_solution(forms: dict[Seat, SequenceForm], learners: dict[Seat, _Learner]) -> Equilibrium:
    """Return the average policies, pruned if that does not increase the NashConv."""
    average = {seat: learner.average() for seat, learner in learners.items()}
    unpruned = _measure(forms, average)
    pruned = _measure(forms, {seat: _prune(form, average[seat]) for seat, form in forms.items()})
    return pruned if pruned.nash_conv <= max(TARGET, unpruned.nash_conv) else unpruned


def _prune(form: SequenceForm, policy: list[float]) -> list[float]:
    pruned = [probability if probability >= MIN_PROBABILITY else 0.0 for probability in policy]
    for _, first, end in form.decisions:
        total = sum(pruned[first:end])
        pruned[first:end] = [probability / total for probability in pruned[first:end]]
    return pruned


def _measure(forms: dict[Seat, SequenceForm], average: dict[Seat, list[float]]) -> Equilibrium:
    plans = {seat: form.plan(average[seat]) for seat, form in forms.items()}
    best_response_values = {seat: form.best_response(plans[seat.other])[0] for seat, form in forms.items()}
    policy = {
        seat: {
            information_set: tuple(average[seat][first:end])
            for information_set, (_, first, end) in zip(form.information_sets, form.decisions, strict=True)
        }
        for seat, form in forms.items()
    }
    return Equilibrium(policy, best_response_values)


def find_best_responses(
    rules: AnyRules, tree: Tree, policy: best_response.Policy[Any, Any]
) -> dict[Seat, tuple[float, dict[int, int]]]:
    """Return the value of each seat's best response to `policy`, and its action index by information set.

    This is quicker than `best_response`, which serves as an independent check.
    """
    forms = build_sequence_forms(tree)
    matches = NodeMatches(rules, tree)
    plans = {seat: _realize_policy(form, matches, policy) for seat, form in forms.items()}
    responses = {}
    for seat, form in forms.items():
        value, actions = form.best_response(plans[seat.other])
        responses[seat] = value, dict(zip(form.information_sets, actions, strict=True))
    return responses


def _realize_policy(
    form: SequenceForm, matches: NodeMatches, policy: best_response.Policy[Any, Any]
) -> list[float]:
    """Return the realization plan of `policy`, which is called only at decisions that it can reach."""
    plan = [1.0] + [0.0] * (form.sequences - 1)
    for (parent, first, end), node in zip(form.decisions, form.nodes, strict=True):
        if plan[parent]:
            chances = policy(matches.get_match(node).sight(form.seat))
            plan[first:end] = [plan[parent] * chance for chance in chances]
    return plan
