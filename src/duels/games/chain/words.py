"""The prompts, messages and text board of Quantum Duel: four in a row."""

from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.narration import Line, Narration, Row, Sentence, TextBoard, owner, say, verb
from duels.core.rules import Event, Seat, Sight
from duels.core.words import (
    ActionCells,
    Dialogue,
    Ink,
    InvalidEntry,
    Words,
    ask_until,
    join_and,
    join_or,
    parse_number,
    parse_yes_no,
)
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
    replace_cell,
)

NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}


@dataclass(frozen=True)
class ChainWords(Words[Action, State]):
    """The book's prompts and lines for observations, challenges and coins."""

    rules: QuantumChain

    def opening(self) -> Narration:
        board = self._render_board(self.rules.initial().cells, heading="Initial Board:\n")
        return Narration(["Welcome to Quantum Duel!", "", board, ""])

    def ask(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        if sight.view.phase is Phase.CHALLENGE:
            challenge = yield from ask_until(
                f"{Ink.for_seat(sight.seat)(sight.seat.label)}, do you want to challenge? (yes/no): ",
                parse_yes_no,
                solo_prompt="Do you want to challenge? (yes/no): ",
            )
            return Answer.CHALLENGE if challenge else Answer.ACCEPT
        free = [action.cell for action in sight.actions if isinstance(action, Observe)]
        hint = f"Choose an unobserved cell: {join_or(free)}."

        def read(entry: str) -> Action:
            cell = parse_number(entry, hint)
            if not 1 <= cell <= self.rules.cells:
                raise InvalidEntry(f"There is no cell {cell}. {hint}")
            if cell not in free:
                raise InvalidEntry(f"Cell {cell} is already observed. {hint}")
            return Observe(cell)

        prompt = "Enter the cell number you want to observe: "
        book_prompt = f"{_render_player(sight.seat)}, it's your turn.\n{prompt}"
        return (yield from ask_until(book_prompt, read, solo_prompt=prompt))

    def entries(self, sight: Sight[Action, State], action: Action) -> tuple[str, ...]:
        if isinstance(action, Observe):
            return (str(action.cell),)
        return ("yes" if action is Answer.CHALLENGE else "no",)

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, Observed):
            message = f"You have observed cell {event.cell}."
            if event.neighbours:
                symbols = f"symbol{'s' * (len(event.neighbours) > 1)}"
                cells = _format_cells(event.neighbours)
                message = f"Cell {event.cell} is adjacent to your {symbols} at {cells}."
            return Narration(
                [_say_observation(event.seat, event.cell, event.neighbours)],
                book=["", message],
                reader=event.seat,
            )
        if isinstance(event, Challenged):
            return Narration(
                [say(event.seat, verb(event.seat, "challenges", "challenge"), ": a coin decides.")],
                book=["", "Challenge initiated!", "Flipping a coin..."],
                reader=event.seat,
                suspense=True,
            )
        if isinstance(event, Accepted):
            accepts = verb(event.seat, "accepts", "accept")
            return Narration([say(event.seat, accepts, ".")], book=[], reader=event.seat)
        if isinstance(event, CoinFell):
            result = f"Result: {event.face.value.capitalize()}"
            return Narration([f"{result}."], book=[result])
        if isinstance(event, Settled):
            return Narration(
                [*_describe_result(event), "", self._render_board(event.cells, event.cell), ""],
                reader=event.seat,
            )
        if isinstance(event, Decohered):
            why = "Every cell is observed and nobody has a chain: the board decoheres."
            return Narration([why, "", self._render_board(event.cells), ""])
        if isinstance(event, ChainMade):
            victory = _describe_victory(event)
            winner = Ink.WON(f"Winner: {event.seat.label} ({SYMBOL[event.seat]})")
            book = [victory.render(), winner]
            return Narration([victory], book=book, reader=event.seat, book_names_seats=True)
        assert isinstance(event, BoardsUsedUp)
        return Narration([f"Nobody has a chain after {event.boards} boards: the game ends without a winner."])

    def board(self, sight: Sight[Action, State]) -> TextBoard:
        state = sight.view
        if not state.doubtful_cell:
            return self._render_board(state.cells)
        # The book places the symbol before the challenge: it then remains or reverts.
        cells = replace_cell(state.cells, state.doubtful_cell, SYMBOL[state.mover])
        return self._render_board(cells, state.doubtful_cell, doubtful=True)

    def action_cells(self, sight: Sight[Action, State], action: Action) -> ActionCells | None:
        return ActionCells((action.cell,)) if isinstance(action, Observe) else None

    def label_action(self, sight: Sight[Action, State], action: Action) -> str:
        return f"cell {action.cell}" if isinstance(action, Observe) else self.rules.format(action)

    def recap(self, sight: Sight[Action, State]) -> Narration:
        state = sight.view
        if state.phase is not Phase.CHALLENGE:
            return Narration()
        beside = self.rules.own_neighbours(state.cells, state.doubtful_cell, state.mover)
        return Narration([_say_observation(state.mover, state.doubtful_cell, beside)])

    def answer_forms(self, sight: Sight[Action, State]) -> dict[str, list[Action]]:
        if sight.view.phase is Phase.OBSERVE:
            return {"the name of the free cell that you observe": list(sight.actions)}
        return {
            "challenge, to have the coin flipped": [Answer.CHALLENGE],
            "accept, to let the observation stand": [Answer.ACCEPT],
        }

    def facts(self, sight: Sight[Action, State]) -> list[str]:
        legend, state = "_ is an unobserved cell.", sight.view
        sentence = f"Your opponent has observed cell {state.doubtful_cell}, beside a symbol of its own."
        return [legend, sentence] if state.phase is Phase.CHALLENGE else [legend]

    def seat_name(self, seat: Seat) -> str:
        return SYMBOL[seat]

    def moves(self, sight: Sight[Action, State]) -> str:
        if sight.view.phase is Phase.CHALLENGE:
            return "yes: a coin decides. no: the observation succeeds.\n"
        return f"Unobserved cells: {', '.join(map(self.rules.format, sight.actions))}\n"

    def _render_board(
        self, cells: str, changed: int = 0, doubtful: bool = False, heading: str = "Current Board:\n"
    ) -> TextBoard:
        chain = (0, 0) if doubtful else self.rules.chain_of(cells) or (0, 0)
        inks = {FREE: Ink.DIM, SYMBOL[Seat.ONE]: Ink.ONE, SYMBOL[Seat.TWO]: Ink.TWO}
        texts = []
        for number, symbol in enumerate(cells, start=1):
            in_chain = chain[0] <= number <= chain[1]
            text = (Ink.WON if in_chain else inks[symbol])(symbol)
            if number == changed:
                text = Ink.CHANGED(text)
            mark = "?" if doubtful and number == changed else " "
            texts.append(f"{text}{mark}")
        numbers = " ".join(f"  {number:<3}" for number in range(1, len(cells) + 1))
        row = Row(tuple(texts), "[ ", "] [ ", "]", below=f"{numbers.rstrip()}\n")
        return TextBoard(rows=(row,), heading=heading)


def _say_observation(seat: Seat, cell: int, neighbours: Sequence[int]) -> Sentence:
    suffix = f", adjacent to {_format_cells(neighbours)}" if neighbours else ""
    return say(seat, verb(seat, "observes", "observe"), f"cell {cell}{suffix}.")


def _format_cells(numbers: Sequence[int]) -> str:
    return f"cell{'s' * (len(numbers) > 1)} {join_and([str(number) for number in numbers])}"


def _describe_result(event: Settled) -> list[Line]:
    if not event.doubted:
        return []
    if event.success:
        return ["", say(f"Observation successful! Cell {event.cell} is now", owner(event.seat), ".")]
    return ["", f"Observation failed! Cell {event.cell} reverts to unobserved."]


def _describe_victory(event: ChainMade) -> Sentence:
    length = event.last - event.first + 1
    symbols = f"{NUMBER_WORDS.get(length, str(length))} {SYMBOL[event.seat]} symbols"
    where = f"from cells {event.first} to {event.last}."
    has = verb(event.seat, "has", "have")
    return say("Victory:", event.seat, has, f"an unbroken chain of {symbols} {where}")


def _render_player(seat: Seat) -> str:
    return Ink.for_seat(seat)(f"{seat.label} ({SYMBOL[seat]})")


WORDS = ChainWords
