"""The texts of tic-tac-toe."""

from collections.abc import Sequence

from duels.core import words
from duels.core.narration import Line, Narration, Row, TextBoard, say, verb, wins
from duels.core.rules import Event, Sight
from duels.core.simple_words import SimpleWords
from duels.core.words import Ink
from duels_tictactoe.rules import MARK, Cells, Place, Placed, State, winner_of


class TicTacToeWords(SimpleWords[Place, State]):
    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        assert isinstance(event, Placed)
        lines: list[Line] = ["", _board(event.cells), ""]
        if winner_of(event.cells):
            has = verb(event.seat, "has", "have")
            lines.append(say(event.seat, has, "three in a row and", wins(event.seat), "!", ink=Ink.WON))
        elif None not in event.cells:
            lines.append("The board is full: a draw.")
        return Narration(lines)

    def board(self, sight: Sight[Place, State]) -> TextBoard:
        return _board(sight.view.cells)

    def place(self, sight: Sight[Place, State], action: Place) -> words.Place:
        return words.Place((action.cell,))


def _board(cells: Cells) -> TextBoard:
    """Draw three rows; a free cell shows its number."""
    marks = [
        Ink.for_seat(owner)(MARK[owner]) if owner else Ink.DIM(str(number))
        for number, owner in enumerate(cells, start=1)
    ]
    return TextBoard(rows=tuple(Row(tuple(marks[i : i + 3]), " ", " | ", "") for i in (0, 3, 6)))


WORDS = TicTacToeWords
