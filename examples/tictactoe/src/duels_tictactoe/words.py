"""The texts of tic-tac-toe."""

from collections.abc import Sequence

from duels.core.narration import Line, Narration, Row, TextBoard, say, verb, wins
from duels.core.rules import Event, Sight
from duels.core.words import ActionCells, Ink, Words
from duels_tictactoe.rules import SYMBOL, Cells, Mark, Marked, State, find_winner


class TicTacToeWords(Words[Mark, State]):
    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        assert isinstance(event, Marked)
        lines: list[Line] = ["", _board(event.cells), ""]
        if find_winner(event.cells):
            has = verb(event.seat, "has", "have")
            lines.append(say(event.seat, has, "three in a row and", wins(event.seat), "!", ink=Ink.WON))
        elif None not in event.cells:
            lines.append("The board is full: a draw.")
        return Narration(lines)

    def board(self, sight: Sight[Mark, State]) -> TextBoard:
        return _board(sight.view.cells)

    def action_cells(self, sight: Sight[Mark, State], action: Mark) -> ActionCells:
        return ActionCells((action.cell,))


def _board(cells: Cells) -> TextBoard:
    """Return the board in three rows; a free cell shows its number."""
    texts = [
        Ink.for_seat(owner)(SYMBOL[owner]) if owner else Ink.DIM(str(number))
        for number, owner in enumerate(cells, start=1)
    ]
    return TextBoard(rows=tuple(Row(tuple(texts[i : i + 3]), " ", " | ", "") for i in (0, 3, 6)))


WORDS = TicTacToeWords
