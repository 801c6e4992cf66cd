"""What every history is worth under a pair of policies, and what either seat could gain by leaving the pair.

The value of a history is zero-sum, and the mean of what follows by the pair and by chance. What a seat has
seen is worth the mean of the histories that fit, each as likely as chance and the other's policy make it.
"""

from dataclasses import dataclass
from operator import mul

from duels.core.rules import Seat
from duels.solving.cfr import Policy
from duels.solving.tree import Tree

ROUNDING = 1e-9
"""More than all rounding of the sums here."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A value to a seat, and how much more the seat, or the other, could make of it against the pair."""

    value: float
    gain: float


class Valuation:
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

    def worth_of(self, at: dict[int, float]) -> Worth:
        """What histories with these probabilities are worth to player 1, and what either expects to gain."""
        return Worth(
            sum(chance * self.value[node] for node, chance in at.items()),
            max(self._expected_gain(seat, at) for seat in Seat),
        )

    def worth(self, seat: Seat, memory: int) -> Worth:
        """What it is worth to `seat` to have seen this."""
        return self._seen_by(seat, self.histories(seat, memory), self._views[seat].gain[memory])

    def worths_after(self, seat: Seat, memory: int) -> list[Worth]:
        """What each action of `seat` is worth, where it decides after having seen this."""
        fits = self.histories(seat, memory)
        view, children = self._views[seat], self.tree.children
        worths = []
        for place in range(len(children[next(iter(fits))])):
            after = {children[node][place]: chance for node, chance in fits.items()}
            worth = self._seen_by(seat, after, 0.0)
            gain = view.after[memory][place] / view.total[memory] - worth.value if view.total[memory] else 1.0
            worths.append(Worth(worth.value, max(worth.gain, gain)))
        return worths

    def _seen_by(self, seat: Seat, at: dict[int, float], gain: float) -> Worth:
        """The mean of histories with these probabilities to `seat`, and its gain or the other's."""
        mean = sum(chance * self.value[node] for node, chance in at.items())
        return Worth(mean if seat is Seat.ONE else 1 - mean, max(gain, self._expected_gain(seat.other, at)))

    def _expected_gain(self, seat: Seat, at: dict[int, float]) -> float:
        gain, seen = self._views[seat].gain, self.tree.memory[seat]
        return sum(chance * gain[seen[node]] for node, chance in at.items())


class _View:
    """One seat's side of it; lists by history or by what the seat has seen."""

    def __init__(self, pair: Valuation, seat: Seat) -> None:
        tree = pair.tree
        seen = tree.memory[seat]
        count = len(tree.memories[seat])
        self.weight = self._weights(pair, seat)
        """Of each history: the chance that chance and the other bring it about, if the seat wants it."""
        self.histories: list[list[int]] = [[] for _ in range(count)]
        """By what was seen: the histories in which it was first so."""
        came: list[tuple[int, int]] = [(0, 0)] * count
        ends, worth = [0.0] * count, [0.0] * count
        for node, parent in enumerate(tree.parent):
            value = pair.value[node] if seat is Seat.ONE else 1 - pair.value[node]
            if node in tree.score:
                ends[seen[node]] += self.weight[node] * value
            if parent < 0 or seen[node] != seen[parent]:
                self.histories[seen[node]].append(node)
                worth[seen[node]] += self.weight[node] * value
                if parent >= 0:
                    mine = tree.actor[parent] is seat
                    came[seen[node]] = (seen[parent], node - tree.children[parent].start if mine else 0)
        self.total = [sum(self.weight[node] for node in nodes) for nodes in self.histories]
        self._find_gains(tree, seat, ends, worth, came)

    def _find_gains(
        self, tree: Tree, seat: Seat, best: list[float], worth: list[float], came: list[tuple[int, int]]
    ) -> None:
        """Sum up what the best play wins, from the ends back.

        By what was seen: `best` is what the ends there bring, `worth` what the policy wins, `came` what was
        seen before and which action followed.
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
                self.gain[memory] = max(0.0, best[memory] - worth[memory]) / self.total[memory]
            before, place = came[memory]
            parent = tree.parent[nodes[0]]
            if parent >= 0 and tree.actor[parent] is seat:
                actions = self.after.setdefault(before, [0.0] * len(tree.children[parent]))
                actions[place] += best[memory]
            elif parent >= 0:
                best[before] += best[memory]

    @staticmethod
    def _weights(pair: Valuation, seat: Seat) -> list[float]:
        tree = pair.tree
        weights = [1.0] * len(tree)
        for node, children in enumerate(tree.children):
            weight, actor = weights[node], tree.actor[node]
            steps = [1.0] * len(children) if actor is seat or not children else pair.steps(node)
            weights[children.start : children.stop] = [weight * step for step in steps]
        return weights
