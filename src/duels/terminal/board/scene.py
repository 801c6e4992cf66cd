"""The Textual screens: the match, a curtain before it, a page of text, and a yes-or-no question."""

from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from duels.core.narration import TextBoard
from duels.terminal.board.choice import Choice
from duels.terminal.board.grid import ROWS_AROUND_CELLS, count_text_rows, fit_grid, get_min_size, is_short
from duels.terminal.board.view import ActionList, BoardView, Palette
from duels.terminal.keyboard import SILENCE_SECONDS
from duels.terminal.screen import wrap

_HEAD_ROWS = 3  # title and borders
_NOTE_ROWS = 2  # reserved if possible, so that a note does not change the board
_MAX_NOTE_ROWS = 6  # a longer note is scrolled
_BOARD_SHARE = 3 / 5  # of the columns
_MARGIN = 2  # columns beside the board
_MIN_STORY_ROWS = 10  # below the board, with the border and the gap


@dataclass(frozen=True)
class SceneTexts:
    """The texts around the board."""

    story: Content
    turn: Content
    question: Content
    note: Content
    keys: Content
    leave_key: str
    """The key that leaves the match."""


class Scene(Screen[None]):
    """The screen of a match: the board, the story beside or below it, and turn and keys at the bottom."""

    def __init__(self, title: str, players: str, palette: Palette) -> None:
        super().__init__()
        self._heading = title
        self._players = players
        self._palette = palette
        self._room_for_note = _MAX_NOTE_ROWS

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield Static(self._heading, id="title", markup=False)
            yield Static(self._palette.make_content(self._players), id="players")
        with Horizontal(id="body"):
            with VerticalScroll(id="left", can_focus=False), Vertical(id="board"):
                yield BoardView(self._palette)
                yield Static(id="below")
                yield ActionList()
            with VerticalScroll(id="right", can_focus=False):
                yield Static(id="status")
                yield Static(id="story")
        with Vertical(id="foot"):
            yield Static(id="turn")
            yield Static(id="question")
            with VerticalScroll(id="note", can_focus=False):
                yield Static(id="note-text")
            yield Static(id="keys")
        yield Static(id="small")

    async def on_resize(self) -> None:
        await self.run_action("app.redraw")

    @property
    def board(self) -> BoardView:
        return self.query_one(BoardView)

    @property
    def action_list(self) -> ActionList:
        return self.query_one(ActionList)

    def forget_choice(self) -> None:
        """Move the cursors to the start, so that they do not show the last person's choice."""
        self.board.cursor = None
        self.action_list.show((), 1)

    def show(
        self, board: TextBoard, choice: Choice | None, changed: frozenset[int], texts: SceneTexts
    ) -> None:
        is_stacked = self._is_stacked(board)
        self.set_class(is_stacked, "stacked")
        columns = self._count_board_columns(is_stacked)
        board = replace(board, text=wrap(board.text.strip("\n"), columns))
        min_rows = fit_grid(board.cells, columns, 0).size[1]
        is_low = self.app.size.height - ROWS_AROUND_CELLS - count_text_rows(board) < min_rows
        self._write("#status", self._palette.make_content(board.text if is_low else ""))
        board = replace(board, text="" if is_low else board.text)
        rows = self._count_cell_rows(board, columns, texts)
        room = (columns, rows - _MIN_STORY_ROWS if is_stacked else rows)
        self.board.show(board.cells, room, choice, changed)
        self.action_list.show(choice.listed_options if choice else (), columns)
        self._write("#below", self._palette.make_content(board.text))
        self._write("#story", texts.story)
        self._write("#turn", texts.turn)
        self._write("#question", texts.question)
        self._write("#note-text", texts.note)
        self._write("#keys", texts.keys)
        self.query_one("#note").display = bool(texts.note)
        self.query_one("#right", VerticalScroll).scroll_end(animate=False)
        self._warn_if_too_small(board, texts.leave_key)

    def has_room_for(self, note: str) -> bool:
        """Return whether a note can be read without scrolling."""
        return self._count_rows(self._palette.make_content(note)) <= self._room_for_note

    def _is_stacked(self, board: TextBoard) -> bool:
        """Return whether the board is easier to read above the story than beside it."""
        text = wrap(board.text.strip("\n"), self._count_board_columns(False))
        rows = (
            self.app.size.height - ROWS_AROUND_CELLS - _NOTE_ROWS - count_text_rows(replace(board, text=text))
        )
        beside = fit_grid(board.cells, self._count_board_columns(False), rows)
        above = fit_grid(board.cells, self._count_board_columns(True), rows - _MIN_STORY_ROWS)
        if above.size[1] > rows - _MIN_STORY_ROWS:
            return False
        if len(above.rows) == len(board.cells) < len(beside.rows) and is_short(board.cells):
            return True
        return above.ease > beside.ease

    def _count_board_columns(self, is_stacked: bool) -> int:
        width = self.app.size.width
        return (width if is_stacked else int(width * _BOARD_SHARE)) - 2 * _MARGIN

    def _write(self, name: str, text: Content) -> None:
        part = self.query_one(name, Static)
        part.update(text)
        part.display = bool(text)

    def _count_cell_rows(self, board: TextBoard, columns: int, texts: SceneTexts) -> int:
        """Return the number of rows for the cells. Limit the height of a long note to make room for them."""
        rows = self.app.size.height - count_text_rows(board)
        min_rows = fit_grid(board.cells, columns, 0).size[1]
        used_rows = _HEAD_ROWS + self._count_rows(texts.turn, texts.question, texts.keys)
        note_rows = min(_MAX_NOTE_ROWS, max(1, rows - used_rows - min_rows))
        self._room_for_note = note_rows
        self.query_one("#note").styles.max_height = note_rows
        used_rows += min(note_rows, self._count_rows(texts.note))
        cell_rows = rows - max(ROWS_AROUND_CELLS + _NOTE_ROWS, used_rows)
        return cell_rows if cell_rows >= min_rows else rows - max(ROWS_AROUND_CELLS, used_rows)

    def _count_rows(self, *texts: Content) -> int:
        columns = max(1, self.app.size.width - 2)
        return sum(wrap(text.plain, columns).count("\n") + 1 for text in texts if text)

    def _warn_if_too_small(self, board: TextBoard, leave_key: str) -> None:
        width, height = self.app.size
        min_width, min_height = get_min_size(board)
        self.set_class(width < min_width or height < min_height, "small")
        self.query_one("#small", Static).update(
            f"The board needs {min_width} columns and {min_height} rows. "
            f"This terminal has {width} and {height}.\n"
            f"Make it larger, or press {leave_key} to leave: the match is saved."
        )


class Curtain(Screen[None]):
    """Hides the match while one person passes the keyboard to the other. Shows only public information."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("enter", "open", "Open"),
        ("q", "app.command('quit')", "Quit"),
    ]

    def __init__(self, story: Content, request: Content) -> None:
        super().__init__()
        self._story = story
        self._request = request
        self._opens_after = monotonic() + SILENCE_SECONDS  # Enter may have been meant for the last move

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="public", can_focus=False):
            yield Static(self._story, id="public-story")
        yield Static(self._request, id="request")

    def on_resize(self) -> None:
        self.query_one("#public", VerticalScroll).scroll_end(animate=False)

    def action_open(self) -> None:
        if monotonic() >= self._opens_after:
            self.dismiss()


class Page(Screen[None]):
    """A page of text to scroll. Escape, Enter or q closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,enter,q,backspace", "dismiss", "Back"),
        ("down,j", "scroll_down", "Down"),
        ("up,k", "scroll_up", "Up"),
        ("pagedown,space", "page_down", "Next page"),
        ("pageup,b", "page_up", "Previous page"),
        ("home", "scroll_home", "Top"),
        ("end", "scroll_end", "Bottom"),
    ]

    def __init__(self, text: str, palette: Palette) -> None:
        super().__init__()
        self._text = text
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield Static(id="text")
        yield Static(
            "Press Escape to go back to the board; arrows, space, Home and End scroll.",
            id="keys-help",
            markup=False,
        )

    def on_resize(self, event: events.Resize) -> None:
        text = wrap(self._text, max(20, event.size.width - 4))
        self.query_one("#text", Static).update(self._palette.make_content(text))


class QuestionPanel(ModalScreen[bool]):
    """A question with the answers y and n."""

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
