"""Noughts and crosses, which can be drawn."""

from dataclasses import dataclass

from duels.core.errors import NotationError
from duels.core.game import Game
from duels.core.rules import Event, OpenRules, Outcome, Seat, Step
from tests.outside.words import PlainWords

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
GAME = Game("noughts", "Noughts and crosses", "three in a row", __name__)


@dataclass(frozen=True)
class Marked(Event):
    seat: Seat
    cell: int


@dataclass(frozen=True)
class State:
    cells: str = "." * 9

    @property
    def mover(self) -> Seat:
        return Seat.ONE if self.cells.count("x") == self.cells.count("o") else Seat.TWO


@dataclass(frozen=True)
class TicTacToe(OpenRules[State, int]):
    game = GAME
    can_be_drawn = True

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Seat | None:
        return None if self.outcome(state) else state.mover

    def actions(self, state: State) -> tuple[int, ...]:
        return () if self.outcome(state) else tuple(c for c in range(9) if state.cells[c] == ".")

    def apply(self, state: State, action: int) -> Step[State]:
        mark = "x" if state.mover is Seat.ONE else "o"
        cells = state.cells[:action] + mark + state.cells[action + 1 :]
        return Step(State(cells), (Marked(state.mover, action),))

    def outcome(self, state: State) -> Outcome | None:
        for mark, seat in (("x", Seat.ONE), ("o", Seat.TWO)):
            if any(all(state.cells[cell] == mark for cell in line) for line in LINES):
                return Outcome.win(seat, f"{seat.label} has three in a row.")
        return None if "." in state.cells else Outcome.draw("The board is full.")

    def all_actions(self) -> tuple[int, ...]:
        return tuple(range(9))

    def parse(self, text: str) -> int:
        if text.strip() not in set("012345678"):
            raise NotationError(f"Cannot read {text!r}: name a cell, 0 to 8.")
        return int(text)

    def format(self, action: int) -> str:
        return str(action)

    def parse_state(self, text: str) -> State:
        cells = text.strip().lower()
        if len(cells) != 9 or set(cells) - set("xo."):
            raise NotationError(f"Cannot read {text!r}: nine of x, o and '.'.")
        return State(cells)

    def format_state(self, state: State) -> str:
        return state.cells


RULES = TicTacToe
WORDS = PlainWords
