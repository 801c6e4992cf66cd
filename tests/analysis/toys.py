"""Two games from outside the package: one that can be drawn or cut off, and one with a secret to value.

Steps: both add 1 or 2 to a count, in turn. Who makes 4 wins; 5 is a draw. It knows its own oracle, by values
alone.

Hide is the tests' own toy of `core`; here somebody plays it by a fixed pair of strategies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from duels.core.errors import NotationError
from duels.core.game import Game
from duels.core.narration import Narration, TextBoard
from duels.core.options import option
from duels.core.rules import Actor, Event, OpenRules, Outcome, Seat, Sight, Step
from duels.core.words import Words
from duels.solving.oracle import ActionValue, OpenOracle, Oracle, Progress, Value, Verdict, no_progress
from tests.core.toys import FACES, Hide, View

STEPS = Game("steps", "Steps", "a race that can be drawn", __name__)


@dataclass(frozen=True)
class Count:
    total: int = 0
    mover: Seat = Seat.ONE
    turns: int = 0


@dataclass(frozen=True)
class Stepped(Event):
    total: int


@dataclass(frozen=True)
class Steps(OpenRules[Count, int]):
    """Add 1 or 2 to the count. Who makes 4 wins, 5 is a draw."""

    max_turns: int | None = option(None, "cut off after so many turns")
    goals: tuple[int, ...] = (4,)

    game = STEPS
    can_be_drawn = True
    limit = "max_turns"
    clock = "turns"

    def initial(self) -> Count:
        return Count()

    def actor(self, state: Count) -> Actor | None:
        return None if self.outcome(state) else state.mover

    def actions(self, state: Count) -> tuple[int, ...]:
        return () if self.outcome(state) else (1, 2)

    def apply(self, state: Count, action: int) -> Step[Count]:
        after = Count(state.total + action, state.mover.other, state.turns + (self.max_turns is not None))
        return Step(after, (Stepped(after.total),))

    def outcome(self, state: Count) -> Outcome | None:
        if state.total in self.goals:
            return Outcome.win(state.mover.other, f"{state.mover.other.label} made {state.total}.")
        if state.total > max(self.goals):
            return Outcome.draw("Both went too far.")
        return Outcome.cut("That was long enough.") if state.turns == self.max_turns else None

    def all_actions(self) -> tuple[int, ...]:
        return (1, 2)

    def parse(self, text: str) -> int:
        if text.strip() not in ("1", "2"):
            raise NotationError(f"'{text}' is neither 1 nor 2.")
        return int(text)

    def format(self, action: int) -> str:
        return str(action)

    def parse_state(self, text: str) -> Count:
        total, mover, turns = map(int, text.split())
        return Count(total, Seat(mover), turns)

    def format_state(self, state: Count) -> str:
        return f"{state.total} {state.mover.value} {state.turns}"


class StepsWords(Words[int, Count]):
    def narrate(self, events: Sequence[Event]) -> Narration:
        event = events[-1]
        assert isinstance(event, Stepped)
        return Narration([f"Count: {event.total}"])

    def board(self, sight: Sight[int, Count]) -> TextBoard:
        return TextBoard(f"Count: {sight.view.total}\n")


class StepsOracle(OpenOracle[int, Count]):
    def state_value(self, state: Count) -> Fraction:
        outcome = self.rules.outcome(state)
        if outcome:
            return outcome.score(Seat.ONE)
        return (max if state.mover is Seat.ONE else min)(self.action_values(state, (1, 2)))


def make_oracle(rules: Steps, progress: Progress = no_progress) -> StepsOracle:
    return StepsOracle(rules)


RULES, WORDS = Steps, StepsWords


class HideOracle(Oracle[str, View]):
    """Player 1 hides left three times in four, Player 2 guesses left three times in five."""

    mixes = True
    HIDES: Mapping[str, float] = {"left": 0.75, "right": 0.25}
    GUESSES: Mapping[str, float] = {"left": 0.6, "right": 0.4}

    def __init__(self) -> None:
        self.rules = Hide()

    def belief(self, sight: Sight[str, View]) -> Mapping[str, float]:
        return self.HIDES if sight.seat is Seat.TWO and sight.view.hidden else {}

    def own_secret(self, sight: Sight[str, View]) -> str:
        return sight.view.side

    def _hiding(self, coin: str) -> float:
        return sum(p * self._guessing(coin, side) for side, p in self.HIDES.items())

    def _guessing(self, coin: str, side: str) -> float:
        probability = self.GUESSES[side]
        return 1 - probability if coin == "heads" else probability

    def _value_of(self, sight: Sight[str, View]) -> Value:
        coins = (sight.view.coin,) if sight.view.coin else FACES
        hider_value = sum(map(self._hiding, coins)) / len(coins)
        return Value(hider_value if sight.seat is Seat.ONE else 1 - hider_value)

    def _verdict_on(self, sight: Sight[str, View]) -> Verdict[str]:
        view, value = sight.view, self._value_of(sight)
        if sight.seat is Seat.ONE:
            worths = {side: self._guessing(view.coin, side) for side in self.HIDES}
            often = self.HIDES
        else:
            worths = {side: p if view.coin == "heads" else 1 - p for side, p in self.HIDES.items()}
            often = self.GUESSES
        judged = tuple(ActionValue(a, Value(worths[a]), True, often[a]) for a in sight.actions)
        return Verdict(value, judged)


class SeeingHideOracle(HideOracle):
    """Also values a match with full information."""

    def full_information_value(self, one: Sight[str, View], two: Sight[str, View]) -> Value:
        return Value(self._guessing(one.view.coin, one.view.side)) if one.view.side else self.value(one)
