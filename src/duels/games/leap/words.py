"""The prompts, messages and text board of Quantum Leap."""

from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.narration import Line, Narration, Row, TextBoard, say, verb
from duels.core.rules import Event, Seat, Sight
from duels.core.words import ActionCells, Dialogue, Ink, InvalidEntry, Words, ask_until, join_or, parse_number
from duels.games.leap.rules import (
    OFF_GRID,
    STEPS,
    Action,
    Enter,
    Entered,
    GoalReached,
    Leap,
    Leapt,
    QuantumLeap,
    State,
)

TOKEN = {Seat.ONE: "X", Seat.TWO: "O"}


@dataclass(frozen=True)
class LeapWords(Words[Action, State]):
    """The book's prompts and lines for leaps."""

    rules: QuantumLeap

    answer_kinds = (
        ("enter, to come onto the grid", Enter),
        ("by how many cells you leap forward, not the cell where you land", Leap),
    )

    def opening(self) -> Narration:
        return Narration(["Welcome to Quantum Leap!", ""])

    def ask(self, sight: Sight[Action, State]) -> Dialogue[Action]:
        if Enter() in sight.actions:
            return Enter()
        cell = sight.view.cell_of(sight.seat)
        leaps = [action.by for action in sight.actions if isinstance(action, Leap)]

        def read(entry: str) -> Action:
            hint = f"Choose {join_or(leaps)}."
            leap = parse_number(entry, hint)
            if leap in leaps:
                return Leap(leap)
            if leap > 0 and cell % leap == 0:
                raise InvalidEntry(
                    f"Moving {leap} cells to cell {cell + leap} would overshoot "
                    f"(since grid ends at {self.rules.goal}). {hint}"
                )
            raise InvalidEntry(f"{leap} is not a divisor of {cell}. {hint}")

        start, end = f"You are on cell {cell}.\nPossible moves: ", "\nChoose your move: "
        book_prompt = f"{_render_turn(sight.seat)}\n{start}{', '.join(map(str, leaps))}{end}"
        unit = f"cell{'s' * (leaps != [1])} forward"
        return (yield from ask_until(book_prompt, read, solo_prompt=f"{start}{join_or(leaps)} {unit}{end}"))

    def entries(self, sight: Sight[Action, State], action: Action) -> tuple[str, ...]:
        return (str(action.by),) if isinstance(action, Leap) else ()

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, Entered):
            entering = "You are off the grid. Entering at cell 1."
            board: list[Line] = [self._render_grid(seen), ""]
            return Narration(
                [say(event.seat, verb(event.seat, "enters", "enter"), "at cell 1."), *board],
                book=[_render_turn(event.seat), entering, *board],
                reader=event.seat,
                book_names_seats=True,
            )
        if isinstance(event, Leapt):
            cell = event.cells[event.seat - 1]
            # In the book, the last leap is followed by the congratulation, without a grid.
            grid: list[Line] = [] if cell == self.rules.goal else [self._render_grid(seen), ""]
            return Narration(
                [say(event.seat, verb(event.seat, "moves", "move"), f"to cell {cell}."), *grid],
                book=[f"You move to cell {cell}.", *grid],
                reader=event.seat,
            )
        assert isinstance(event, GoalReached)
        has = verb(event.seat, "has", "have")
        won = f"Congratulations, {event.seat.label}! You have reached the Quantum Cell and won the game!"
        return Narration(
            [say(event.seat, has, "reached the Quantum Cell and won the game!")],
            book=[Ink.WON(won)],
            reader=event.seat,
            book_names_seats=True,
        )

    def board(self, sight: Sight[Action, State]) -> TextBoard:
        return self._render_grid(sight.events, sight.view.cells)

    def action_cells(self, sight: Sight[Action, State], action: Action) -> ActionCells:
        leap = action.by if isinstance(action, Leap) else 1
        return ActionCells((sight.view.cell_of(sight.seat) + leap,))

    def label_action(self, sight: Sight[Action, State], action: Action) -> str:
        return f"leap by {action.by}" if isinstance(action, Leap) else self.rules.format(action)

    def seat_name(self, seat: Seat) -> str:
        return TOKEN[seat]

    def _render_grid(self, seen: Sequence[Event], cells: tuple[int, int] = (OFF_GRID, OFF_GRID)) -> TextBoard:
        """Render the cells: tokens, blanks for visited cells, numbers for the others."""
        steps = [event for event in seen if isinstance(event, STEPS)]
        texts = list(map(str, range(self.rules.goal + 1)))
        for step in steps:
            for cell in step.cells:
                texts[cell] = " "
        cells = steps[-1].cells if steps else cells
        changed = steps[-1].seat if steps else None
        tokens = [_render_token(seat, seat is changed) for seat in (Seat.ONE, Seat.TWO)]
        if cells[0] == cells[1]:
            tokens = [",".join(tokens)] * 2
        for cell, token in zip(cells, tokens, strict=True):
            texts[cell] = token
        return TextBoard(rows=(Row(tuple(texts[1:])),))


def _render_token(seat: Seat, changed: bool) -> str:
    token = Ink.for_seat(seat)(TOKEN[seat])
    return Ink.CHANGED(token) if changed else token


def _render_turn(seat: Seat) -> str:
    return f"{Ink.for_seat(seat)(f'{seat.label} ({TOKEN[seat]})')}, it's your turn."


WORDS = LeapWords
