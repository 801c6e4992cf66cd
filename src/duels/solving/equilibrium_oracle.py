"""Play for any game with secrets that is small enough to be written out: a pair of policies near equilibrium.

A value is what a seat wins if both follow the pair. Its bound is what the seat, or the other, could still
gain from there on by other play against the pair; so the game's value lies within the bound of the opening.

The value of a history is zero-sum, and the mean of what follows by the pair and by chance. What a seat has
seen is worth the mean of the histories that fit, each as likely as chance and the other's policy make it.
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
"""More than all rounding of the sums here."""
_NEARLY_ALWAYS = 0.9
_MAX_BELIEFS = 24  # names of a belief: more would be no help to anybody


@dataclass(frozen=True, slots=True)
class ValueWithGain:
    """A value to a seat, and how much more the seat, or the other, could make of it against the pair."""

    value: float
    gain: float


class EquilibriumOracle(Oracle[A, V]):
    """A pair of policies with a proven NashConv; beliefs follow from the pair."""

    mixes = True
    equivalence_note = (
        "The strategy mixes: whatever it often takes is right, and whatever is worth about as much as its "
        "mixture, or more."
    )

    def __init__(self, rules: Rules[S, A, V], progress: Progress = no_progress) -> None:
        self.rules = rules
        self._tree = build_tree(rules, progress)
        self.solution = find_equilibrium(self._tree, progress)
        self._pair = ProfileValues(self._tree, self.solution.policy)

    # -- answers --------------------------------------------------------------------------------

    def _value_of(self, sight: Sight[A, V]) -> Value:
        return _bounded(self._pair.state_value(sight.seat, self._memory(sight)))

    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """Best is what the policy takes OFTEN at no cost; or else the likeliest of what costs nothing."""
        memory = self._memory(sight)
        value = _bounded(self._pair.state_value(sight.seat, memory))
        values = [_bounded(state_value) for state_value in self._pair.action_values(sight.seat, memory)]
        weights = self.weights(sight)
        free = [
            weight if value.number - after.number <= value.error else 0.0
            for weight, after in zip(weights, values, strict=True)
        ]
        least = min(OFTEN, max(free))
        judged = tuple(
            ActionValue(action, after, at_no_cost >= least, weight, value.error)
            for action, after, at_no_cost, weight in zip(sight.actions, values, free, weights, strict=True)
        )
        return Verdict(value, judged)

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        return self.solution.policy[sight.seat][self._memory(sight)]

    def full_information_value(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Player 1's value, given what both know: the mean, by chance or by the pair, of what comes next."""
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        return _bounded(self._pair.worth_of(self._seeing_all(one, two)))

    def full_information_action_value(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        place = sight.actions.index(action)
        one, two = (sight, others) if sight.seat is Seat.ONE else (others, sight)
        after = {
            self._tree.children[node][place]: chance for node, chance in self._seeing_all(one, two).items()
        }
        state_value = self._pair.worth_of(after).value
        return state_value if sight.seat is Seat.ONE else 1 - state_value

    def _seeing_all(self, one: Sight[A, V], two: Sight[A, V]) -> dict[int, float]:
        fits = self._pair.histories_seeing_all(self._memory(one), self._memory(two))
        if not fits:
            raise DuelsError(f"The two players cannot have seen this together in {self.rules.name}.")
        return fits

    def _memory(self, sight: Sight[A, V]) -> int:
        memory = self._tree.memories[sight.seat].find(sight.events)
        if memory is None or not self._pair.histories(sight.seat, memory):
            raise DuelsError(f"{sight.seat.label} cannot have seen this in {self.rules.name}.")
        return memory

    # -- beliefs --------------------------------------------------------------------------------

    def belief(self, sight: Sight[A, V]) -> dict[str, float]:
        places: dict[str, float] = {}
        matches = NodeMatches(self.rules, self._tree)
        for node, chance in self._pair.histories(sight.seat, self._memory(sight)).items():
            name = self._secret(matches.at(node), sight.seat.other)
            places[name] = places.get(name, 0.0) + chance
        return places if 1 < len(places) <= _MAX_BELIEFS else {}

    def own_secret(self, sight: Sight[A, V]) -> str:
        node = next(iter(self._pair.histories(sight.seat, self._memory(sight))))
        return self._secret(NodeMatches(self.rules, self._tree).at(node), sight.seat)

    def _secret(self, match: AnyMatch, seat: Seat) -> str:
        """The entries of a match that `seat` knows and the other does not."""
        known, others = match.redacted_history(seat), match.redacted_history(seat.other)
        name = ", ".join(
            self.rules.format(action)
            for place, action in enumerate(known)
            if action is not None and (place >= len(others) or others[place] is None)
        )
        return f"hidden {name}" if name.isdigit() else name

    # -- in words -------------------------------------------------------------------------------

    @property
    def _gets(self) -> str:
        return "is worth" if self.rules.can_be_drawn else "wins"

    def reason(self, sight: Sight[A, V]) -> str:
        verdict = self.judge(sight)
        if len(verdict.actions) == 1:
            return "There is nothing to choose."
        taken = max(verdict.actions, key=lambda judged: judged.weight)
        about = f"{self._gets} about {taken.value.number:.1%} by what you can know"
        told = f"{self.rules.format(taken.action)} {about}"
        if taken.weight < _NEARLY_ALWAYS:
            return f"Perfect play mixes here, so that it cannot be read; {told}."
        others = [judged for judged in verdict.actions if judged is not taken]
        second = max(others, key=lambda judged: judged.value.number)
        return f"{told}; the next best, {self.rules.format(second.action)}, {second.value.number:.1%}."

    def effect(self, sight: Sight[A, V], action: A) -> str:
        verdict = self.judge(sight)
        judged = verdict.get_action_value(action)
        often = f"does that {judged.weight:.0%} of the time" if judged.weight else "does not do that"
        return (
            f"You played {self.rules.format(action)}, which {self._gets} about {judged.value.number:.1%} "
            f"instead of {verdict.value.number:.1%}; perfect play {often}."
        )

    def exploitability_bound(self) -> float:
        return self.solution.nash_conv / 2 + ROUNDING

    def guarantee(self) -> str:
        one, two = (self.solution.answers[seat] + ROUNDING for seat in Seat)
        return (
            f"Both seats together could gain at most {_up(one + two - 1)} points by other play than this. "
            f"The game's value to Player 1 lies between {_down(1 - two)}% and {_up(one)}%."
        )

    # -- a second method ------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Find the best answers once more, by plain search through the rules."""
        for seat in Seat:
            progress(f"the best answer of {seat.label}")
            claimed, found = self.solution.answers[seat], best_response(self.rules, seat, self.weights)
            yield Check(
                f"what the best answer of {seat.label} wins",
                abs(claimed - found) <= ROUNDING,
                f"claimed {claimed:.6f}, found {found:.6f}, {len(self._tree):,} histories",
            )


def _bounded(state_value: ValueWithGain) -> Value:
    return Value(state_value.value, Exactness.BOUND, error=min(1.0, state_value.gain + ROUNDING))


def _up(number: float) -> str:
    return f"{math.ceil(number * 10_000) / 100:.2f}"


def _down(number: float) -> str:
    return f"{math.floor(number * 10_000) / 100:.2f}"


class ProfileValues:
    """The pair's values, history by history and by what a seat has seen."""

    def __init__(self, tree: Tree, policy: dict[Seat, Policy]) -> None:
        self.tree = tree
        self.policy = policy
        self.value = self._values()
        """Of each history, to player 1."""
        self._views = {seat: _View(self, seat) for seat in Seat}

    def steps(self, node: int) -> tuple[float, ...]:
        """How likely each continuation of a history is."""
        actor = self.tree.actor[node]
        return (
            self.policy[actor][self.tree.memory[actor][node]]
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

    def histories(self, seat: Seat, memory: int) -> dict[int, float]:
        """The histories after which `seat` has seen just this, with their probabilities; may be empty."""
        view = self._views[seat]
        fits = view.histories[memory]
        total = view.total[memory]
        return {node: view.weight[node] / total if total else 1 / len(fits) for node in fits}

    def histories_seeing_all(self, one: int, two: int) -> dict[int, float]:
        """The histories that fit what both seats have seen, with their probabilities."""
        view, seen = self._views[Seat.ONE], self.tree.memory
        # Either seat may have been the last to learn something.
        fits = [node for node in view.histories[one] if seen[Seat.TWO][node] == two]
        last_two = [node for node in self._views[Seat.TWO].histories[two] if seen[Seat.ONE][node] == one]
        fits += [node for node in last_two if node not in fits]
        total = sum(view.weight[node] for node in fits)
        return {node: view.weight[node] / total if total else 1 / len(fits) for node in fits}

    def worth_of(self, at: dict[int, float]) -> ValueWithGain:
        """What histories with these probabilities are worth to player 1, and what either expects to gain."""
        return ValueWithGain(
            sum(chance * self.value[node] for node, chance in at.items()),
            max(self._expected_gain(seat, at) for seat in Seat),
        )

    def state_value(self, seat: Seat, memory: int) -> ValueWithGain:
        """What it is worth to `seat` to have seen this."""
        return self._seen_by(seat, self.histories(seat, memory), self._views[seat].gain[memory])

    def action_values(self, seat: Seat, memory: int) -> list[ValueWithGain]:
        """What each action of `seat` is worth, where it decides after having seen this."""
        fits = self.histories(seat, memory)
        view, children = self._views[seat], self.tree.children
        worths = []
        for place in range(len(children[next(iter(fits))])):
            after = {children[node][place]: chance for node, chance in fits.items()}
            state_value = self._seen_by(seat, after, 0.0)
            gain = (
                view.after[memory][place] / view.total[memory] - state_value.value
                if view.total[memory]
                else 1.0
            )
            worths.append(ValueWithGain(state_value.value, max(state_value.gain, gain)))
        return worths

    def _seen_by(self, seat: Seat, at: dict[int, float], gain: float) -> ValueWithGain:
        """The mean of histories with these probabilities to `seat`, and its gain or the other's."""
        mean = sum(chance * self.value[node] for node, chance in at.items())
        return ValueWithGain(
            mean if seat is Seat.ONE else 1 - mean, max(gain, self._expected_gain(seat.other, at))
        )

    def _expected_gain(self, seat: Seat, at: dict[int, float]) -> float:
        gain, seen = self._views[seat].gain, self.tree.memory[seat]
        return sum(chance * gain[seen[node]] for node, chance in at.items())


class _View:
    """One seat's side of it; lists by history or by what the seat has seen."""

    def __init__(self, pair: ProfileValues, seat: Seat) -> None:
        tree = pair.tree
        seen = tree.memory[seat]
        count = len(tree.memories[seat])
        self.weight = self._weights(pair, seat)
        """Of each history: the chance that chance and the other bring it about, if the seat wants it."""
        self.histories: list[list[int]] = [[] for _ in range(count)]
        """By what was seen: the histories in which it was first so."""
        came: list[tuple[int, int]] = [(0, 0)] * count
        ends, state_value = [0.0] * count, [0.0] * count
        for node, parent in enumerate(tree.parent):
            value = pair.value[node] if seat is Seat.ONE else 1 - pair.value[node]
            if node in tree.score:
                ends[seen[node]] += self.weight[node] * value
            if parent < 0 or seen[node] != seen[parent]:
                self.histories[seen[node]].append(node)
                state_value[seen[node]] += self.weight[node] * value
                if parent >= 0:
                    mine = tree.actor[parent] is seat
                    came[seen[node]] = (seen[parent], node - tree.children[parent].start if mine else 0)
        self.total = [sum(self.weight[node] for node in nodes) for nodes in self.histories]
        self._find_gains(tree, seat, ends, state_value, came)

    def _find_gains(
        self, tree: Tree, seat: Seat, best: list[float], state_value: list[float], came: list[tuple[int, int]]
    ) -> None:
        """Sum up what the best play wins, from the ends back.

        By what was seen: `best` is what the ends there bring, `state_value` what the policy wins, `came` what
        was seen before and which action followed.
        """
        self.after: dict[int, list[float]] = {}
        """Where the seat decides: what the best play wins after each action, times the chance to be there."""
        self.gain = [1.0] * len(best)
        """How much more than with its policy the best play wins from there on; 1 where that is not known."""
        # What is seen later has a higher number, so everything after it is summed up when it is reached.
        for memory in reversed(range(len(best))):
            nodes = self.histories[memory]
            if not nodes:
                continue
            if memory in self.after:
                best[memory] += max(self.after[memory])
            if self.total[memory]:
                self.gain[memory] = max(0.0, best[memory] - state_value[memory]) / self.total[memory]
            before, place = came[memory]
            parent = tree.parent[nodes[0]]
            if parent >= 0 and tree.actor[parent] is seat:
                actions = self.after.setdefault(before, [0.0] * len(tree.children[parent]))
                actions[place] += best[memory]
            elif parent >= 0:
                best[before] += best[memory]

    @staticmethod
    def _weights(pair: ProfileValues, seat: Seat) -> list[float]:
        tree = pair.tree
        weights = [1.0] * len(tree)
        for node, children in enumerate(tree.children):
            weight, actor = weights[node], tree.actor[node]
            steps = [1.0] * len(children) if actor is seat or not children else pair.steps(node)
            weights[children.start : children.stop] = [weight * step for step in steps]
        return weights
