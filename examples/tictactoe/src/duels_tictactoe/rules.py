"""Tic-tac-toe: mark a free cell; three in a row win, and a full board is a draw."""

from dataclasses import dataclass

from duels.core.errors import NotationError, quote
from duels.core.narration import say, verb
from duels.core.notation import parse_seat, parse_whole_number, split_fields
from duels.core.rules import Event, OpenRules, Outcome, Seat, Step
from duels_tictactoe import GAME

FREE = "_"
SYMBOL = {Seat.ONE: "X", Seat.TWO: "O", None: FREE}
OWNER = {symbol: seat for seat, symbol in SYMBOL.items()}
LINES = (
    *((row, row + 1, row + 2) for row in (0, 3, 6)),
    *((column, column + 3, column + 6) for column in (0, 1, 2)),
    (0, 4, 8),
    (2, 4, 6),
)

Cells = tuple[Seat | None, ...]


@dataclass(frozen=True, slots=True)
class State:
    """The owners of the nine cells, row by row, and the player to move."""

    cells: Cells
    mover: Seat


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark a free cell, counted from 1."""

    cell: int


@dataclass(frozen=True, slots=True)
class Marked(Event):
    """`seat` took `cell`, and the board is now `cells`."""

    seat: Seat
    cell: int
    cells: Cells


@dataclass(frozen=True)
class TicTacToe(OpenRules[State, Mark]):
    """Take turns to place your mark on a free cell: X for Player 1, O for Player 2.

    The nine cells are numbered from 1 to 9, row by row. Three of your marks in a
    row, column or diagonal win. A full board on which nobody has three is a draw.
    """

    game = GAME
    can_be_drawn = True

    def initial(self) -> State:
        return State((None,) * 9, Seat.ONE)

    def actor(self, state: State) -> Seat | None:
        return None if self.outcome(state) else state.mover

    def actions(self, state: State) -> tuple[Mark, ...]:
        if self.outcome(state):
            return ()
        return tuple(Mark(cell) for cell, owner in enumerate(state.cells, start=1) if owner is None)

    def apply(self, state: State, action: Mark) -> Step[State]:
        cells = (*state.cells[: action.cell - 1], state.mover, *state.cells[action.cell :])
        return Step(State(cells, state.mover.other), (Marked(state.mover, action.cell, cells),))

    def outcome(self, state: State) -> Outcome | None:
        winner = find_winner(state.cells)
        if winner:
            return Outcome.win(winner, say(winner, verb(winner, "has", "have"), "three in a row."))
        return None if None in state.cells else Outcome.draw("The board is full without three in a row.")

    def all_actions(self) -> tuple[Mark, ...]:
        return tuple(Mark(cell) for cell in range(1, 10))

    def parse(self, text: str) -> Mark:
        cell = parse_whole_number(text)
        if cell is None:
            raise NotationError(f"Cannot read {quote(text)}: enter a cell, 1 to 9.")
        return Mark(cell)

    def format(self, action: Mark) -> str:
        return str(action.cell)

    def parse_state(self, text: str) -> State:
        board, mover = split_fields(text.upper(), 2, 2, "XO_X_____ 2")
        if len(board) != 9 or set(board) - set(OWNER):
            raise NotationError(f"Cannot read the board in {quote(text)}: write nine cells, each X, O or _.")
        return State(tuple(OWNER[symbol] for symbol in board), parse_seat(mover, text))

    def format_state(self, state: State) -> str:
        return f"{''.join(SYMBOL[owner] for owner in state.cells)} {state.mover.value}"


def find_winner(cells: Cells) -> Seat | None:
    """Return the player with three in a row, or None."""
    for first, second, third in LINES:
        if cells[first] is not None and cells[first] is cells[second] is cells[third]:
            return cells[first]
    return None


RULES = TicTacToe
