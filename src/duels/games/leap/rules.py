"""Quantum Leap: a race along a line of cells; a player leaps by a divisor of the current cell."""

from dataclasses import dataclass
from math import isqrt

from duels.core.errors import NotationError, quote
from duels.core.narration import say, wins
from duels.core.notation import parse_seat, parse_whole_number, split_fields
from duels.core.options import option
from duels.core.rules import Event, OpenRules, Outcome, Seat, Step
from duels.games.leap import GAME

OFF_GRID = 0


@dataclass(frozen=True, slots=True)
class State:
    """The cells of X and O (0: off the grid) and the player to move."""

    cells: tuple[int, int]
    mover: Seat

    def cell_of(self, seat: Seat) -> int:
        return self.cells[seat - 1]


@dataclass(frozen=True, slots=True)
class Enter:
    """Enter the grid at cell 1."""


@dataclass(frozen=True, slots=True)
class Leap:
    """Leap `by` cells forward."""

    by: int


Action = Enter | Leap


@dataclass(frozen=True, slots=True)
class Entered(Event):
    """`seat` entered the grid; the tokens are now on `cells`."""

    seat: Seat
    cells: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Leapt(Event):
    """`seat` leapt; the tokens are now on `cells`."""

    seat: Seat
    cells: tuple[int, int]


STEPS = (Entered, Leapt)
"""The events that move a token."""


@dataclass(frozen=True, slots=True)
class GoalReached(Event):
    """`seat` reached the Quantum Cell and wins."""

    seat: Seat


@dataclass(frozen=True)
class QuantumLeap(OpenRules[State, Action]):
    """Leap by a divisor of your cell. The first player to reach `goal` wins."""

    goal: int = option(21, "the cell to reach", maximum=100_000)

    game = GAME

    def initial(self) -> State:
        return State((OFF_GRID, OFF_GRID), Seat.ONE)

    def actor(self, state: State) -> Seat | None:
        return None if self.goal in state.cells else state.mover

    def actions(self, state: State) -> tuple[Action, ...]:
        if self.goal in state.cells:
            return ()
        cell = state.cell_of(state.mover)
        if cell == OFF_GRID:
            return (Enter(),)
        return tuple([Leap(leap) for leap in self.leaps(cell)])

    def leaps(self, cell: int) -> tuple[int, ...]:
        """Return the legal leaps from `cell`, shortest first. 1 is always among them."""
        small = [leap for leap in range(1, isqrt(cell) + 1) if cell % leap == 0]
        large = [cell // leap for leap in reversed(small) if leap * leap < cell]
        return tuple([leap for leap in small + large if cell + leap <= self.goal])

    def apply(self, state: State, action: Action) -> Step[State]:
        mover = state.mover
        target = 1 if isinstance(action, Enter) else state.cell_of(mover) + action.by
        cells = (target, state.cells[1]) if mover is Seat.ONE else (state.cells[0], target)
        event = Entered if isinstance(action, Enter) else Leapt
        events: tuple[Event, ...] = (event(mover, cells),)
        if target == self.goal:
            events += (GoalReached(mover),)
        return Step(State(cells, mover.other), events)

    def outcome(self, state: State) -> Outcome | None:
        if self.goal not in state.cells:
            return None
        winner = state.mover.other
        return Outcome.win(winner, say(winner, wins(winner), f"by landing exactly on cell {self.goal}."))

    def all_actions(self) -> tuple[Action, ...]:
        # A leap is at most the number of its cell, and at most the distance to the goal.
        return (Enter(), *(Leap(leap) for leap in range(1, self.goal // 2 + 1)))

    def max_states(self) -> int:
        return 2 * (self.goal + 1) ** 2

    def parse(self, text: str) -> Action:
        if text.strip().lower() == "enter":
            return Enter()
        leap = parse_whole_number(text)
        if leap is None:
            raise NotationError(f"Cannot read {quote(text)}: say how many cells to leap (4), or enter.")
        return Leap(leap)

    def format(self, action: Action) -> str:
        return "enter" if isinstance(action, Enter) else str(action.by)

    def parse_state(self, text: str) -> State:
        x, o, mover = split_fields(text, 3, 3, "16 12 1")
        state = State((self._read_cell(x, text), self._read_cell(o, text)), parse_seat(mover, text))
        if state.cells == (self.goal, self.goal):
            raise NotationError(f"Cannot read {quote(text)}: only one token can be on cell {self.goal}.")
        if self.goal in state.cells and state.cell_of(state.mover) == self.goal:
            raise NotationError(
                f"Cannot read {quote(text)}: the player to move cannot be on cell {self.goal}."
            )
        return state

    def _read_cell(self, text: str, position: str) -> int:
        if text == "-":
            return OFF_GRID
        cell = parse_whole_number(text)
        if cell is None or not 1 <= cell <= self.goal:
            raise NotationError(
                f"Cannot read the cell {quote(text)} in {quote(position)}: "
                f"it is 1 to {self.goal}, or - off the grid."
            )
        return cell

    def format_state(self, state: State) -> str:
        x, o = ("-" if cell == OFF_GRID else str(cell) for cell in state.cells)
        return f"{x} {o} {state.mover.value}"


RULES = QuantumLeap
