"""What some oracles can do besides judging: explain, track beliefs, see both sides, verify themselves.

Each ability is a small protocol. Callers use `explainer_of` and the functions below it, which give a plain
stand-in for an oracle that lacks the ability.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from duels.core.rules import A, AnySight, Seat, Sight, V
from duels.core.words import either
from duels.solving.oracle import Check, Finding, Oracle, Value
from duels.solving.progress import Progress, quiet

_MOST_NAMED = 3


@runtime_checkable
class Explainer(Protocol[A, V]):
    """Says why. An oracle that subclasses this overrides what it has to say.

    Sentences are plain English in the second person, to `sight.seat`, and use only what that seat may know.
    """

    counts_as_one: ClassVar[str] = ""
    """One or two sentences on which answers to an exercise are the same (see `idea`); may be empty."""

    @abstractmethod
    def reason(self, sight: Sight[A, V]) -> str:
        """One sentence or two on why the best action is best."""

    def effect(self, sight: Sight[A, V], action: A) -> str:
        """One sentence on what an action that is not best did; may be empty."""
        return ""

    def did(self, action: A) -> str:
        """A clause without its subject on what an action was (`went to 7`); empty for a generic one."""
        return ""

    def came_up(self, outcome: A) -> str:
        """A clause on what chance brought (`the coin showed heads`); empty for a generic one."""
        return ""

    def idea(self, sight: Sight[A, V], action: A) -> Hashable:
        """The action, up to differences that do not matter: tiles nobody has seen are alike."""
        return action

    def lesson(self, sight: Sight[A, V], action: A) -> Hashable:
        """What a position teaches in which the action is right; two positions may teach the same."""
        return self.idea(sight, action)

    def manner(self, sight: Sight[A, V], action: A) -> str:
        """What sort of action it is (`flipping an unknown tile`), to tell mistakes apart; may be empty."""
        return ""

    def findings(self, sight: Sight[A, V]) -> Iterator[Finding]:
        """What else is worth knowing in this position."""
        return iter(())

    def claim(self) -> str:
        """What is proven about this oracle's play as a whole; empty where every value says it already."""
        return ""


@runtime_checkable
class BeliefTracker(Protocol[A, V]):
    """Knows how likely hidden things are."""

    hidden: ClassVar[str] = "secret"
    """What the other player hides: `token`."""

    def belief(self, sight: Sight[A, V]) -> Mapping[str, float]:
        """What is hidden from the seat, by name, as probabilities.

        Places that exclude each other are numbered (`position 1`, `position 2`, `die 6`).
        """

    def whereabouts(self, sight: Sight[A, V]) -> str:
        """The seat's own secret, by the name that it has in the other's belief."""


@runtime_checkable
class SeesBothSides(Protocol[A, V]):
    """Values what a seat does as somebody who sees both seats' secrets.

    It takes luck out of measurements and tells what happened afterwards; it is nobody's advice.
    """

    def worth_seeing_all(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> float:
        """What `action` is worth to `sight.seat`, given the secrets of both."""

    def mishap(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Clause without its subject (`went onto …`) on a loss that `sight.seat` could not foresee, or ''.

        It says that `action` has lost the match already, though neither seat may know yet. `{whose}` in it
        stands for the other player: `your`, `club's`.
        """

    def strike(self, sight: Sight[A, V], others: Sight[A, V], action: A) -> str:
        """Clause of the same form on how `action` wins the match at once, by finding a secret; or ''."""


@runtime_checkable
class ValuesHistories(Protocol[A, V]):
    """Values what was played, secrets of both seats included, under its own pair of strategies."""

    def value_seeing_all(self, one: Sight[A, V], two: Sight[A, V]) -> Value:
        """Player 1's value, given what both seats know.

        It is consistent: the mean, by the odds of chance or by the actor's strategy, over what comes next.
        """


@runtime_checkable
class Verifier(Protocol):
    """Can be checked by methods written apart from it."""

    def verify(self, progress: Progress = quiet) -> Iterator[Check]:
        """The checks, one at a time as they finish."""


@runtime_checkable
class Certified(Protocol):
    """Knows how far its play as a whole is from perfect, by proof."""

    def exploitability_bound(self) -> float | None:
        """The most that its play can be exploited by, on average over both seats; None if none is proven."""


# -- stand-ins ---------------------------------------------------------------------------------------


class PlainExplainer(Explainer[A, V]):
    """Explains by values alone."""

    def __init__(self, oracle: Oracle[A, V]) -> None:
        self._oracle = oracle

    def reason(self, sight: Sight[A, V]) -> str:
        verdict = self._oracle.judge(sight)
        if verdict.alike:
            if verdict.value.number == 0:
                return "The other player wins whatever you do."
            return f"Every action is worth {verdict.value}."
        if verdict.mixed:
            return f"The mixture is worth {verdict.value}: whoever can be foreseen gets less."
        best = [self._oracle.rules.format(judged.action) for judged in verdict.actions if judged.best]
        others = [judged.value for judged in verdict.actions if not judged.best]
        next_best = max(others, key=lambda value: value.number, default=None)
        rest = f"; anything else is worth {next_best} at most" if next_best else ""
        return f"Best is {either(best, _MOST_NAMED)}, worth {verdict.value}{rest}."

    def effect(self, sight: Sight[A, V], action: A) -> str:
        value = self._oracle.judge(sight).judged(action).value
        return f"You played {self._oracle.rules.format(action)}, which left you {value}."


class _NoBeliefs(BeliefTracker[Any, Any]):
    def belief(self, sight: AnySight) -> Mapping[str, float]:
        return {}

    def whereabouts(self, sight: AnySight) -> str:
        return ""


class _SeesNothing(SeesBothSides[Any, Any]):
    """All actions are worth the same to it, so that no luck is taken out."""

    def worth_seeing_all(self, sight: AnySight, others: AnySight, action: Any) -> float:
        return 0.5

    def mishap(self, sight: AnySight, others: AnySight, action: Any) -> str:
        return ""

    def strike(self, sight: AnySight, others: AnySight, action: Any) -> str:
        return ""


def explainer_of(oracle: Oracle[A, V]) -> Explainer[A, V]:
    """The oracle itself if it can explain, else one that explains by values alone."""
    return oracle if isinstance(oracle, Explainer) else PlainExplainer(oracle)


def beliefs_of(oracle: Oracle[A, V]) -> BeliefTracker[A, V]:
    """The oracle itself if it tracks beliefs, else one that knows of none."""
    return oracle if isinstance(oracle, BeliefTracker) else _NoBeliefs()


def both_sides_of(oracle: Oracle[A, V]) -> SeesBothSides[A, V]:
    """The oracle itself if it can value both sides' secrets, else one that tells nothing apart."""
    return oracle if isinstance(oracle, SeesBothSides) else _SeesNothing()


def value_seeing_all(oracle: Oracle[A, V], one: Sight[A, V], two: Sight[A, V]) -> Value:
    """Player 1's value given what both seats know, or, where the oracle has none, as the actor knows it."""
    if isinstance(oracle, ValuesHistories):
        return oracle.value_seeing_all(one, two)
    return oracle.value(two).for_other() if two.actor is Seat.TWO else oracle.value(one)


def checks_of(oracle: Oracle[A, V], progress: Progress = quiet) -> Iterator[Check]:
    """The oracle's checks of itself; none where it has none."""
    return oracle.verify(progress) if isinstance(oracle, Verifier) else iter(())
