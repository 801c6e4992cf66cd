"""An oracle for small games with secrets: a strategy profile near equilibrium.

A profile is a policy for each seat. A value is the probability of winning if both seats follow the profile.
Its error bound is the most that either seat could gain from there on by deviating. So the game's value lies
within the bound at the start.

The value of a history is the mean of its children by the profile and by chance. The value of an information
set is the mean of its histories, weighted by their reach probabilities.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.rules import A, Rules, S, Seat, Sight, V
from duels.solving.best_response import best_response
from duels.solving.cfr import Policy, find_equilibrium
from duels.solving.oracle import OFTEN, ActionValue, Check, Exactness, Oracle, Value, Verdict
from duels.solving.progress import Progress, no_progress
from duels.solving.tree import NodeMatches, Tree, build_tree

ROUNDING = 1e-9
"""An upper bound on the rounding errors of all sums here."""
_NEARLY_ALWAYS = 0.9
_MAX_BELIEFS = 24  # a longer list of beliefs helps nobody


@dataclass(frozen=True, slots=True)
class ValueWithGain:
    """A value to a seat, and the larger of both seats' gains by deviating from the profile."""

    value: float
    gain: float


class EquilibriumOracle(Oracle[A, V]):
    """A strategy profile with a proven NashConv; beliefs follow from the profile."""

    mixes = True
    equivalence_note = (
        "The strategy is mixed. Every action that it often takes counts as right, and so does every action "
        "with about the value of the mixture, or more."
    )

    def __init__(self, rules: Rules[S, A, V], progress: Progress = no_progress) -> None:
        self.rules = rules
        self._tree = build_tree(rules, progress)
        self.solution = find_equilibrium(self._tree, progress)
        self._profile = ProfileValues(self._tree, self.solution.policy)

    # -- answers --------------------------------------------------------------------------------

    def _value_of(self, sight: Sight[A, V]) -> Value:
        return _bounded(self._profile.state_value(sight.seat, self._find_information_set(sight)))

    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """Mark as best the actions that are taken OFTEN and cost nothing, or the likeliest of these."""
        information_set = self._find_information_set(sight)
        value = _bounded(self._profile.state_value(sight.seat, information_set))
        values = [
            _bounded(state_value) for state_value in self._profile.action_values(sight.seat, information_set)
        ]
        weights = self.weights(sight)
        free = [
            weight if value.number - after.number <= value.error else 0.0
            for weight, after in zip(weights, values, strict=True)
        ]
        threshold = min(OFTEN, max(free))
        action_values = tuple(
            ActionValue(action, after, free_weight >= threshold, weight, value.error)
            for action, after, free_weight, weight in zip(sight.actions, values, free, weights, strict=True)
        )
        return Verdict(value, action_values)

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        return self.solution.policy[sight.seat][self._find_information_set(sight)]

    def full_information_value(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Return player 1's value given the information sets of both seats."""
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        return _bounded(self._profile.value_histories(self._find_histories(one, two)))

    def full_information_action_value(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        place = sight.actions.index(action)
        one, two = (sight, others) if sight.seat is Seat.ONE else (others, sight)
        after = {
            self._tree.children[node][place]: chance
            for node, chance in self._find_histories(one, two).items()
        }
        state_value = self._profile.value_histories(after).value
        return state_value if sight.seat is Seat.ONE else 1 - state_value

    def _find_histories(self, one: Sight[A, V], two: Sight[A, V]) -> dict[int, float]:
        histories = self._profile.shared_histories(
            self._find_information_set(one), self._find_information_set(two)
        )
        if not histories:
            raise DuelsError(f"The two sights do not belong to one match of {self.rules.name}.")
        return histories

    def _find_information_set(self, sight: Sight[A, V]) -> int:
        information_set = self._tree.information_sets[sight.seat].find(sight.events)
        if information_set is None or not self._profile.histories(sight.seat, information_set):
            raise DuelsError(f"{sight.seat.label} cannot have this sight in {self.rules.name}.")
        return information_set

    # -- beliefs --------------------------------------------------------------------------------

    def belief(self, sight: Sight[A, V]) -> dict[str, float]:
        places: dict[str, float] = {}
        matches = NodeMatches(self.rules, self._tree)
        for node, chance in self._profile.histories(sight.seat, self._find_information_set(sight)).items():
            name = self._secret(matches.get_match(node), sight.seat.other)
            places[name] = places.get(name, 0.0) + chance
        return places if 1 < len(places) <= _MAX_BELIEFS else {}

    def own_secret(self, sight: Sight[A, V]) -> str:
        node = next(iter(self._profile.histories(sight.seat, self._find_information_set(sight))))
        return self._secret(NodeMatches(self.rules, self._tree).get_match(node), sight.seat)

    def _secret(self, match: AnyMatch, seat: Seat) -> str:
        """Return the entries that `seat` knows and the other does not."""
        own, others = match.redacted_history(seat), match.redacted_history(seat.other)
        name = ", ".join(
            self.rules.format(action)
            for place, action in enumerate(own)
            if action is not None and (place >= len(others) or others[place] is None)
        )
        return f"hidden {name}" if name.isdigit() else name

    # -- in words -------------------------------------------------------------------------------

    @property
    def _value_verb(self) -> str:
        return "is worth" if self.rules.can_be_drawn else "wins"

    def reason(self, sight: Sight[A, V]) -> str:
        verdict = self.judge(sight)
        if len(verdict.actions) == 1:
            return "There is nothing to choose."
        taken = max(verdict.actions, key=lambda action_value: action_value.weight)
        about = f"{self._value_verb} about {taken.value.number:.1%} on the information you have"
        clause = f"{self.rules.format(taken.action)} {about}"
        if taken.weight < _NEARLY_ALWAYS:
            return f"Perfect play mixes here to stay unpredictable; {clause}."
        others = [action_value for action_value in verdict.actions if action_value is not taken]
        second = max(others, key=lambda action_value: action_value.value.number)
        return f"{clause}; the next best, {self.rules.format(second.action)}, {second.value.number:.1%}."

    def effect(self, sight: Sight[A, V], action: A) -> str:
        verdict = self.judge(sight)
        action_value = verdict.get_action_value(action)
        often = (
            f"does that {action_value.weight:.0%} of the time" if action_value.weight else "does not do that"
        )
        return (
            f"You played {self.rules.format(action)}, which {self._value_verb} "
            f"about {action_value.value.number:.1%} instead of {verdict.value.number:.1%}; "
            f"perfect play {often}."
        )

    def exploitability_bound(self) -> float:
        return self.solution.nash_conv / 2 + ROUNDING

    def guarantee(self) -> str:
        one, two = (self.solution.best_response_values[seat] + ROUNDING for seat in Seat)
        return (
            f"Both seats together could gain at most {_round_up(one + two - 1)} points by deviating. "
            f"The game's value to Player 1 lies between {_round_down(1 - two)}% and {_round_up(one)}%."
        )

    # -- a second method ------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Compute the best responses again, by searching the game tree from the rules."""
        for seat in Seat:
            progress(f"the best response of {seat.label}")
            claimed, found = (
                self.solution.best_response_values[seat],
                best_response(self.rules, seat, self.weights),
            )
            yield Check(
                f"the best-response value of {seat.label}",
                abs(claimed - found) <= ROUNDING,
                f"claimed {claimed:.6f}, found {found:.6f}, {len(self._tree):,} histories",
            )


def _bounded(state_value: ValueWithGain) -> Value:
    return Value(state_value.value, Exactness.BOUND, error=min(1.0, state_value.gain + ROUNDING))


def _round_up(number: float) -> str:
    return f"{math.ceil(number * 10_000) / 100:.2f}"


def _round_down(number: float) -> str:
    return f"{math.floor(number * 10_000) / 100:.2f}"


class ProfileValues:
    """The values of a strategy profile, by history and by information set."""

    def __init__(self, tree: Tree, policy: dict[Seat, Policy]) -> None:
        self.tree = tree
        self.policy = policy
        self.value = self._values()
        """Player 1's value of each history."""
        self._views = {seat: _View(self, seat) for seat in Seat}

    def steps(self, node: int) -> tuple[float, ...]:
        """Return the probabilities of a history's children."""
        actor = self.tree.actor[node]
        return (
            self.policy[actor][self.tree.information_set[actor][node]]
            if isinstance(actor, Seat)
            else self.tree.odds[node]
        )

    def _values(self) -> list[float]:
        tree = self.tree
        values = [tree.score.get(node, 0.0) for node in range(len(tree))]
        for node in reversed(range(len(tree))):
            children = tree.children[node]
            if children:
                values[node] = sum(map(mul, self.steps(node), values[children.start : children.stop]))
        return values

    def histories(self, seat: Seat, information_set: int) -> dict[int, float]:
        """Return the histories of an information set with their probabilities; may be empty."""
        view = self._views[seat]
        nodes = view.histories[information_set]
        total = view.total[information_set]
        return {node: view.weight[node] / total if total else 1 / len(nodes) for node in nodes}

    def shared_histories(self, one: int, two: int) -> dict[int, float]:
        """Return the histories in both information sets with their probabilities."""
        view, seen = self._views[Seat.ONE], self.tree.information_set
        # Either seat may have seen the last event.
        nodes = [node for node in view.histories[one] if seen[Seat.TWO][node] == two]
        last_two = [node for node in self._views[Seat.TWO].histories[two] if seen[Seat.ONE][node] == one]
        nodes += [node for node in last_two if node not in nodes]
        total = sum(view.weight[node] for node in nodes)
        return {node: view.weight[node] / total if total else 1 / len(nodes) for node in nodes}

    def value_histories(self, at: dict[int, float]) -> ValueWithGain:
        """Return player 1's mean value of these histories, and the larger expected gain."""
        return ValueWithGain(
            sum(chance * self.value[node] for node, chance in at.items()),
            max(self._expected_gain(seat, at) for seat in Seat),
        )

    def state_value(self, seat: Seat, information_set: int) -> ValueWithGain:
        """Return the value of an information set to `seat`."""
        return self._seen_by(
            seat, self.histories(seat, information_set), self._views[seat].gain[information_set]
        )

    def action_values(self, seat: Seat, information_set: int) -> list[ValueWithGain]:
        """Return the value of each action of `seat` at an information set."""
        histories = self.histories(seat, information_set)
        view, children = self._views[seat], self.tree.children
        action_values = []
        for place in range(len(children[next(iter(histories))])):
            after = {children[node][place]: chance for node, chance in histories.items()}
            state_value = self._seen_by(seat, after, 0.0)
            gain = (
                view.after[information_set][place] / view.total[information_set] - state_value.value
                if view.total[information_set]
                else 1.0
            )
            action_values.append(ValueWithGain(state_value.value, max(state_value.gain, gain)))
        return action_values

    def _seen_by(self, seat: Seat, at: dict[int, float], gain: float) -> ValueWithGain:
        """Return the mean value to `seat`, and the larger of `gain` and the other seat's expected gain."""
        mean = sum(chance * self.value[node] for node, chance in at.items())
        return ValueWithGain(
            mean if seat is Seat.ONE else 1 - mean, max(gain, self._expected_gain(seat.other, at))
        )

    def _expected_gain(self, seat: Seat, at: dict[int, float]) -> float:
        gain, seen = self._views[seat].gain, self.tree.information_set[seat]
        return sum(chance * gain[seen[node]] for node, chance in at.items())


class _View:
    """One seat's reach probabilities, values and gains, by history or information set."""

    def __init__(self, profile: ProfileValues, seat: Seat) -> None:
        tree = profile.tree
        seen = tree.information_set[seat]
        count = len(tree.information_sets[seat])
        self.weight = self._weights(profile, seat)
        """The counterfactual reach probability of each history: that of chance and the other seat."""
        self.histories: list[list[int]] = [[] for _ in range(count)]
        """The first histories of each information set."""
        origins: list[tuple[int, int]] = [(0, 0)] * count
        ends, state_value = [0.0] * count, [0.0] * count
        for node, parent in enumerate(tree.parent):
            value = profile.value[node] if seat is Seat.ONE else 1 - profile.value[node]
            if node in tree.score:
                ends[seen[node]] += self.weight[node] * value
            if parent < 0 or seen[node] != seen[parent]:
                self.histories[seen[node]].append(node)
                state_value[seen[node]] += self.weight[node] * value
                if parent >= 0:
                    mine = tree.actor[parent] is seat
                    origins[seen[node]] = (seen[parent], node - tree.children[parent].start if mine else 0)
        self.total = [sum(self.weight[node] for node in nodes) for nodes in self.histories]
        self._find_gains(tree, seat, ends, state_value, origins)

    def _find_gains(
        self,
        tree: Tree,
        seat: Seat,
        best: list[float],
        state_value: list[float],
        origins: list[tuple[int, int]],
    ) -> None:
        """Compute best-response values and gains from the end backwards.

        By information set: `best` starts with the values of terminal histories, `state_value` is the value of
        the policy, and `origins` is the previous information set and the action taken there.
        """
        self.after: dict[int, list[float]] = {}
        """The counterfactual best-response value of each action, where the seat decides."""
        self.gain = [1.0] * len(best)
        """The gain of the best response over the policy from there on; 1 if unknown."""
        # Later information sets have higher numbers, so all successors are complete.
        for information_set in reversed(range(len(best))):
            nodes = self.histories[information_set]
            if not nodes:
                continue
            if information_set in self.after:
                best[information_set] += max(self.after[information_set])
            if self.total[information_set]:
                self.gain[information_set] = (
                    max(0.0, best[information_set] - state_value[information_set])
                    / self.total[information_set]
                )
            before, place = origins[information_set]
            parent = tree.parent[nodes[0]]
            if parent >= 0 and tree.actor[parent] is seat:
                actions = self.after.setdefault(before, [0.0] * len(tree.children[parent]))
                actions[place] += best[information_set]
            elif parent >= 0:
                best[before] += best[information_set]

    @staticmethod
    def _weights(profile: ProfileValues, seat: Seat) -> list[float]:
        tree = profile.tree
        weights = [1.0] * len(tree)
        for node, children in enumerate(tree.children):
            weight, actor = weights[node], tree.actor[node]
            steps = [1.0] * len(children) if actor is seat or not children else profile.steps(node)
            weights[children.start : children.stop] = [weight * step for step in steps]
        return weights
