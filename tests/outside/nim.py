"""Nim with options of every kind; with `roll`, chance adds to the first heap before anybody moves."""

from dataclasses import dataclass
from fractions import Fraction

from duels.core.errors import NotationError
from duels.core.game import Game
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, Event, OpenRules, Outcome, Seat, Step
from tests.outside.words import PlainWords

GAME = Game("nim", "Nim", "take from one heap", __name__)


@dataclass(frozen=True)
class HeapReduced(Event):
    heaps: tuple[int, ...]


@dataclass(frozen=True)
class State:
    heaps: tuple[int, ...]
    mover: Seat
    rolled: bool = True


@dataclass(frozen=True)
class Take:
    heap: int
    count: int


@dataclass(frozen=True)
class Rolled:
    number: int


@dataclass(frozen=True)
class Nim(OpenRules[State, Take | Rolled]):
    heaps: tuple[int, ...] = (1, 2)
    misere: bool = False
    starts: str = option("one", choices=("one", "two"))
    roll: int = option(0, minimum=0)

    game = GAME

    def initial(self) -> State:
        return State(self.heaps, Seat.ONE if self.starts == "one" else Seat.TWO, not self.roll)

    def actor(self, state: State) -> Actor | None:
        if not state.rolled:
            return CHANCE
        return state.mover if any(state.heaps) else None

    def actions(self, state: State) -> tuple[Take | Rolled, ...]:
        if not state.rolled:
            return self.all_outcomes()
        return tuple(
            Take(place, count) for place, heap in enumerate(state.heaps) for count in range(1, heap + 1)
        )

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return () if state.rolled else (Fraction(1, self.roll),) * self.roll

    def apply(self, state: State, action: Take | Rolled) -> Step[State]:
        heaps = list(state.heaps)
        if isinstance(action, Rolled):
            heaps[0] += action.number
            return Step(State(tuple(heaps), state.mover), (HeapReduced(tuple(heaps)),))
        heaps[action.heap] -= action.count
        return Step(State(tuple(heaps), state.mover.other), (HeapReduced(tuple(heaps)),))

    def outcome(self, state: State) -> Outcome | None:
        if not state.rolled or any(state.heaps):
            return None
        return Outcome.win(state.mover if self.misere else state.mover.other, "Nothing is left.")

    def all_actions(self) -> tuple[Take | Rolled, ...]:
        most = (self.heaps[0] + self.roll, *self.heaps[1:])
        return tuple(Take(place, count) for place, heap in enumerate(most) for count in range(1, heap + 1))

    def all_outcomes(self) -> tuple[Take | Rolled, ...]:
        return tuple(Rolled(number) for number in range(1, self.roll + 1))

    def parse(self, text: str) -> Take | Rolled:
        words = text.lower().split()
        if len(words) != 2 or not words[1].isdigit():
            raise NotationError(f"Cannot read {text!r}.")
        return Rolled(int(words[1])) if words[0] == "roll" else Take(int(words[0]), int(words[1]))

    def format(self, action: Take | Rolled) -> str:
        if isinstance(action, Rolled):
            return f"roll {action.number}"
        return f"{action.heap} {action.count}"

    def parse_state(self, text: str) -> State:
        heaps, mover, rolled = text.split()
        return State(tuple(map(int, heaps.split(","))), Seat(int(mover)), rolled == "1")

    def format_state(self, state: State) -> str:
        return f"{','.join(map(str, state.heaps))} {state.mover.value} {int(state.rolled)}"


RULES = Nim
WORDS = PlainWords
