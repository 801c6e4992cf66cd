"""The voice of Quantum Duel, four in a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duels.core.notation import listed
from duels.core.rules import Event, Seat, Sight
from duels.core.text_board import Row, TextBoard
from duels.core.words import Dialogue, Ink, Place, Refused, Words, ask_until, either, read_number, read_yes
from duels.games.chain.rules import (
    FREE,
    SYMBOL,
    Accepted,
    Action,
    Answer,
    BoardsUsedUp,
    ChainMade,
    Challenged,
    CoinFell,
    Decohered,
    Observe,
    Observed,
    Phase,
    QuantumChain,
    Settled,
    State,
)

NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}


@dataclass(frozen=True)
class ChainWords(Words[Action, State]):
    rules: QuantumChain

    def opening(self) -> str:
        board = self._board(self.rules.initial().cells, heading="Initial Board:\n")
        return f"Welcome to Quantum Duel!\n\n{board}\n"

    def ask(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        if sight.view.phase is Phase.CHALLENGE:
            challenge = yield from ask_until(
                f"{Ink.of(sight.seat)(sight.seat.label)}, do you want to challenge? (yes/no): ", read_yes
            )
            return Answer.CHALLENGE if challenge else Answer.ACCEPT
        free = [action.cell for action in sight.actions if isinstance(action, Observe)]
        choice = f"Choose an unobserved cell: {either(free)}."

        def read(entry: str) -> Action:
            cell = read_number(entry, choice)
            if not 1 <= cell <= self.rules.cells:
                raise Refused(f"There is no cell {cell}. {choice}")
            if cell not in free:
                raise Refused(f"Cell {cell} is already observed. {choice}")
            return Observe(cell)

        return (
            yield from ask_until(
                f"{_player(sight.seat)}, it's your turn.\nEnter the cell number you want to observe: ", read
            )
        )

    def entries(self, sight: Sight[Action, State], action: Action) -> tuple[str, ...]:
        if isinstance(action, Observe):
            return (str(action.cell),)
        return ("yes" if action is Answer.CHALLENGE else "no",)

    def tell(self, seen: Sequence[Event]) -> str:
        event = seen[-1]
        if isinstance(event, Observed):
            if not event.neighbours:
                return f"\nYou have observed cell {event.cell}.\n"
            return f"\n{_adjacent(event.cell, event.neighbours)}"
        if isinstance(event, Challenged):
            return "\nChallenge initiated!\nFlipping a coin...\n"
        if isinstance(event, Accepted):
            return ""
        if isinstance(event, CoinFell):
            return f"Result: {event.face.value.capitalize()}\n"
        if isinstance(event, Settled):
            return self._settled(event)
        if isinstance(event, Decohered):
            return (
                "Every cell is observed and nobody has a chain: the board decoheres.\n\n"
                f"{self._board(event.cells)}\n"
            )
        if isinstance(event, ChainMade):
            winner = Ink.WON(f"Winner: {event.seat.label} ({SYMBOL[event.seat]})")
            return f"{_chain(event, event.seat.label)}{winner}\n"
        assert isinstance(event, BoardsUsedUp)
        return f"Nobody has a chain after {event.boards} boards: the game ends without a winner.\n"

    def retold(self, seen: Sequence[Event], names: Mapping[Seat, str]) -> str:
        event = seen[-1]
        if isinstance(event, Observed):
            near = f", adjacent to {_cells(event.neighbours)}" if event.neighbours else ""
            return f"{names[event.seat]} observed cell {event.cell}{near}.\n"
        if isinstance(event, Challenged):
            return f"{names[event.seat]} challenged: a coin decides.\n"
        if isinstance(event, Accepted):
            return f"{names[event.seat]} accepted.\n"
        if isinstance(event, Settled):
            if not event.doubted:
                return ""
            return _success(event.cell, f"{names[event.seat]}'s") if event.success else _failure(event.cell)
        if isinstance(event, ChainMade):
            return _chain(event, names[event.seat])
        return super().retold(seen, names)  # nobody in particular did it

    def _settled(self, event: Settled) -> str:
        if not event.doubted:
            news = ""
        elif event.success:
            news = f"\n{_success(event.cell, 'yours')}"
        else:
            news = f"\n{_failure(event.cell)}"
        return f"{news}\n{self._board(event.cells, event.cell)}\n"

    def board(self, sight: Sight[Action, State]) -> TextBoard:
        state = sight.view
        if not state.doubt:
            return self._board(state.cells)
        # The book places the symbol first, and lets it remain or revert.
        cells = f"{state.cells[: state.doubt - 1]}{SYMBOL[state.mover]}{state.cells[state.doubt :]}"
        return self._board(cells, state.doubt, doubtful=True)

    def place(self, sight: Sight[Action, State], action: Action) -> Place | None:
        return Place((action.cell,)) if isinstance(action, Observe) else None

    def remembered(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        if state.phase is not Phase.CHALLENGE:
            return ""
        beside = self.rules.own_neighbours(state.cells, state.doubt, state.mover)
        return f"{_player(state.mover)}: {_adjacent(state.doubt, beside)}"

    def called(self, seat: Seat) -> str:
        return SYMBOL[seat]

    def moves(self, sight: Sight[Action, State]) -> str:
        if sight.view.phase is Phase.CHALLENGE:
            return "yes: a coin decides. no: the observation succeeds.\n"
        return f"Unobserved cells: {', '.join(map(self.rules.format, sight.actions))}\n"

    def _board(
        self, cells: str, changed: int = 0, doubtful: bool = False, heading: str = "Current Board:\n"
    ) -> TextBoard:
        chain = (0, 0) if doubtful else self.rules.chain_of(cells) or (0, 0)
        inks = {FREE: Ink.DIM, SYMBOL[Seat.ONE]: Ink.ONE, SYMBOL[Seat.TWO]: Ink.TWO}
        drawn = []
        for number, symbol in enumerate(cells, start=1):
            in_chain = chain[0] <= number <= chain[1]
            text = (Ink.WON if in_chain else inks[symbol])(symbol)
            if number == changed:
                text = Ink.CHANGED(text)
            mark = "?" if doubtful and number == changed else " "
            drawn.append(f"{text}{mark}")
        numbers = " ".join(f"  {number:<3}" for number in range(1, len(cells) + 1))
        row = Row(tuple(drawn), "[ ", "] [ ", "]", below=f"{numbers.rstrip()}\n")
        return TextBoard(rows=(row,), heading=heading)


def _adjacent(cell: int, neighbours: Sequence[int]) -> str:
    return f"Cell {cell} is adjacent to your symbol{'s' * (len(neighbours) > 1)} at {_cells(neighbours)}.\n"


def _cells(numbers: Sequence[int]) -> str:
    return f"cell{'s' * (len(numbers) > 1)} {listed([str(number) for number in numbers])}"


def _success(cell: int, whose: str) -> str:
    return f"Observation successful! Cell {cell} is now {whose}.\n"


def _failure(cell: int) -> str:
    return f"Observation failed! Cell {cell} reverts to unobserved.\n"


def _chain(event: ChainMade, name: str) -> str:
    length = event.last - event.first + 1
    symbols = f"{NUMBER_WORDS.get(length, str(length))} {SYMBOL[event.seat]} symbols"
    return f"Victory: {name} has an unbroken chain of {symbols} from cells {event.first} to {event.last}.\n"


def _player(seat: Seat) -> str:
    return Ink.of(seat)(f"{seat.label} ({SYMBOL[seat]})")


WORDS = ChainWords
