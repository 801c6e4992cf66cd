"""The screens: the match (board to the left, story to the right, turn and keys below), a page, a question."""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from duels.core.narration import TextBoard
from duels.terminal.board.choice import Choice
from duels.terminal.board.grid import Point, fit_grid
from duels.terminal.board.view import ActionList, BoardView, Palette
from duels.terminal.screen import wrap

_AROUND = 9  # rows that are not the board's: title, borders, whose turn, a question of four lines, keys
_HEAD = 3  # of them title and borders
_FOR_A_NOTE = 2  # rows kept free where there are so many, so that a note does not change the board
_LONGEST_NOTE = 6  # rows; the rest of it is scrolled
_LEAST = (60, 16)  # columns and rows
_MOST_ROWS = 15  # that a board asks for; a longer one is scrolled
_SHARE = 3 / 5  # of the columns are the board's
_MARGIN = 2  # columns beside it


@dataclass(frozen=True)
class SceneTexts:
    """What is written around the board."""

    story: Content
    turn: Content
    question: Content
    note: Content
    keys: Content
    leave: str
    """The key that leaves."""


class Scene(Screen[None]):
    """Draws what it is given."""

    class Resized(Message):
        """There is more room, or less."""

    def __init__(self, title: str, who: str, palette: Palette) -> None:
        super().__init__()
        self._heading = title
        self._who = who
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield Static(self._heading, id="title", markup=False)
            yield Static(self._palette.content(self._who), id="who")
        with Horizontal(id="body"):
            with VerticalScroll(id="left", can_focus=False), Vertical(id="board"):
                yield BoardView(self._palette)
                yield Static(id="below")
                yield ActionList()
            with VerticalScroll(id="right", can_focus=False):
                yield Static(id="story")
        with Vertical(id="foot"):
            yield Static(id="turn")
            yield Static(id="question")
            with VerticalScroll(id="note", can_focus=False):
                yield Static(id="noted")
            yield Static(id="keys")
        yield Static(id="small")

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    @property
    def board(self) -> BoardView:
        """The cells."""
        return self.query_one(BoardView)

    @property
    def listed(self) -> ActionList:
        """The actions that have no cell."""
        return self.query_one(ActionList)

    def show(
        self, board: TextBoard, choice: Choice | None, changed: frozenset[int], texts: SceneTexts
    ) -> None:
        """Show all this in place of what was there."""
        columns = int(self.app.size.width * _SHARE) - 2 * _MARGIN
        board = replace(board, text=wrap(board.text.strip("\n"), columns))
        self._show_board(board, choice, changed, (columns, self._make_room(board, columns, texts)))
        self._write("#story", texts.story)
        self._write("#turn", texts.turn)
        self._write("#question", texts.question)
        self._write("#noted", texts.note)
        self._write("#keys", texts.keys)
        self.query_one("#note").display = bool(texts.note)
        self.query_one("#right", VerticalScroll).scroll_end(animate=False)
        self._say_if_too_small(board, texts.leave)

    def _write(self, name: str, text: Content) -> None:
        part = self.query_one(name, Static)
        part.update(text)
        part.display = bool(text)

    def _make_room(self, board: TextBoard, columns: int, texts: SceneTexts) -> int:
        """The rows for the cells beside all that is written; a long note is cut before they are."""
        rows = self.app.size.height - _text_rows(board)
        least = fit_grid(board.cells, columns, 0).size[1]
        foot = _HEAD + self._rows_of(texts.turn, texts.question, texts.keys)
        longest = min(_LONGEST_NOTE, max(1, rows - foot - least))
        self.query_one("#note").styles.max_height = longest
        foot += min(longest, self._rows_of(texts.note))
        with_note = rows - max(_AROUND + _FOR_A_NOTE, foot)
        return with_note if with_note >= least else rows - max(_AROUND, foot)

    def _rows_of(self, *texts: Content) -> int:
        """How many rows these take, each below the other."""
        columns = max(1, self.app.size.width - 2)
        return sum(wrap(text.plain, columns).count("\n") + 1 for text in texts if text)

    def _show_board(
        self, board: TextBoard, choice: Choice | None, changed: frozenset[int], room: Point
    ) -> None:
        self._write("#below", self._palette.content(board.text))
        self.board.show(board.cells, room)
        self.board.mark(choice, changed)
        self.listed.show(choice.listed if choice else (), room[0])

    def _say_if_too_small(self, board: TextBoard, leave: str) -> None:
        width, height = self.app.size
        rows = fit_grid(board.cells, _LEAST[0], 0).size[1] + _text_rows(board)
        least = max(_LEAST[1], min(rows, _MOST_ROWS) + _AROUND)
        self.set_class(width < _LEAST[0] or height < least, "small")
        self.query_one("#small", Static).update(
            f"The board needs {_LEAST[0]} columns and {least} rows; this terminal has {width} and {height}.\n"
            f"Make it larger, or press {leave} to leave: the match is saved."
        )


def _text_rows(board: TextBoard) -> int:
    """How many rows the text below the cells takes, with the gap above it."""
    return board.text.count("\n") + 2 if board.text else 0


class Page(Screen[None]):
    """A text as long as it likes; it is left by Escape, Enter or q."""

    DEFAULT_CSS = """
    Page #words { height: auto; padding: 0 1; }
    Page #way { dock: bottom; height: 1; padding: 0 1; text-style: dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,enter,q,backspace", "dismiss", "Back"),
        ("down,j", "scroll_down", "Down"),
        ("up,k", "scroll_up", "Up"),
        ("pagedown,space", "page_down", "Next page"),
        ("pageup,b", "page_up", "Page before"),
        ("home", "scroll_home", "Top"),
        ("end", "scroll_end", "Bottom"),
    ]

    def __init__(self, text: str, palette: Palette) -> None:
        super().__init__()
        self._text = text
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield Static(id="words")
        yield Static(
            "Escape goes back to the board; up, down, space, Home and End scroll.", id="way", markup=False
        )

    def on_resize(self, event: events.Resize) -> None:
        text = wrap(self._text, max(20, event.size.width - 4))
        self.query_one("#words", Static).update(self._palette.content(text))


class QuestionPanel(ModalScreen[bool]):
    """A question to be answered by y or n."""

    DEFAULT_CSS = """
    QuestionPanel { align: center middle; background: transparent; color: ansi_default; }
    QuestionPanel #box { width: auto; max-width: 90%; height: auto; border: round ansi_default; padding: 1 3;
        background: ansi_default; }
    QuestionPanel Static { width: auto; height: auto; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "Yes"),
        ("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(f"{self._question}\n", markup=False)
            yield Static(
                Content.from_markup(
                    "[@click=screen.answer(True)][bold]y[/bold] yes[/]    "
                    "[@click=screen.answer(False)][bold]n[/bold] no[/]"
                )
            )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
