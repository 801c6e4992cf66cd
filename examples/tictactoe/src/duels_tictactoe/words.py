"""The voice of tic-tac-toe."""

from collections.abc import Sequence

from duels.core import words
from duels.core.rules import Event, Sight
from duels.core.simple_words import SimpleWords
from duels.core.text_board import Row, TextBoard
from duels.core.words import Ink
from duels_tictactoe.rules import MARK, Cells, Place, Placed, State, winner_of


class TicTacToeWords(SimpleWords[Place, State]):
    def tell(self, seen: Sequence[Event]) -> str:
        event = seen[-1]
        assert isinstance(event, Placed)
        board = f"\n{_drawn(event.cells)}\n"
        if winner_of(event.cells):
            return board + Ink.WON(f"{event.seat.label} has three in a row and wins!") + "\n"
        return board if None in event.cells else f"{board}The board is full: a draw.\n"

    def board(self, sight: Sight[Place, State]) -> TextBoard:
        return _drawn(sight.view.cells)

    def place(self, sight: Sight[Place, State], action: Place) -> words.Place:
        return words.Place((action.cell,))


def _drawn(cells: Cells) -> TextBoard:
    """Three rows; a free cell shows its number."""
    shown = [
        Ink.of(owner)(MARK[owner]) if owner else Ink.DIM(str(number))
        for number, owner in enumerate(cells, start=1)
    ]
    return TextBoard(rows=tuple(Row(tuple(shown[i : i + 3]), " ", " | ", "") for i in (0, 3, 6)))


WORDS = TicTacToeWords
