"""Quantum Duel: four in a row. A symbol placed next to your own can be challenged; a coin decides."""

import re
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from duels.core.errors import BadOption, NotationError, quote
from duels.core.narration import say, verb
from duels.core.notation import parse_seat, parse_whole_number, split_fields
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, Event, OpenRules, Outcome, Seat, Step
from duels.games.chain import GAME

FREE = "_"
SYMBOL = {Seat.ONE: "X", Seat.TWO: "O"}


class Phase(Enum):
    """The kind of the next decision. The value marks the doubtful cell in notation."""

    OBSERVE = ""
    CHALLENGE = "?"
    COIN = "!"


@dataclass(frozen=True, slots=True)
class State:
    """A board, the player who observes, and the doubtful cell (numbered from 1; 0 if there is none).

    `boards` counts decohered boards if the rules limit them; otherwise it stays 0.
    """

    cells: str
    mover: Seat
    phase: Phase = Phase.OBSERVE
    doubtful_cell: int = 0
    boards: int = 0


@dataclass(frozen=True, slots=True)
class Observe:
    """Place your symbol on a free cell (numbered from 1)."""

    cell: int


class Answer(Enum):
    """The opponent's answer to an observation next to the observer's own symbols."""

    CHALLENGE = "challenge"
    ACCEPT = "accept"


class Coin(Enum):
    """The result of a coin flip."""

    HEADS = "heads"
    TAILS = "tails"


Action = Observe | Answer | Coin


@dataclass(frozen=True, slots=True)
class Observed(Event):
    """`seat` observed `cell`. If it has symbols on `neighbours`, the opponent may challenge."""

    seat: Seat
    cell: int
    neighbours: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Challenged(Event):
    """`seat` challenged the observation: a coin decides."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Accepted(Event):
    """`seat` accepted the observation."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class CoinFell(Event):
    """The coin shows `face`."""

    face: Coin


@dataclass(frozen=True, slots=True)
class Settled(Event):
    """`seat`'s observation of `cell` succeeded or failed. The board is now `cells`.

    `doubted` is true if the observation could be challenged.
    """

    seat: Seat
    cell: int
    success: bool
    doubted: bool
    cells: str


@dataclass(frozen=True, slots=True)
class Decohered(Event):
    """The board was full without a chain: all cells are unobserved again."""

    restarts = True

    cells: str


@dataclass(frozen=True, slots=True)
class ChainMade(Event):
    """`seat` holds the cells `first` to `last` and wins."""

    seat: Seat
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BoardsUsedUp(Event):
    """The match reached its limit of boards; nobody wins."""

    boards: int


@dataclass(frozen=True)
class QuantumChain(OpenRules[State, Action]):
    """Get `run` symbols in a row. A player may challenge a symbol next to another of its own kind."""

    cells: int = option(7, "number of cells")
    run: int = option(4, "symbols in a row that win")
    max_boards: int | None = option(None, "number of boards after which nobody wins")

    game = GAME
    limit = "max_boards"
    clock = "boards"
    enough_boards = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.run > self.cells:
            raise BadOption(f"'run' must be at most 'cells' ({self.cells}), not {self.run}.")

    def initial(self) -> State:
        return State(FREE * self.cells, Seat.ONE)

    def actor(self, state: State) -> Actor | None:
        if self.outcome(state):
            return None
        if state.phase is Phase.COIN:
            return CHANCE
        return state.mover if state.phase is Phase.OBSERVE else state.mover.other

    def actions(self, state: State) -> tuple[Action, ...]:
        if self.outcome(state):
            return ()
        if state.phase is Phase.COIN:
            return tuple(Coin)
        if state.phase is Phase.CHALLENGE:
            return tuple(Answer)
        return tuple(Observe(i + 1) for i, symbol in enumerate(state.cells) if symbol == FREE)

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(1, 2), Fraction(1, 2)) if state.phase is Phase.COIN else ()

    def apply(self, state: State, action: Action) -> Step[State]:
        mover = state.mover
        if isinstance(action, Observe):
            neighbours = self.own_neighbours(state.cells, action.cell, mover)
            observed = Observed(mover, action.cell, neighbours)
            if neighbours:
                return Step(replace(state, phase=Phase.CHALLENGE, doubtful_cell=action.cell), (observed,))
            return self._settle(state, action.cell, True, (observed,))
        if action is Answer.CHALLENGE:
            return Step(replace(state, phase=Phase.COIN), (Challenged(mover.other),))
        if action is Answer.ACCEPT:
            return self._settle(state, state.doubtful_cell, True, (Accepted(mover.other),))
        return self._settle(state, state.doubtful_cell, action is Coin.HEADS, (CoinFell(Coin(action)),))

    def own_neighbours(self, cells: str, cell: int, seat: Seat) -> tuple[int, ...]:
        """Return the neighbours of `cell` that hold the symbol of `seat`."""
        adjacent = (n for n in (cell - 1, cell + 1) if 1 <= n <= self.cells)
        return tuple(n for n in adjacent if cells[n - 1] == SYMBOL[seat])

    def _settle(self, state: State, cell: int, success: bool, events: tuple[Event, ...]) -> Step[State]:
        """Place the symbol if the observation succeeded, check for a chain or a full board, end the turn."""
        mover, cells, boards = state.mover, state.cells, state.boards
        if success:
            cells = replace_cell(cells, cell, SYMBOL[mover])
        events += (Settled(mover, cell, success, state.doubtful_cell > 0, cells),)
        chain = self.chain_of(cells)
        if chain:
            events += (ChainMade(mover, *chain),)
        elif FREE not in cells:
            cells = FREE * self.cells
            events += (Decohered(cells),)
            if self.max_boards is not None:
                boards += 1
                if boards == self.max_boards:
                    events += (BoardsUsedUp(boards),)
        return Step(State(cells, mover.other, boards=boards), events)

    def chain_of(self, cells: str) -> tuple[int, int] | None:
        """Return the first and last cell of the winning chain, or None."""
        for symbol in SYMBOL.values():
            start = cells.find(symbol * self.run)
            if start >= 0:
                end = start + self.run
                while cells[end : end + 1] == symbol:
                    end += 1
                return start + 1, end
        return None

    def outcome(self, state: State) -> Outcome | None:
        chain = self.chain_of(state.cells)
        if chain:
            winner = state.mover.other
            where = f"from cells {chain[0]} to {chain[1]}."
            return Outcome.win(winner, say(winner, verb(winner, "has", "have"), "an unbroken chain", where))
        if self.max_boards is not None and state.boards >= self.max_boards:
            return Outcome.cut(f"Nobody has a chain after {state.boards} boards.")
        return None

    def all_actions(self) -> tuple[Action, ...]:
        return (*(Observe(cell) for cell in range(1, self.cells + 1)), *Answer)

    def all_outcomes(self) -> tuple[Action, ...]:
        return tuple(Coin)

    def max_states(self) -> int:
        boards: int = 3**self.cells
        # A doubtful cell is free and next to a symbol of the observer: that holds on 5 boards of 27.
        doubts = self.cells * boards // 5
        challenge_or_coin, movers = 2, 2
        return movers * (boards + challenge_or_coin * doubts) * ((self.max_boards or 0) + 1)

    def parse(self, text: str) -> Action:
        word = text.strip().lower()
        for kind in (Answer, Coin):
            if word in {member.value for member in kind}:
                return kind(word)
        cell = parse_whole_number(word)
        if cell is None:
            raise NotationError(
                f"Cannot read {quote(text)}: name a cell (4), challenge, accept, heads or tails."
            )
        return Observe(cell)

    def format(self, action: Action) -> str:
        return str(action.cell) if isinstance(action, Observe) else action.value

    def parse_state(self, text: str) -> State:
        limited = self.max_boards is not None
        fields = split_fields(text, 2, 2 + limited, "__XX_O_ 1" + " 0" * limited)
        board = fields[0].upper()
        actor = parse_seat(fields[1], text)
        if len(board) != self.cells or not re.fullmatch(r"[XO_]*[?!]?[XO_]*", board):
            raise NotationError(
                f"Cannot read the board in {quote(text)}: {self.cells} cells, each X, O or _; "
                "one may be ? (open to challenge) or ! (challenged: the coin decides)."
            )
        mark = next((phase for phase in (Phase.CHALLENGE, Phase.COIN) if phase.value in board), Phase.OBSERVE)
        doubtful_cell = board.index(mark.value) + 1 if mark.value else 0
        cells = board.replace(mark.value, FREE) if mark.value else board
        # Notation names the player who decides: for a doubtful cell, the observer's opponent.
        mover = actor.other if mark.value else actor
        if doubtful_cell and not self.own_neighbours(cells, doubtful_cell, mover):
            raise NotationError(
                f"Cannot read {quote(text)}: cell {doubtful_cell} is not next to a symbol of {mover.label}, "
                "so it cannot be doubtful."
            )
        chain = self.chain_of(cells)
        if chain and (doubtful_cell or cells[chain[0] - 1] != SYMBOL[mover.other]):
            raise NotationError(
                f"Cannot read {quote(text)}: the chain must belong to the player who moved last."
            )
        if FREE not in cells and not chain:
            raise NotationError(
                f"Cannot read {quote(text)}: a full board without a chain starts again empty."
            )
        boards = parse_whole_number(fields[2]) if len(fields) > 2 else 0
        if boards is None or (self.max_boards is not None and boards > self.max_boards):
            raise NotationError(f"Cannot read the boards used in {quote(text)}: 0 to {self.max_boards}.")
        return State(cells, mover, mark, doubtful_cell, boards)

    def format_state(self, state: State) -> str:
        board = state.cells
        actor = state.mover
        if state.doubtful_cell:
            board = replace_cell(board, state.doubtful_cell, state.phase.value)
            actor = actor.other
        boards = f" {state.boards}" if self.max_boards is not None else ""
        return f"{board} {actor.value}{boards}"


def replace_cell(cells: str, cell: int, symbol: str) -> str:
    """Return the cells with `symbol` on `cell`, which is numbered from 1."""
    return cells[: cell - 1] + symbol + cells[cell:]


RULES = QuantumChain
