"""Play for any game with secrets that is small enough to be written out: a pair of policies near equilibrium.

A value is what a seat wins if both follow the pair. Its bound is what the seat, or the other, could still
gain from there on by other play against the pair; so the game's value lies within the bound of the opening.
"""

import math
from collections.abc import Iterator

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.rules import A, Rules, S, Seat, Sight, V
from duels.solving.best_response import best_response
from duels.solving.cfr import find_equilibrium
from duels.solving.oracle import OFTEN, Check, Exactness, Judged, Oracle, Value, Verdict
from duels.solving.progress import Progress, quiet
from duels.solving.tree import Matches, explore_tree
from duels.solving.valuation import ROUNDING, Valuation, Worth

_NEARLY_ALWAYS = 0.9
_MOST_PLACES = 24  # names of a belief: more would be no help to anybody


class EquilibriumOracle(Oracle[A, V]):
    """A pair of policies with a proven NashConv; beliefs follow from the pair."""

    mixes = True
    counts_as_one = (
        "The strategy mixes: whatever it often takes is right, and whatever is worth about as much as its "
        "mixture, or more."
    )

    def __init__(self, rules: Rules[S, A, V], progress: Progress = quiet) -> None:
        self.rules = rules
        self._tree = explore_tree(rules, progress)
        self.solution = find_equilibrium(self._tree, progress)
        self._pair = Valuation(self._tree, self.solution.policy)

    # -- answers --------------------------------------------------------------------------------

    def _value_of(self, sight: Sight[A, V]) -> Value:
        return _bounded(self._pair.worth(sight.seat, self._memory(sight)))

    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """Best is what the policy takes OFTEN at no cost; or else the likeliest of what costs nothing."""
        memory = self._memory(sight)
        value = _bounded(self._pair.worth(sight.seat, memory))
        values = [_bounded(worth) for worth in self._pair.worths_after(sight.seat, memory)]
        weights = self.weights(sight)
        free = [
            weight if value.number - after.number <= value.error else 0.0
            for weight, after in zip(weights, values, strict=True)
        ]
        least = min(OFTEN, max(free))
        judged = tuple(
            Judged(action, after, at_no_cost >= least, weight, value.error)
            for action, after, at_no_cost, weight in zip(sight.actions, values, free, weights, strict=True)
        )
        return Verdict(value, judged)

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        return self.solution.policy[sight.seat][self._memory(sight)]

    def value_seeing_all(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Player 1's value, given what both know: the mean, by chance or by the pair, of what comes next."""
        if one.outcome:
            return Value.of(one.outcome.score(Seat.ONE))
        return _bounded(self._pair.worth_of(self._seeing_all(one, two)))

    def worth_seeing_all(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        place = sight.actions.index(action)
        one, two = (sight, others) if sight.seat is Seat.ONE else (others, sight)
        after = {
            self._tree.children[node][place]: chance for node, chance in self._seeing_all(one, two).items()
        }
        worth = self._pair.worth_of(after).value
        return worth if sight.seat is Seat.ONE else 1 - worth

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
        matches = Matches(self.rules, self._tree)
        for node, chance in self._pair.histories(sight.seat, self._memory(sight)).items():
            name = self._secret(matches.at(node), sight.seat.other)
            places[name] = places.get(name, 0.0) + chance
        return places if 1 < len(places) <= _MOST_PLACES else {}

    def whereabouts(self, sight: Sight[A, V]) -> str:
        node = next(iter(self._pair.histories(sight.seat, self._memory(sight))))
        return self._secret(Matches(self.rules, self._tree).at(node), sight.seat)

    def _secret(self, match: AnyMatch, seat: Seat) -> str:
        """The entries of a match that `seat` knows and the other does not."""
        known, others = match.redacted(seat), match.redacted(seat.other)
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
        judged = verdict.judged(action)
        often = f"does that {judged.weight:.0%} of the time" if judged.weight else "does not do that"
        return (
            f"You played {self.rules.format(action)}, which {self._gets} about {judged.value.number:.1%} "
            f"instead of {verdict.value.number:.1%}; perfect play {often}."
        )

    def exploitability_bound(self) -> float:
        return self.solution.nash_conv / 2 + ROUNDING

    def claim(self) -> str:
        one, two = (self.solution.answers[seat] + ROUNDING for seat in Seat)
        return (
            f"Both seats together could gain at most {_up(one + two - 1)} points by other play than this. "
            f"The game's value to Player 1 lies between {_down(1 - two)}% and {_up(one)}%."
        )

    # -- a second method ------------------------------------------------------------------------

    def verify(self, progress: Progress = quiet) -> Iterator[Check]:
        """Find the best answers once more, by plain search through the rules."""
        for seat in Seat:
            progress(f"the best answer of {seat.label}")
            claimed, found = self.solution.answers[seat], best_response(self.rules, seat, self.weights)
            yield Check(
                f"what the best answer of {seat.label} wins",
                abs(claimed - found) <= ROUNDING,
                f"claimed {claimed:.6f}, found {found:.6f}, {len(self._tree):,} histories",
            )


def _bounded(worth: Worth) -> Value:
    return Value(worth.value, Exactness.BOUND, error=min(1.0, worth.gain + ROUNDING))


def _up(number: float) -> str:
    return f"{math.ceil(number * 10_000) / 100:.2f}"


def _down(number: float) -> str:
    return f"{math.floor(number * 10_000) / 100:.2f}"
