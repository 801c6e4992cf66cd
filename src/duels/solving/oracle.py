"""Oracles: the values of positions and actions, and how certain they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar, Generic, SupportsIndex

from duels.core.errors import NotYourTurn
from duels.core.rules import A, AnyRules, OpenRules, Rules, S, Seat, Sight, V
from duels.core.words import join_or

GIVEN_AWAY, BELOW_THE_MIXTURE = "given away", "below the mixture"
OFTEN = 0.1
"""The minimum weight of an action in a mixed strategy to count as one of the best.

Training leaves a little weight on nearly every action. At least one action of a decision has more than this.
"""
_MAX_LISTED = 3

Progress = Callable[[str], None]
"""A callback that a long computation calls with a short text from time to time."""


def no_progress(text: str) -> None:
    """Ignore the text: the default callback."""


class Exactness(Enum):
    """How certain a value is."""

    EXACT = "exact"
    BOUND = "bound"  # the true value is proven to lie within [low, high]
    ESTIMATE = "estimate"  # nothing is proven


@dataclass(frozen=True, slots=True)
class Value:
    """The probability that a seat wins if both seats play perfectly or follow the best known strategy.

    A draw, a match that is cut off and an endless match count one half.
    """

    number: float
    exactness: Exactness = Exactness.EXACT
    fraction: Fraction | None = None
    """The exact number, if known."""
    error: float = 0.0
    """If `exactness` is BOUND: the maximum difference between `number` and the true value."""

    @classmethod
    def from_fraction(cls, fraction: Fraction) -> "Value":
        return cls(float(fraction), Exactness.EXACT, fraction)

    @property
    def low(self) -> float:
        return max(0.0, self.number - self.error)

    @property
    def high(self) -> float:
        return min(1.0, self.number + self.error)

    def for_other(self) -> "Value":
        """Return the value to the other seat."""
        fraction = None if self.fraction is None else 1 - self.fraction
        return Value(1.0 - self.number, self.exactness, fraction, self.error)

    def __str__(self) -> str:
        """Return a percentage for a sentence, with `about` unless every digit is proven."""
        is_uncertain = self.exactness is Exactness.ESTIMATE or self.error >= 0.0005
        return f"{'about ' * is_uncertain}{100 * self.number:.1f}%"


@dataclass(frozen=True)
class Bounds:
    """An interval that is proven to contain a number."""

    low: float
    high: float

    def percent(self, digits: int) -> tuple[str, str]:
        """Return both bounds in percent, rounded outward so that they stay valid."""
        scale = 10**digits
        # Bounds are often sums of decimals: ignore the rounding errors of floats.
        low, high = (round(100 * scale * bound, 6) for bound in (self.low, self.high))
        return f"{floor(low) / scale:.{digits}f}", f"{ceil(high) / scale:.{digits}f}"

    def in_words(self, separator: str = "to") -> str:
        """Return both bounds in percent for a sentence: `45.10% to 46.02%`."""
        low, high = self.percent(2)
        return f"{low}% {separator} {high}%"


@dataclass(frozen=True, slots=True)
class ActionValue(Generic[A]):
    """A legal action, its value to the player to move, and its probability in perfect play."""

    action: A
    value: Value
    best: bool
    """Whether perfect play may take the action; in a mixed strategy, whether it does so OFTEN at no cost."""
    weight: float
    allowance: float = 0.0
    """The action is a loss only if its value is below that of the mixed strategy by more than this."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[A]):
    """The values of a position and of its legal actions to the player to move."""

    value: Value
    actions: tuple[ActionValue[A], ...]

    @property
    def best(self) -> tuple[A, ...]:
        return tuple(action_value.action for action_value in self.actions if action_value.best)

    @property
    def losses(self) -> tuple[float, ...]:
        """The loss of each action: 0 for the best actions.

        For the others it is the position's value minus the action's value, minus the allowance.
        """
        return tuple(self._loss(action_value) for action_value in self.actions)

    def _loss(self, action_value: ActionValue[A]) -> float:
        if action_value.best:
            return 0.0
        return max(0.0, self.value.number - action_value.value.number - action_value.allowance)

    def get_action_value(self, action: A) -> ActionValue[A]:
        """Return the value of a legal action."""
        return next(action_value for action_value in self.actions if action_value.action == action)

    def loss(self, action: A) -> float:
        """Return the loss of a legal action."""
        return self._loss(self.get_action_value(action))

    @property
    def below_mixture(self) -> tuple[float, ...]:
        """How much worse each action is than the mixed strategy; negative for better actions.

        This is not a loss: its mean over the strategy's own choices is 0.
        """
        return tuple(self.value.number - action_value.value.number for action_value in self.actions)

    def loss_error(self, action: A) -> float:
        """Return the maximum error of `loss` by the proven bounds, or 0 without bounds."""
        if self.value.exactness is not Exactness.BOUND:
            return 0.0
        loss, value = self.loss(action), self.get_action_value(action).value
        max_loss = self.value.high - value.low
        min_loss = max(0.0, self.value.low - value.high)
        return max(max_loss - loss, loss - min_loss)

    @property
    def is_mixed(self) -> bool:
        """Whether perfect play takes several actions with different probabilities."""
        return len({action_value.weight for action_value in self.actions if action_value.weight}) > 1

    @property
    def is_indifferent(self) -> bool:
        """Whether all actions are equally good."""
        return all(
            action_value.best and action_value.value == self.actions[0].value for action_value in self.actions
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """An additional fact about a position, as text and as data for JSON."""

    name: str
    text: str
    data: Any


@dataclass(frozen=True, slots=True)
class Check:
    """The result of an independent check."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name} ({self.detail})"


class Oracle(ABC, Generic[A, V]):
    """Perfect play for one game, given the information of one seat.

    An oracle gets sights, not states, so it cannot reveal secrets. Subclasses must implement `_value_of`
    and `_verdict_on`. The methods for explanations, beliefs, full information and checks are optional.
    """

    rules: Rules[Any, A, V]
    mixes: ClassVar[bool] = False
    """Whether perfect play is mixed, so that the weights matter."""
    hidden: ClassVar[str] = "secret"
    """The noun for the other player's secret, such as `token`."""
    equivalence_note: ClassVar[str] = ""
    """One or two sentences that say which answers to an exercise count as equal (see `action_class`)."""
    factory: Callable[[AnyRules], Any] | None = None
    """A function that returns the oracle of some rules. Pickles use it instead of copying the oracle."""
    _last_verdict: tuple[Sight[A, V], Verdict[A]] | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return (self.factory, (self.rules,)) if self.factory else super().__reduce_ex__(protocol)

    def value(self, sight: Sight[A, V]) -> Value:
        """Return the value of the position to `sight.seat`, whichever seat is to move."""
        return (
            Value.from_fraction(sight.outcome.score(sight.seat)) if sight.outcome else self._value_of(sight)
        )

    def judge(self, sight: Sight[A, V]) -> Verdict[A]:
        """Return the values of all legal actions of `sight.seat`.

        Raises NotYourTurn if the seat is not to move.
        """
        # Callers often ask for the reason next, which needs the same verdict.
        last = self._last_verdict  # read once, because other threads replace it
        if last and last[0] is sight:
            return last[1]
        if not sight.actions:
            raise NotYourTurn(f"{sight.seat.label} has nothing to decide in this position.")
        verdict = self._verdict_on(sight)
        self._last_verdict = sight, verdict
        return verdict

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        """Return the probability of each of `sight.actions` in perfect play."""
        return tuple(action_value.weight for action_value in self.judge(sight).actions)

    @property
    def measure(self) -> str:
        """The measure of decisions: GIVEN_AWAY or BELOW_THE_MIXTURE.

        If the strategy is mixed, few actions are losses. The comparison with the mixed strategy says more:
        its mean is 0 for a player that follows the strategy.
        """
        return BELOW_THE_MIXTURE if self.mixes else GIVEN_AWAY

    def shortfalls(self, verdict: Verdict[A]) -> tuple[float, ...]:
        """Return the shortfall of each action by `measure`; it may be negative if the strategy is mixed."""
        return verdict.below_mixture if self.mixes else verdict.losses

    @abstractmethod
    def _value_of(self, sight: Sight[A, V]) -> Value:
        """Return `value` for a match that is not over."""

    @abstractmethod
    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """Return `judge` for a seat that is to move."""

    # -- sentences for `sight.seat`, in the second person and without secrets of the other seat ---------

    def reason(self, sight: Sight[A, V]) -> str:
        """Return one or two sentences on why the best action is best."""
        verdict = self.judge(sight)
        if verdict.is_indifferent:
            if verdict.value.number == 0:
                return "The other player wins whatever you do."
            return f"Every action is worth {verdict.value}."
        if verdict.is_mixed:
            return f"The mixture is worth {verdict.value}: a predictable player gets less."
        best = [self.rules.format(action) for action in verdict.best]
        others = [action_value.value for action_value in verdict.actions if not action_value.best]
        next_best = max(others, key=lambda value: value.number, default=None)
        next_best_note = f"; anything else is worth {next_best} at most" if next_best else ""
        return f"Best is {join_or(best, _MAX_LISTED)}, worth {verdict.value}{next_best_note}."

    def pointer(self, sight: Sight[A, V]) -> str:
        """Return one or two sentences that tell a beginner where to look, not what the best action is."""
        verdict = self.judge(sight)
        best, count = len(verdict.best), len(verdict.actions)
        if count == 1:
            return "You have only one legal action."
        if verdict.value.high == 0:
            return "Every action loses against perfect play: look for the one that is hardest to answer."
        if verdict.is_indifferent:
            return "Against perfect play, all your actions are equally good."
        if verdict.is_mixed:
            return "Do not be predictable here: there is more than one good action."
        return f"{best} of your {count} actions {'is' if best == 1 else 'are'} better than the others."

    def effect(self, sight: Sight[A, V], action: A) -> str:
        """Return one sentence on the effect of an action that is not best, or ''."""
        value = self.judge(sight).get_action_value(action).value
        return f"You played {self.rules.format(action)}, which left you {value}."

    def describe_action(self, action: A) -> str:
        """Return a clause about an action, without its subject (`went to 7`), or '' for the default."""
        return ""

    def describe_outcome(self, outcome: A) -> str:
        """Return a clause about a chance outcome (`the coin showed heads`), or '' for the default."""
        return ""

    def action_class(self, sight: Sight[A, V], action: A) -> Hashable:
        """Return a key that is equal for equivalent actions, such as flips of unseen tiles."""
        return action

    def theme(self, sight: Sight[A, V], action: A) -> Hashable:
        """Return a key for the lesson of a position in which `action` is right."""
        return self.action_class(sight, action)

    def mistake_category(self, sight: Sight[A, V], action: A) -> str:
        """Return the category of a mistake (`flipping an unknown tile`), or ''."""
        return ""

    def findings(self, sight: Sight[A, V]) -> Iterator[Finding]:
        """Yield additional facts about this position."""
        return iter(())

    def guarantee(self) -> str:
        """Return sentences on what is proven about the oracle's play, or '' if its values are exact."""
        return ""

    # -- secrets --------------------------------------------------------------------------------

    def belief(self, sight: Sight[A, V]) -> Mapping[str, float]:
        """Return the probability of each possible secret of the other player, by name; empty if unknown.

        Names of secrets that exclude each other differ only in a number: `position 1`, `position 2`.
        """
        return {}

    def own_secret(self, sight: Sight[A, V]) -> str:
        """Return the name of the seat's own secret, the same as in the other player's belief."""
        return ""

    def full_information_value(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Return player 1's value given both seats' secrets; by default, given those of the seat to move.

        It should be the mean of the values after the next action, weighted by the odds or the strategy.
        """
        return self.value(two).for_other() if two.actor is Seat.TWO else self.value(one)

    def full_information_action_value(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        """Return the value of `action` to `sight.seat` given both seats' secrets; by default 1/2.

        It serves to reduce the variance of measurements, not as advice.
        """
        return 0.5

    def quick_value(self, state: Any) -> float:
        """Return player 1's value of a state without hidden information, to reduce the variance of results.

        An oracle whose values take long may return an estimate that depends only on the state.
        """
        return self.value(self.rules.sight(state, Seat.ONE)).number

    def unforeseen_loss(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Return how an action lost although the seat could not foresee it: `went onto …`, or ''.

        The clause has no subject. In it, `{whose}` stands for `your` or `club's`, the possessive of the other
        player. The action has lost the match, even if neither seat knows yet.
        """
        return ""

    def winning_discovery(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Return how `action` wins at once by finding a secret, as a clause without a subject, or ''."""
        return ""

    def values_against(self, sight: Sight[A, V], share: float) -> Mapping[A, Value]:
        """Return the value of each action against the level with this share (see `players.levels`).

        Games with hidden information may override this method. The default is empty.
        """
        return {}

    # -- proofs ---------------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Yield the results of checks by independent methods."""
        return iter(())

    def exploitability_bound(self) -> float | None:
        """Return a proven bound on the oracle's exploitability, averaged over both seats, or None."""
        return None


class OpenOracle(Oracle[A, S]):
    """An oracle with exact values of every position of a game without hidden information."""

    def __init__(self, rules: OpenRules[S, A]) -> None:
        self.rules = rules

    @abstractmethod
    def state_value(self, state: S) -> Fraction:
        """Return the probability that player 1 wins, whichever seat is to move."""

    def action_values(self, state: S, actions: tuple[A, ...]) -> list[Fraction]:
        """Return `state_value` after each action."""
        return [self.state_value(self.rules.apply(state, action).state) for action in actions]

    def select_quickest(self, state: S, best: tuple[A, ...]) -> tuple[A, ...]:
        """Return the actions of `best` that win most quickly or, in a lost position, resist longest."""
        return best

    def _value_of(self, sight: Sight[A, S]) -> Value:
        return Value.from_fraction(_to_seat(sight.seat, self.state_value(sight.view)))

    def _verdict_on(self, sight: Sight[A, S]) -> Verdict[A]:
        values = [_to_seat(sight.seat, value) for value in self.action_values(sight.view, sight.actions)]
        highest = max(values)
        best = tuple(action for action, value in zip(sight.actions, values, strict=True) if value == highest)
        quickest = frozenset(self.select_quickest(sight.view, best))
        action_values = tuple(
            ActionValue(
                action, Value.from_fraction(value), value == highest, (action in quickest) / len(quickest)
            )
            for action, value in zip(sight.actions, values, strict=True)
        )
        return Verdict(Value.from_fraction(highest), action_values)


def _to_seat(seat: Seat, value: Fraction) -> Fraction:
    return value if seat is Seat.ONE else 1 - value
