"""What an oracle answers: the value of a position and of every action, and how sure that is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Generic, SupportsIndex

from duels.core.errors import NotYourTurn
from duels.core.rules import A, AnyRules, OpenRules, Rules, S, Seat, Sight, V
from duels.core.words import join_or
from duels.solving.progress import Progress, no_progress

GIVEN_AWAY, BELOW_THE_MIXTURE = "given away", "below the mixture"
OFTEN = 0.1
"""The least weight of an action in a mixed strategy for it to count as one of the best.

Training leaves a little weight on nearly every action, which is no advice. Of the few actions that matter in
one decision, one always has more.
"""
_MAX_LISTED = 3


class Exactness(Enum):
    """How sure a value is."""

    EXACT = "exact"
    BOUND = "bound"  # the true value is proven to lie within [low, high]
    ESTIMATE = "estimate"  # nothing is proven


@dataclass(frozen=True, slots=True)
class Value:
    """The probability that a seat wins under perfect play of both, or by the strategy where none is known.

    A draw counts one half, and so does a match that is cut off or never ends.
    """

    number: float
    exactness: Exactness = Exactness.EXACT
    fraction: Fraction | None = None
    """The same number, exactly, where it is known."""
    error: float = 0.0
    """For a bound: the true value is at most this far from `number`."""

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
        """The same value as the other seat has it."""
        flipped = None if self.fraction is None else 1 - self.fraction
        return Value(1.0 - self.number, self.exactness, flipped, self.error)

    def __str__(self) -> str:
        """A percentage for a sentence: `about` where the digits shown are not all proven."""
        unsure = self.exactness is Exactness.ESTIMATE or self.error >= 0.0005
        return f"{'about ' * unsure}{100 * self.number:.1f}%"


@dataclass(frozen=True, slots=True)
class ActionValue(Generic[A]):
    """One legal action: its value to the seat that takes it, and how often perfect play takes it."""

    action: A
    value: Value
    best: bool
    """Whether perfect play may take it, as far as is known; where it mixes, OFTEN and at no cost."""
    weight: float
    allowance: float = 0.0
    """Shortfall below the mixture's value that is not charged as a loss."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[A]):
    """A decision judged: the position's value to the seat to move, and each legal action's."""

    value: Value
    actions: tuple[ActionValue[A], ...]

    @property
    def best(self) -> tuple[A, ...]:
        return tuple(judged.action for judged in self.actions if judged.best)

    @property
    def losses(self) -> tuple[float, ...]:
        """What each action gives away of the position's value.

        A best action loses nothing; any other loses the difference of the values, less its allowance.
        """
        return tuple(self._loss(judged) for judged in self.actions)

    def _loss(self, judged: ActionValue[A]) -> float:
        if judged.best:
            return 0.0
        return max(0.0, self.value.number - judged.value.number - judged.allowance)

    def get_action_value(self, action: A) -> ActionValue[A]:
        """Return the judgement of one of the legal actions."""
        return next(judged for judged in self.actions if judged.action == action)

    def loss(self, action: A) -> float:
        """What one of the legal actions gives away."""
        return self._loss(self.get_action_value(action))

    @property
    def below_mixture(self) -> tuple[float, ...]:
        """How far each action's value lies below the mixture's; negative for one above it.

        It is no loss: the mean over an oracle's own weights is 0, however dear one of the actions is.
        """
        return tuple(self.value.number - judged.value.number for judged in self.actions)

    def loss_error(self, action: A) -> float:
        """How far `loss` may be off by the proven bounds; 0 where there are none."""
        if self.value.exactness is not Exactness.BOUND:
            return 0.0
        loss, value = self.loss(action), self.get_action_value(action).value
        most = self.value.high - value.low
        least = max(0.0, self.value.low - value.high)
        return max(most - loss, loss - least)

    @property
    def is_mixed(self) -> bool:
        """Whether it matters how often perfect play takes which of its actions."""
        return len({judged.weight for judged in self.actions if judged.weight}) > 1

    @property
    def is_indifferent(self) -> bool:
        """Whether it does not matter which action is taken."""
        return all(judged.best and judged.value == self.actions[0].value for judged in self.actions)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an oracle knows beyond values: as text for people, and as data under a name."""

    name: str
    text: str
    data: Any


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a second, independent method confirmed, or did not."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name} ({self.detail})"


class Oracle(ABC, Generic[A, V]):
    """Perfect play for one game's rules, from what one seat may know.

    An oracle is given sights, never states: it cannot tell a seat what the seat may not know. It must value
    and judge. An oracle that can also explain, track beliefs, see both sides or verify itself overrides the
    methods for that.
    """

    rules: Rules[Any, A, V]
    mixes: ClassVar[bool] = False
    """Whether perfect play has to be unpredictable, so that it is the weights that count."""
    hidden: ClassVar[str] = "secret"
    """What the other player hides, in a game with secrets: `token`."""
    equivalence_note: ClassVar[str] = ""
    """Which answers to an exercise count as the same (see `action_class`), in one or two sentences; or ''."""
    factory: Callable[[AnyRules], Any] | None = None
    """What gives this oracle for its rules: a copy then asks it, in another process too."""
    _judged_last: tuple[Sight[A, V], Verdict[A]] | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return (self.factory, (self.rules,)) if self.factory else super().__reduce_ex__(protocol)

    def value(self, sight: Sight[A, V]) -> Value:
        """The value of the position to `sight.seat`, whoever is to act: seat, chance or nobody."""
        return (
            Value.from_fraction(sight.outcome.score(sight.seat)) if sight.outcome else self._value_of(sight)
        )

    def judge(self, sight: Sight[A, V]) -> Verdict[A]:
        """Judge every legal action of `sight.seat`, whose turn it is."""
        # Callers mostly ask for the reason next, which would take as long again.
        last = self._judged_last
        if last and last[0] is sight:
            return last[1]
        if not sight.actions:
            raise NotYourTurn(f"{sight.seat.label} has nothing to decide in this position.")
        verdict = self._verdict_on(sight)
        self._judged_last = sight, verdict
        return verdict

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        """How often perfect play takes each of `sight.actions`; override it where that is quicker."""
        return tuple(judged.weight for judged in self.judge(sight).actions)

    @property
    def measure(self) -> str:
        """What decisions are graded by: GIVEN_AWAY or BELOW_THE_MIXTURE.

        Nothing that a strategy mixes in is a loss, so hardly anything is one. How far choices lie below the
        mixture tells more: that is 0 on average for a player that mixes like the strategy.
        """
        return BELOW_THE_MIXTURE if self.mixes else GIVEN_AWAY

    def shortfalls(self, verdict: Verdict[A]) -> tuple[float, ...]:
        """How much each action falls short, by `measure`; below the mixture it may be negative."""
        return verdict.below_mixture if self.mixes else verdict.losses

    @abstractmethod
    def _value_of(self, sight: Sight[A, V]) -> Value:
        """`value` while the match goes on."""

    @abstractmethod
    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """`judge`, where there is something to decide."""

    # -- in words: plain English in the second person, to `sight.seat`, of what that seat may know ----------

    def reason(self, sight: Sight[A, V]) -> str:
        """One sentence or two on why the best action is best."""
        verdict = self.judge(sight)
        if verdict.is_indifferent:
            if verdict.value.number == 0:
                return "The other player wins whatever you do."
            return f"Every action is worth {verdict.value}."
        if verdict.is_mixed:
            return f"The mixture is worth {verdict.value}: whoever can be foreseen gets less."
        best = [self.rules.format(action) for action in verdict.best]
        others = [judged.value for judged in verdict.actions if not judged.best]
        next_best = max(others, key=lambda value: value.number, default=None)
        rest = f"; anything else is worth {next_best} at most" if next_best else ""
        return f"Best is {join_or(best, _MAX_LISTED)}, worth {verdict.value}{rest}."

    def effect(self, sight: Sight[A, V], action: A) -> str:
        """One sentence on what an action that is not best did; may be empty."""
        value = self.judge(sight).get_action_value(action).value
        return f"You played {self.rules.format(action)}, which left you {value}."

    def describe_action(self, action: A) -> str:
        """A clause without its subject on what an action was (`went to 7`); empty for a generic one."""
        return ""

    def describe_outcome(self, outcome: A) -> str:
        """A clause on what chance brought (`the coin showed heads`); empty for a generic one."""
        return ""

    def action_class(self, sight: Sight[A, V], action: A) -> Hashable:
        """The action, up to differences that do not matter: tiles nobody has seen are alike."""
        return action

    def theme(self, sight: Sight[A, V], action: A) -> Hashable:
        """What a position teaches in which the action is right; two positions may teach the same."""
        return self.action_class(sight, action)

    def mistake_category(self, sight: Sight[A, V], action: A) -> str:
        """What sort of action it is (`flipping an unknown tile`), to tell mistakes apart; may be empty."""
        return ""

    def findings(self, sight: Sight[A, V]) -> Iterator[Finding]:
        """What else is worth knowing in this position."""
        return iter(())

    def guarantee(self) -> str:
        """What is proven about this oracle's play as a whole; empty where every value says it already."""
        return ""

    # -- secrets --------------------------------------------------------------------------------

    def belief(self, sight: Sight[A, V]) -> Mapping[str, float]:
        """What is hidden from the seat, by name, as probabilities; empty where that is not known.

        Places that exclude each other are numbered (`position 1`, `position 2`, `die 6`).
        """
        return {}

    def own_secret(self, sight: Sight[A, V]) -> str:
        """The seat's own secret, by the name that it has in the other's belief."""
        return ""

    def full_information_value(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Player 1's value, given what both seats know; by default, as the actor knows it.

        It should be consistent: the mean, by the odds of chance or by the actor's strategy, over what comes
        next.
        """
        return self.value(two).for_other() if two.actor is Seat.TWO else self.value(one)

    def full_information_action_value(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        """What `action` is worth to `sight.seat`, given the secrets of both; by default, all alike.

        It takes luck out of measurements, and is nobody's advice.
        """
        return 0.5

    def unforeseen_loss(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Clause without its subject (`went onto …`) on a loss that `sight.seat` could not foresee, or ''.

        It says that `action` has lost the match already, though neither seat may know yet. `{whose}` in it
        stands for the other player: `your`, `club's`.
        """
        return ""

    def winning_discovery(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Clause of the same form on how `action` wins the match at once, by finding a secret; or ''."""
        return ""

    # -- proofs ---------------------------------------------------------------------------------

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Checks by methods written apart from the oracle, one at a time as they finish."""
        return iter(())

    def exploitability_bound(self) -> float | None:
        """The most that its play can be exploited by, on average over both seats; None if none is proven."""
        return None


class OpenOracle(Oracle[A, S]):
    """An oracle of a game without secrets that knows every position's value exactly."""

    def __init__(self, rules: OpenRules[S, A]) -> None:
        self.rules = rules

    @abstractmethod
    def state_value(self, state: S) -> Fraction:
        """The probability that player 1 wins, whoever is to act, or nobody."""

    def action_values(self, state: S, actions: tuple[A, ...]) -> list[Fraction]:
        """`state_value` after each of `actions`; games override it where they know a quicker way."""
        return [self.state_value(self.rules.apply(state, action).state) for action in actions]

    def select_quickest(self, state: S, best: tuple[A, ...]) -> tuple[A, ...]:
        """Those of the equally good actions that win most quickly, or resist longest."""
        return best

    def _value_of(self, sight: Sight[A, S]) -> Value:
        return Value.from_fraction(_seen_from(sight.seat, self.state_value(sight.view)))

    def _verdict_on(self, sight: Sight[A, S]) -> Verdict[A]:
        worths = [_seen_from(sight.seat, worth) for worth in self.action_values(sight.view, sight.actions)]
        most = max(worths)
        best = tuple(action for action, worth in zip(sight.actions, worths, strict=True) if worth == most)
        taken = frozenset(self.select_quickest(sight.view, best))
        judged = tuple(
            ActionValue(action, Value.from_fraction(worth), worth == most, (action in taken) / len(taken))
            for action, worth in zip(sight.actions, worths, strict=True)
        )
        return Verdict(Value.from_fraction(most), judged)


def _seen_from(seat: Seat, worth: Fraction) -> Fraction:
    return worth if seat is Seat.ONE else 1 - worth
