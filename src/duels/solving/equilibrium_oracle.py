"""An oracle for small games with hidden information: a strategy profile near equilibrium.

A profile is a policy for each seat. A value is the probability of winning if both seats follow the profile.
Its error bound is the larger of the two seats' gains by deviating from this position on. So the value of the
initial position differs from the true value of the game by at most this bound.

The value of a history is the mean of its children by the profile and by chance. The value of an information
set is the mean of its histories, weighted by their reach probabilities.
"""

from collections.abc import Iterator
from operator import mul

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.rules import A, Rules, S, Seat, Sight, V
from duels.solving.best_response import best_response
from duels.solving.cfr import Policy, find_equilibrium
from duels.solving.oracle import (
    OFTEN,
    ActionValue,
    Bounds,
    Check,
    Exactness,
    Oracle,
    Progress,
    Value,
    Verdict,
    no_progress,
)
from duels.solving.tree import NodeMatches, Tree, build_tree

ROUNDING = 1e-9
"""An upper bound on the rounding errors of all sums in this module."""
_NEARLY_PURE = 0.9
_MAX_BELIEFS = 24  # a longer list would not help a reader


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
        self.profile = ProfileValues(self._tree, self.solution.policy)

    # -- answers --------------------------------------------------------------------------------

    def _value_of(self, sight: Sight[A, V]) -> Value:
        return self.profile.state_value(sight.seat, self._find_information_set(sight))

    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """Mark as best the actions that cost nothing and are taken OFTEN.

        If no action is both, mark the likeliest of those that cost nothing.
        """
        information_set = self._find_information_set(sight)
        value = self.profile.state_value(sight.seat, information_set)
        values = self.profile.action_values(sight.seat, information_set)
        weights = self.weights(sight)
        free_weights = [
            weight if value.number - action_value.number <= value.error else 0.0
            for weight, action_value in zip(weights, values, strict=True)
        ]
        threshold = min(OFTEN, max(free_weights))
        action_values = tuple(
            ActionValue(action, action_value, free_weight >= threshold, weight, value.error)
            for action, action_value, free_weight, weight in zip(
                sight.actions, values, free_weights, weights, strict=True
            )
        )
        return Verdict(value, action_values)

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        return self.solution.policy[sight.seat][self._find_information_set(sight)]

    def full_information_value(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Return player 1's value given the information sets of both seats."""
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        return self.profile.value_histories(self._find_histories(one, two))

    def full_information_action_value(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        index = sight.actions.index(action)
        one, two = (sight, others) if sight.seat is Seat.ONE else (others, sight)
        distribution = {
            self._tree.children[node][index]: chance
            for node, chance in self._find_histories(one, two).items()
        }
        value = self.profile.value_histories(distribution).number
        return value if sight.seat is Seat.ONE else 1 - value

    def _find_histories(self, one: Sight[A, V], two: Sight[A, V]) -> dict[int, float]:
        histories = self.profile.shared_histories(
            self._find_information_set(one), self._find_information_set(two)
        )
        if not histories:
            raise DuelsError(f"The two sights do not belong to one match of {self.rules.name}.")
        return histories

    def _find_information_set(self, sight: Sight[A, V]) -> int:
        information_set = self._tree.information_sets[sight.seat].find(sight.events)
        if information_set is None or not self.profile.histories(sight.seat, information_set):
            raise DuelsError(f"{sight.seat.label} cannot have this sight in {self.rules.name}.")
        return information_set

    # -- beliefs --------------------------------------------------------------------------------

    def belief(self, sight: Sight[A, V]) -> dict[str, float]:
        beliefs: dict[str, float] = {}
        matches = NodeMatches(self.rules, self._tree)
        for node, chance in self.profile.histories(sight.seat, self._find_information_set(sight)).items():
            name = self._secret(matches.get_match(node), sight.seat.other)
            beliefs[name] = beliefs.get(name, 0.0) + chance
        return beliefs if 1 < len(beliefs) <= _MAX_BELIEFS else {}

    def own_secret(self, sight: Sight[A, V]) -> str:
        node = next(iter(self.profile.histories(sight.seat, self._find_information_set(sight))))
        return self._secret(NodeMatches(self.rules, self._tree).get_match(node), sight.seat)

    def _secret(self, match: AnyMatch, seat: Seat) -> str:
        """Return the entries that only `seat` knows."""
        own, others = match.redacted_history(seat), match.redacted_history(seat.other)
        name = ", ".join(
            self.rules.format(action)
            for index, action in enumerate(own)
            if action is not None and (index >= len(others) or others[index] is None)
        )
        return f"hidden {name}" if name.isdigit() else name

    # -- in words -------------------------------------------------------------------------------

    @property
    def _value_verb(self) -> str:
        return "is worth" if self.rules.can_be_drawn else "wins"

    def reason(self, sight: Sight[A, V]) -> str:
        verdict = self.judge(sight)
        if len(verdict.actions) == 1:
            return "There is only one legal action."
        top = max(verdict.actions, key=lambda action_value: action_value.weight)
        about = f"{self._value_verb} about {top.value.number:.1%} on the information you have"
        clause = f"{self.rules.format(top.action)} {about}"
        if top.weight < _NEARLY_PURE:
            return f"Perfect play mixes here to stay unpredictable; {clause}."
        others = [action_value for action_value in verdict.actions if action_value is not top]
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
        _, gain = Bounds(0, one + two - 1).percent(2)
        return (
            f"Both seats together could gain at most {gain} points by deviating. "
            f"The game's value to Player 1 lies between {Bounds(1 - two, one).in_words('and')}."
        )

    # -- a second method ------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Compare the best-response values with a search of the whole game tree."""
        for seat in Seat:
            progress(f"the best response of {seat.label}")
            claimed = self.solution.best_response_values[seat]
            searched = best_response(self.rules, seat, self.weights)
            yield Check(
                f"the best-response value of {seat.label}",
                abs(claimed - searched) <= ROUNDING,
                f"claimed {claimed:.6f}, found {searched:.6f}, {len(self._tree):,} histories",
            )


def _bound_value(value: float, gain: float) -> Value:
    """Return a value whose error is the larger of both seats' gains by deviating from the profile."""
    return Value(value, Exactness.BOUND, error=min(1.0, gain + ROUNDING))


class ProfileValues:
    """The values of a strategy profile, by history and by information set."""

    def __init__(self, tree: Tree, policy: dict[Seat, Policy]) -> None:
        self.tree = tree
        self.policy = policy
        self.value = self._values()
        """Player 1's value of each history."""
        self._seat_values = {seat: _SeatValues(self, seat) for seat in Seat}

    def child_probabilities(self, node: int) -> tuple[float, ...]:
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
                values[node] = sum(
                    map(mul, self.child_probabilities(node), values[children.start : children.stop])
                )
        return values

    def histories(self, seat: Seat, information_set: int) -> dict[int, float]:
        """Return the probabilities of the histories of an information set; empty if there are none."""
        seat_values = self._seat_values[seat]
        return seat_values.normalize(seat_values.histories[information_set])

    def shared_histories(self, one: int, two: int) -> dict[int, float]:
        """Return the probabilities of the histories that belong to both information sets."""
        first, second = self._seat_values.values()
        # Histories are listed only where the seat's information set changed, which may be either seat's.
        shared = [node for node in first.histories[one] if second.information_set[node] == two]
        shared += [node for node in second.histories[two] if first.information_set[node] == one]
        return first.normalize(list(dict.fromkeys(shared)))

    def value_histories(self, distribution: dict[int, float]) -> Value:
        """Return player 1's mean value of these histories."""
        gain = max(self._expected_gain(seat, distribution) for seat in Seat)
        return _bound_value(self._mean(Seat.ONE, distribution), gain)

    def state_value(self, seat: Seat, information_set: int) -> Value:
        """Return the value of an information set to `seat`."""
        histories = self.histories(seat, information_set)
        gain = max(self._seat_values[seat].gain[information_set], self._expected_gain(seat.other, histories))
        return _bound_value(self._mean(seat, histories), gain)

    def action_values(self, seat: Seat, information_set: int) -> list[Value]:
        """Return the value of each action of `seat` at an information set."""
        histories = self.histories(seat, information_set)
        seat_values, children = self._seat_values[seat], self.tree.children
        total = seat_values.total[information_set]
        action_values = []
        for index in range(len(children[next(iter(histories))])):
            distribution = {children[node][index]: chance for node, chance in histories.items()}
            value = self._mean(seat, distribution)
            responses = seat_values.response_values[information_set]
            gain = responses[index] / total - value if total else 1.0
            other_gain = self._expected_gain(seat.other, distribution)
            action_values.append(_bound_value(value, max(0.0, gain, other_gain)))
        return action_values

    def _mean(self, seat: Seat, distribution: dict[int, float]) -> float:
        mean = sum(chance * self.value[node] for node, chance in distribution.items())
        return mean if seat is Seat.ONE else 1 - mean

    def _expected_gain(self, seat: Seat, distribution: dict[int, float]) -> float:
        gain, information_set = self._seat_values[seat].gain, self.tree.information_set[seat]
        return sum(chance * gain[information_set[node]] for node, chance in distribution.items())


class _SeatValues:
    """One seat's reach probabilities, values and gains, by history or information set."""

    def __init__(self, profile: ProfileValues, seat: Seat) -> None:
        tree = profile.tree
        information_set = self.information_set = tree.information_set[seat]
        count = len(tree.information_sets[seat])
        self.weight = self._weights(profile, seat)
        """The counterfactual reach probability of each history: that of chance and the other seat."""
        self.histories: list[list[int]] = [[] for _ in range(count)]
        """The first histories of each information set."""
        origins: list[tuple[int, int]] = [(0, 0)] * count
        best, state_value = [0.0] * count, [0.0] * count
        for node, parent in enumerate(tree.parent):
            value = profile.value[node] if seat is Seat.ONE else 1 - profile.value[node]
            if node in tree.score:
                best[information_set[node]] += self.weight[node] * value
            if parent < 0 or information_set[node] != information_set[parent]:
                self.histories[information_set[node]].append(node)
                state_value[information_set[node]] += self.weight[node] * value
                if parent >= 0:
                    index = node - tree.children[parent].start if tree.actor[parent] is seat else 0
                    origins[information_set[node]] = (information_set[parent], index)
        self.total = [sum(self.weight[node] for node in nodes) for nodes in self.histories]
        self._find_gains(tree, seat, best, state_value, origins)

    def normalize(self, nodes: list[int]) -> dict[int, float]:
        """Return the probability of each history, given that one of them has occurred."""
        total = sum(self.weight[node] for node in nodes)
        return {node: self.weight[node] / total if total else 1 / len(nodes) for node in nodes}

    def _find_gains(
        self,
        tree: Tree,
        seat: Seat,
        best: list[float],
        state_value: list[float],
        origins: list[tuple[int, int]],
    ) -> None:
        """Compute best-response values and gains from the end backwards.

        The lists are indexed by information set. `best` starts with the values of terminal histories,
        `state_value` has the policy's values, and `origins` the previous information set and its action.
        """
        self.response_values: dict[int, list[float]] = {}
        """The counterfactual best-response value of each action at the seat's own decisions."""
        self.gain = [1.0] * len(best)
        """The gain by switching from the policy to the best response there; 1 if unknown."""
        # Later information sets have higher numbers, so all successors are complete.
        for information_set in reversed(range(len(best))):
            nodes = self.histories[information_set]
            if not nodes:
                continue
            if information_set in self.response_values:
                best[information_set] += max(self.response_values[information_set])
            if self.total[information_set]:
                self.gain[information_set] = (
                    max(0.0, best[information_set] - state_value[information_set])
                    / self.total[information_set]
                )
            previous, index = origins[information_set]
            parent = tree.parent[nodes[0]]
            if parent >= 0 and tree.actor[parent] is seat:
                actions = self.response_values.setdefault(previous, [0.0] * len(tree.children[parent]))
                actions[index] += best[information_set]
            elif parent >= 0:
                best[previous] += best[information_set]

    @staticmethod
    def _weights(profile: ProfileValues, seat: Seat) -> list[float]:
        tree = profile.tree
        weights = [1.0] * len(tree)
        for node, children in enumerate(tree.children):
            weight, actor = weights[node], tree.actor[node]
            is_own = actor is seat or not children
            probabilities = [1.0] * len(children) if is_own else profile.child_probabilities(node)
            weights[children.start : children.stop] = [weight * chance for chance in probabilities]
        return weights
