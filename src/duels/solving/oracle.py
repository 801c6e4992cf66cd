"""What an oracle answers: how good a position is, how good every action, and how sure that is."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Generic

from duels.core.errors import NotYourTurn
from duels.core.match import Conceded
from duels.core.rules import A, OpenRules, S, Seat, Sight, V
from duels.solving.progress import Progress, quiet

OFTEN = 0.1
"""How often a mixed strategy takes an action at least for it to be one of the best.

Training leaves a little weight on nearly every action: less than this is no advice. Of the few actions
that matter in one decision, one always has more.
"""


class Exactness(Enum):
    """How sure a value is."""

    EXACT = "exact"
    BOUND = "bound"  # the true value is proven to lie within [low, high]
    ESTIMATE = "estimate"  # nothing is proven


@dataclass(frozen=True, slots=True)
class Value:
    """The probability that a seat wins under perfect play of both; never-ending play counts one half."""

    number: float
    exactness: Exactness = Exactness.EXACT
    fraction: Fraction | None = None
    """The same number, exactly, where it is known."""
    error: float = 0.0
    """For a bound: the true value is at most this far from `number`."""

    @classmethod
    def of(cls, fraction: Fraction) -> "Value":
        return cls(float(fraction), Exactness.EXACT, fraction)

    @property
    def low(self) -> float:
        return max(0.0, self.number - self.error)

    @property
    def high(self) -> float:
        return min(1.0, self.number + self.error)

    def for_other(self) -> "Value":
        """The same value from the other seat's side of the table."""
        flipped = None if self.fraction is None else 1 - self.fraction
        return Value(1.0 - self.number, self.exactness, flipped, self.error)


@dataclass(frozen=True, slots=True)
class Judged(Generic[A]):
    """One legal action: its value to the seat that takes it, and how often perfect play takes it."""

    action: A
    value: Value
    best: bool
    """Whether perfect play may take it, as far as anybody can tell; where it mixes, OFTEN and at no cost."""
    weight: float
    allowance: float = 0.0
    """How much less than the position its value may be at no cost, where values of what is mixed differ."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[A]):
    """A decision judged: the position's value to the seat to move, and each legal action's."""

    value: Value
    actions: tuple[Judged[A], ...]

    @property
    def best(self) -> tuple[A, ...]:
        return tuple(judged.action for judged in self.actions if judged.best)

    @property
    def losses(self) -> tuple[float, ...]:
        """What each action gives away of the position's value.

        A best one costs nothing; any other costs what its value says, less its allowance, at least 0.
        """
        return tuple(
            0.0 if judged.best else max(0.0, self.value.number - judged.value.number - judged.allowance)
            for judged in self.actions
        )

    def loss(self, action: A) -> float:
        """What one of the legal actions gives away."""
        return self.losses[[judged.action for judged in self.actions].index(action)]

    def loss_error(self, action: A) -> float:
        """How far `loss` may be off, by the bounds that are proven; 0 where there are none."""
        (judged,) = (judged for judged in self.actions if judged.action == action)
        if self.value.exactness is not Exactness.BOUND:
            return 0.0
        loss = self.loss(action)
        most = self.value.high - judged.value.low
        least = max(0.0, self.value.low - judged.value.high)
        return max(most - loss, loss - least)

    @property
    def mixed(self) -> bool:
        """Whether it matters how often perfect play takes which of its actions."""
        return len({judged.weight for judged in self.actions if judged.weight}) > 1

    @property
    def alike(self) -> bool:
        """Whether it does not matter which action is taken."""
        return all(judged.best and judged.value == self.actions[0].value for judged in self.actions)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an oracle knows beyond values: told to people, and as data under a name."""

    name: str
    text: str
    data: Any


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a second method confirmed, or did not."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name} ({self.detail})"


class Oracle(ABC, Generic[A, V]):
    """Perfect play for one game's rules, from what one seat may know.

    An oracle is given sights, never states: it cannot tell a seat what the seat may not know.
    """

    mixes: ClassVar[bool] = False
    """Whether perfect play has to be unpredictable, so that it is the weights that count."""
    counts_as_one: ClassVar[str] = ""
    """Which actions are the same answer, as `idea` has it, or right alike, in words."""
    _judged_last: tuple[Sight[A, V], Verdict[A]] | None = None

    def value(self, sight: Sight[A, V]) -> Value:
        """The value of the position to `sight.seat`, whoever is to act: seat, chance or nobody."""
        if sight.events and isinstance(sight.events[-1], Conceded):
            return Value.of(sight.events[-1].outcome.score(sight.seat))
        return self._value_of(sight)

    def judge(self, sight: Sight[A, V]) -> Verdict[A]:
        """Judge every legal action of `sight.seat`, whose turn it is."""
        # Whoever asks for a verdict mostly asks for its reason next, which may take as long again.
        last = self._judged_last
        if last and last[0] is sight:
            return last[1]
        if not sight.actions:
            raise NotYourTurn(f"{sight.seat.label} has nothing to decide in this position.")
        verdict = self._verdict_on(sight)
        self._judged_last = sight, verdict
        return verdict

    @abstractmethod
    def _value_of(self, sight: Sight[A, V]) -> Value:
        """`value`, where nobody has resigned."""

    @abstractmethod
    def _verdict_on(self, sight: Sight[A, V]) -> Verdict[A]:
        """`judge`, where there is something to decide."""

    @abstractmethod
    def reason(self, sight: Sight[A, V]) -> str:
        """One plain sentence why the best action is best, from what the seat may know."""

    def effect(self, sight: Sight[A, V], action: A) -> str:
        """One plain sentence on what an action that is not best did, from what the seat could know."""
        return ""

    def weights(self, sight: Sight[A, V]) -> tuple[float, ...]:
        """How often perfect play takes each of `sight.actions`; games override it where that is quicker."""
        return tuple(judged.weight for judged in self.judge(sight).actions)

    def worth_seeing_all(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        """About what `action` is worth to `sight.seat`, to somebody who sees both sides of the table.

        Only where `mixes`: it takes luck out of measurements, and is nobody's advice.
        """
        raise NotImplementedError

    def mishap(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """What `action` did that lost the match there and then, unknown to anybody who decided it.

        A sentence without its full stop to who did it, from both sides of the table; empty otherwise.
        """
        return ""

    def belief(self, sight: Sight[A, V]) -> dict[str, float]:
        """Where hidden things may be, by name, as probabilities; empty in games without secrets."""
        return {}

    def whereabouts(self, sight: Sight[A, V]) -> str:
        """Where the seat's own hidden thing is, by the name that the other's belief has for it."""
        return ""

    def idea(self, sight: Sight[A, V], action: A) -> Hashable:
        """What the action is, up to differences that do not matter: tiles nobody has seen are alike."""
        return action

    def lesson(self, sight: Sight[A, V], action: A) -> Hashable:
        """What there is to learn where the action is right: two positions can teach the same."""
        return self.idea(sight, action)

    def findings(self, sight: Sight[A, V]) -> Iterator[Finding]:
        """What else is worth knowing in this position."""
        return iter(())

    def claim(self) -> str:
        """What is proven about this oracle's play as a whole, where values are estimates; else empty."""
        return ""

    def verify(self, progress: Progress = quiet) -> Iterator[Check]:
        """Check the oracle by methods written apart from it, one at a time as they finish."""
        return iter(())


class OpenOracle(Oracle[A, S]):
    """An oracle of a game without secrets that knows every position's value exactly."""

    def __init__(self, rules: OpenRules[S, A]) -> None:
        self.rules = rules

    @abstractmethod
    def worth(self, state: S) -> Fraction:
        """The probability that player 1 wins, whoever is to act, or nobody."""

    def worths_after(self, state: S, actions: tuple[A, ...]) -> list[Fraction]:
        """`worth` after each of `actions`; games override it where they know a quicker way."""
        return [self.worth(self.rules.apply(state, action).state) for action in actions]

    def quickest(self, state: S, best: tuple[A, ...]) -> tuple[A, ...]:
        """Which of the equally good actions perfect play takes: the quickest win, the longest resistance."""
        return best

    def _value_of(self, sight: Sight[A, S]) -> Value:
        return Value.of(_seen_from(sight.seat, self.worth(sight.view)))

    def _verdict_on(self, sight: Sight[A, S]) -> Verdict[A]:
        worths = [_seen_from(sight.seat, worth) for worth in self.worths_after(sight.view, sight.actions)]
        most = max(worths)
        best = tuple(action for action, worth in zip(sight.actions, worths, strict=True) if worth == most)
        taken = frozenset(self.quickest(sight.view, best))
        judged = tuple(
            Judged(action, Value.of(worth), worth == most, (action in taken) / len(taken))
            for action, worth in zip(sight.actions, worths, strict=True)
        )
        return Verdict(Value.of(most), judged)


def _seen_from(seat: Seat, worth: Fraction) -> Fraction:
    return worth if seat is Seat.ONE else 1 - worth
