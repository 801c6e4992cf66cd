"""Light Out Duel: a row of lights; turn off one, or two neighbours; the last light wins."""

import re
from dataclasses import dataclass

from duels.core.errors import NotationError, quote
from duels.core.narration import say, wins
from duels.core.notation import parse_seat, split_fields
from duels.core.options import option
from duels.core.rules import Event, OpenRules, Outcome, Seat, Step
from duels.games.lights import GAME

ON, OFF = "O", "X"


@dataclass(frozen=True, slots=True)
class State:
    """The row of lights, one letter per light, and the player to move."""

    row: str
    mover: Seat


@dataclass(frozen=True, slots=True)
class TurnOff:
    """Turn off `count` adjacent lights, the first of which is `first` (numbered from 1)."""

    first: int
    count: int = 1

    @property
    def lights(self) -> tuple[int, ...]:
        return tuple(range(self.first, self.first + self.count))


@dataclass(frozen=True, slots=True)
class TurnedOff(Event):
    """`seat` turned off `lights`, which left `row`."""

    seat: Seat
    lights: tuple[int, ...]
    row: str


@dataclass(frozen=True, slots=True)
class LastLightOff(Event):
    """`seat` turned off the last light and wins."""

    seat: Seat


@dataclass(frozen=True)
class Lights(OpenRules[State, TurnOff]):
    """Turn off one light or two neighbours. The player who turns off the last light wins."""

    lights: int = option(7, "number of lights")

    game = GAME

    def initial(self) -> State:
        return State(ON * self.lights, Seat.ONE)

    def actor(self, state: State) -> Seat | None:
        return state.mover if ON in state.row else None

    def actions(self, state: State) -> tuple[TurnOff, ...]:
        row = state.row
        singles = tuple(TurnOff(i + 1) for i, light in enumerate(row) if light == ON)
        pairs = tuple(TurnOff(i + 1, 2) for i in range(len(row) - 1) if row[i : i + 2] == ON + ON)
        return singles + pairs

    def apply(self, state: State, action: TurnOff) -> Step[State]:
        start, end = action.first - 1, action.first - 1 + action.count
        row = state.row[:start] + OFF * action.count + state.row[end:]
        events: tuple[Event, ...] = (TurnedOff(state.mover, action.lights, row),)
        if ON not in row:
            events += (LastLightOff(state.mover),)
        return Step(State(row, state.mover.other), events)

    def outcome(self, state: State) -> Outcome | None:
        if ON in state.row:
            return None
        winner = state.mover.other
        return Outcome.win(winner, say(winner, wins(winner), "by turning OFF the last light."))

    def all_actions(self) -> tuple[TurnOff, ...]:
        return self.actions(self.initial())

    def max_states(self) -> int:
        return 1 << (self.lights + 1)  # each light on or off, times two players to move

    def parse(self, text: str) -> TurnOff:
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", text)
        if not match:
            raise NotationError(f"Cannot read {quote(text)}: name a light (4) or two neighbours (1-2).")
        if match[2] is None:
            return TurnOff(int(match[1]))
        first, second = sorted((int(match[1]), int(match[2])))
        if second != first + 1:
            raise NotationError(f"Cannot read {quote(text)}: two neighbours are written like 1-2.")
        return TurnOff(first, 2)

    def format(self, action: TurnOff) -> str:
        return "-".join(map(str, action.lights))

    def parse_state(self, text: str) -> State:
        row, mover = split_fields(text.upper(), 2, 2, "XXOOOOO 1")
        if len(row) != self.lights or set(row) - {ON, OFF}:
            raise NotationError(
                f"Cannot read the lights in {quote(text)}: {self.lights} letters, O on and X off."
            )
        return State(row, parse_seat(mover, text))

    def format_state(self, state: State) -> str:
        return f"{state.row} {state.mover.value}"


RULES = Lights
